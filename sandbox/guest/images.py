"""Open image files for cells, and turn any picture into one that a PNG viewer shows as people see it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from PIL import Image, ImageFile, ImageOps

_ENDS = {"JPEG": b"\xff\xd9", "PNG": b"IEND"}
_TAIL_BYTES = 4096
_ORIENTATION = 0x0112
_WIDE = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")


def lift_limits() -> None:
    """The host decides which files come in; a 100-megapixel photo is no attack on a container with a memory limit."""
    Image.MAX_IMAGE_PIXELS = None
    ImageFile.LOAD_TRUNCATED_IMAGES = False


def names() -> dict[str, Any]:
    """What every cell finds in its namespace besides the images."""
    import matplotlib.pyplot as plt
    import numpy as np

    return {"np": np, "plt": plt, "Image": Image}


def load(file: str) -> Image.Image:
    """The first frame of the file, turned as its EXIF says, RGB. Raises what Pillow raises on a broken file.

    What needs no change and seems to be whole is decoded when a cell first uses it: a 12-megapixel photo takes
    60 ms, and a cell may want but its size.
    """
    image = Image.open(file)
    if _can_wait(image, Path(file)):
        return _once_at_a_time(image)
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


def _once_at_a_time(image: ImageFile.ImageFile) -> ImageFile.ImageFile:
    """Pillow's decoding is not for two threads at once, and a cell may well crop in several."""
    load, lock = image.load, threading.RLock()

    def guarded() -> Any:
        with lock:
            return load()

    image.load = guarded  # type: ignore[method-assign]
    return image


def rgb(image: Image.Image) -> Image.Image:
    """As RGB: deep grey scaled instead of clipped, transparency on white."""
    if image.mode == "RGB":
        return image if type(image) is Image.Image else image.copy()  # without the file it came from
    if image.mode in _WIDE:
        return _scaled(image).convert("RGB")
    if image.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in image.info:
        layer = image if image.mode == "RGBA" else image.convert("RGBA")
        white = Image.new("RGB", layer.size, "white")
        white.paste(layer, mask=layer.getchannel("A"))
        return white
    return image.convert("RGB")


def _scaled(image: Image.Image) -> Image.Image:
    """Wide grey as 8 bits: 16-bit files by their full range, others by the range that they use."""
    import numpy as np

    values = np.asarray(image).astype(np.float32)
    low, high = (0.0, 65535.0) if image.mode != "F" else (float(np.nanmin(values)), float(np.nanmax(values)))
    if image.mode == "I" and (values.min() < 0 or values.max() > high):
        low, high = float(values.min()), float(values.max())
    scaled = np.nan_to_num((values - low) * (255.0 / ((high - low) or 1.0)))
    return Image.fromarray(np.clip(scaled, 0, 255).astype(np.uint8))
