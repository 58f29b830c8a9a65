"""The pixels of an image: opened, cropped, resized, as an array; and the hash of its file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pyvision.errors import ImageError
from pyvision.images.encode import jpeg, png
from pyvision.images.read import as_rgb, decoding
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray
    from PIL.Image import Image


def crop(picture: Picture, box: tuple[float, float, float, float]) -> Picture:
    """The part in a box: left, top, right, bottom in pixels from the top left, rounded outwards to whole pixels.

    What lies outside the picture is cut off. Raises ImageError when nothing is left.
    """
    if not all(map(math.isfinite, box)):
        raise ImageError(f"box {box}: has an edge that is not a number; give pixels")
    left, top = max(0, math.floor(box[0])), max(0, math.floor(box[1]))
    right, bottom = min(picture.width, math.ceil(box[2])), min(picture.height, math.ceil(box[3]))
    if right <= left or bottom <= top:
        size = f"{picture.width}x{picture.height}"
        raise ImageError(
            f"box {box}: has no pixel in a picture of {size}; give left < right and top < bottom"
        )
    part = open_image(picture).crop((left, top, right, bottom))
    if picture.mime == "image/png":
        return Picture(png(part, 1), "image/png", part.width, part.height)
    return Picture(jpeg(part, 95, "4:4:4"), "image/jpeg", part.width, part.height)


def mask(picture: Picture, boxes: Iterable[tuple[int, int, int, int]]) -> Picture:
    """The picture with these boxes (left, top, right, bottom) in its mean colour; a JPEG is encoded again.

    Raises ImageError.
    """
    image = open_image(picture)
    mean = resize(picture, (1, 1))
    for left, top, right, bottom in boxes:
        image.paste(mean.resize((right - left, bottom - top)), (left, top))
    data = png(image, 1) if picture.mime == "image/png" else jpeg(image, 95, "4:4:4")
    return replace(picture, data=data)


def pixels(picture: Picture, side_px: int | None = None) -> NDArray[uint8]:
    """Rows from the top, columns from the left, RGB of 8 bits. side_px: scaled down until no side is longer.

    Raises ImageError.
    """
    import numpy

    size = picture.width, picture.height
    longest = max(size)
    if side_px is not None and longest > side_px:
        size = max(1, round(size[0] * side_px / longest)), max(1, round(size[1] * side_px / longest))
    return numpy.asarray(resize(picture, size).convert("RGB"))


def open_image(picture: Picture) -> Image:
    """The picture as a Pillow image, RGB or grey, decoded. Raises ImageError."""
    return resize(picture, (picture.width, picture.height))


def file_hash(picture: Picture) -> str:
    """The SHA-256 of the encoded file, in hexadecimal: the name under which it is stored."""
    from hashlib import sha256

    return sha256(picture.data).hexdigest()


def suffix(picture: Picture) -> Literal[".png", ".jpg"]:
    """The suffix of its file name."""
    return ".png" if picture.mime == "image/png" else ".jpg"


def thumbnail(picture: Picture, side_px: int) -> bytes:
    """A JPEG of it whose longer side has at most `side_px` pixels."""
    from pyvision.images.encode import jpeg

    scale = min(1.0, side_px / max(picture.width, picture.height))
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    return jpeg(resize(picture, size), 80)


def resize(picture: Picture, size: tuple[int, int]) -> Image:
    from PIL.Image import Resampling

    with decoding(picture.data, "to send") as image:
        image.draft(image.mode, size)  # a large JPEG is decoded at a fraction of its size
        image.load()
        plain = image if image.mode == "L" and not image.has_transparency_data else as_rgb(image)
        if size == (picture.width, picture.height):
            return plain.copy()
        grows = size[0] > picture.width
        return plain.resize(size, Resampling.NEAREST if grows else Resampling.LANCZOS)
