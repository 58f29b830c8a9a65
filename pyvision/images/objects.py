"""Images that a program has in memory: bytes, open files, PIL images, NumPy and torch arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias

from pyvision.errors import ImageError
from pyvision.images.encode import png
from pyvision.images.pixels import open_image
from pyvision.images.read import MAX_FILE_BYTES, MAX_PIXELS, as_rgb, decode, upright
from pyvision.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

PilImage: TypeAlias = "Image"


class Array(Protocol):
    """Pixels as NumPy, torch and others hold them: height × width, or with 1, 3 or 4 channels last or first."""

    @property
    def shape(self) -> tuple[int, ...]: ...


ImageSource: TypeAlias = "str | Path | bytes | bytearray | memoryview | BinaryIO | Picture | Image | Array"
_CHANNELS = (1, 3, 4)


def from_object(image: Any, name: str) -> Picture:
    """The picture in bytes, an open file, a PIL image or an array; `name` is for messages. Raises ImageError.

    Arrays hold whole numbers from 0 to 255 (to 65535 if they are uint16), floats from 0 to 1, or booleans. Channels
    are RGB or RGBA; what is transparent is laid on white.
    """
    if isinstance(image, bytes | bytearray | memoryview):
        return decode(bytes(image), name)
    if callable(getattr(image, "read", None)):
        return decode(_file_bytes(image, name), name)
    if _is_pil(image):
        return _from_pil(image, name)
    if hasattr(image, "shape"):
        return _from_array(image, name)
    way = "give a path, a URL, bytes, a PIL image or an array"
    raise ImageError(f"image {name}: a {type(image).__name__} is not an image; {way}")


def to_pil(picture: Picture) -> Image:
    """The picture as a PIL image, RGB or grey. Raises ImageError."""
    return open_image(picture)


def _file_bytes(file: Any, name: str) -> bytes:
    data = file.read(MAX_FILE_BYTES + 1)
    if not isinstance(data, bytes):
        raise ImageError(f"image {name}: the file is open as text; open it with mode 'rb'")
    return data


def _is_pil(image: object) -> bool:
    from PIL.Image import Image

    return isinstance(image, Image)


def _from_pil(image: Image, name: str) -> Picture:
    if not 0 < image.width * image.height <= MAX_PIXELS:
        limit = f"1 to {MAX_PIXELS:,} pixels are allowed"
        raise ImageError(f"image {name}: is {image.width}x{image.height} pixels; {limit}")
    turned = upright(image)
    is_plain = turned.mode in ("RGB", "L") and not turned.has_transparency_data
    plain = turned if is_plain else as_rgb(turned)
    return Picture(png(plain, 1), "image/png", plain.width, plain.height)


def _from_array(array: Any, name: str) -> Picture:
    import numpy
    from PIL import Image

    if hasattr(array, "detach"):  # a torch tensor, which may need gradients or lie on a GPU
        array = array.detach().cpu()
        array = array.float() if "bfloat16" in str(array.dtype) else array  # NumPy has no such type
        array = array.numpy()
    pixels = _eight_bits(_channels_last(numpy.asarray(array), name), name)
    return _from_pil(Image.fromarray(numpy.ascontiguousarray(pixels)), name)


def _channels_last(array: Any, name: str) -> Any:
    shape = array.shape
    if len(shape) == 3 and shape[2] not in _CHANNELS and shape[0] in _CHANNELS:
        array = array.transpose(1, 2, 0)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim == 2 or (array.ndim == 3 and array.shape[2] in _CHANNELS):
        return array
    way = "give height × width, optionally with 1, 3 or 4 channels; pass several images as a list"
    raise ImageError(f"image {name}: its shape is {' × '.join(map(str, shape)) or 'empty'}; {way}")


def _eight_bits(array: Any, name: str) -> Any:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if array.size == 0 or kind not in "buif":
        raise ImageError(f"image {name}: has no pixels, or values of type {array.dtype}; give numbers")
    low, high = float(array.min()), float(array.max())
    if kind == "b":
        return array.astype("uint8") * 255
    if kind == "f":
        if not (low >= 0 and high <= 1):  # NaN is neither
            way = "divide by 255, or convert to uint8"
            raise ImageError(
                f"image {name}: floats must be from 0 to 1, but are from {low:g} to {high:g}; {way}"
            )
        return (array * 255 + 0.5).astype("uint8")
    if kind == "u" and size == 2:
        return ((array.astype("uint32") * 255 + 32767) // 65535).astype("uint8")
    if low < 0 or high > 255:
        raise ImageError(f"image {name}: values must be from 0 to 255, but are from {low:g} to {high:g}")
    return array.astype("uint8")
