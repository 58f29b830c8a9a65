"""Open image files for cells, and convert any image mode to RGB."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image, ImageFile, ImageOps

from . import frames

_ENDS = {"JPEG": b"\xff\xd9", "PNG": b"IEND"}
_TAIL_BYTES = 4096
_ORIENTATION = 0x0112
_HELPERS = ("zoom", "mark", "grid", "to_original", "from_shown")
_WIDE = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")


def remove_pillow_limits() -> None:
    """Remove Pillow's size limit: the host chooses the files, and the container has a memory limit."""
    Image.MAX_IMAGE_PIXELS = None
    ImageFile.LOAD_TRUNCATED_IMAGES = False


def default_names() -> dict[str, Any]:
    """The names that every cell finds defined besides the images."""
    import matplotlib.pyplot as plt
    import numpy as np

    return {"np": np, "plt": plt, "Image": Image, **{name: getattr(frames, name) for name in _HELPERS}}


def link(files: Mapping[str, str], folder: Path) -> None:
    """Let these files appear in the folder under these names, but never in place of a file of a cell."""
    for name, file in files.items():
        path = folder / name
        with contextlib.suppress(OSError):  # a cell may have filled or replaced the folder
            if path.is_symlink():
                path.unlink()
            path.symlink_to(file)


def load(file: str) -> Image.Image:
    """The first frame of the file, rotated as its EXIF says, as RGB. Raises what Pillow raises for a broken file.

    A file that needs no conversion and seems complete is decoded when a cell first uses it: decoding a 12-megapixel
    photo takes 60 ms, and a cell may need only its size.
    """
    image = Image.open(file)
    if _can_wait(image, Path(file)):
        return _serialize_loading(image)
    with image:
        image.load()
        ImageOps.exif_transpose(image, in_place=True)
        return rgb(image)


def _can_wait(image: ImageFile.ImageFile, file: Path) -> bool:
    is_plain = image.mode == "RGB" and image.format in _ENDS and "transparency" not in image.info
    if not is_plain or image.getexif().get(_ORIENTATION, 1) != 1:
        return False
    with file.open("rb") as data:
        data.seek(max(0, file.stat().st_size - _TAIL_BYTES))
        return _ENDS[str(image.format)] in data.read()


def _serialize_loading(image: ImageFile.ImageFile) -> ImageFile.ImageFile:
    """Guard decoding by a lock: Pillow's is not thread-safe, and a cell may crop in several threads."""
    load, lock = image.load, threading.RLock()

    def load_with_lock() -> Any:
        with lock:
            return load()

    image.load = load_with_lock  # type: ignore[method-assign]
    return image


def rgb(image: Image.Image) -> Image.Image:
    """Convert to RGB: grey of more than 8 bits is scaled instead of clipped, transparency is put on white."""
    if image.mode == "RGB":
        return image if type(image) is Image.Image else image.copy()  # without the file it came from
    if image.mode in _WIDE:
        return _scale_to_8_bits(image).convert("RGB")
    if image.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in image.info:
        layer = image if image.mode == "RGBA" else image.convert("RGBA")
        white = Image.new("RGB", layer.size, "white")
        white.paste(layer, mask=layer.getchannel("A"))
        return white
    return image.convert("RGB")


def _scale_to_8_bits(image: Image.Image) -> Image.Image:
    """Scale grey of more than 8 bits: 16-bit files by their full range, others by the range of their values."""
    import numpy as np

    values = np.asarray(image).astype(np.float32)
    low, high = (0.0, 65535.0) if image.mode != "F" else (float(np.nanmin(values)), float(np.nanmax(values)))
    if image.mode == "I" and (values.min() < 0 or values.max() > high):
        low, high = float(values.min()), float(values.max())
    scaled = np.nan_to_num((values - low) * (255.0 / ((high - low) or 1.0)))
    return Image.fromarray(np.clip(scaled, 0, 255).astype(np.uint8))
