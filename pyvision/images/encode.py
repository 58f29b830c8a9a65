"""Write an image as a PNG or a JPEG, without metadata such as where it was taken and with which camera.

Not covered: what decides the colours of a JPEG (JFIF, ICC, Adobe) stays in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyvision.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

_START_OF_SCAN = 0xDA
_METADATA = {0xE1, *range(0xE3, 0xEE), 0xEF, 0xFE}  # APP1, APP3 to APP13, APP15, COM


def png(image: Image, effort: int) -> bytes:
    """effort: of the compression, 0 to 9."""
    from io import BytesIO

    file = BytesIO()
    image.save(file, "PNG", compress_level=effort)
    return file.getvalue()


def jpeg(image: Image, quality: int, subsampling: str = "4:2:0") -> bytes:
    """quality: 1 to 95. subsampling: of the colours; 4:4:4 keeps them all."""
    from io import BytesIO

    file = BytesIO()
    image.save(file, "JPEG", quality=quality, subsampling=subsampling)
    return file.getvalue()


def encode_image(image: Image, mime: str, file_bytes: int) -> Picture:
    """As a PNG when it was one and stays small, else as the best JPEG that does; at worst it is too large."""
    if mime == "image/png" and len(data := png(image, 6)) <= file_bytes:
        return Picture(data, "image/png", image.width, image.height)
    for quality in (92, 80, 60):
        data = jpeg(image, quality)
        if len(data) <= file_bytes:
            break
    return Picture(data, "image/jpeg", image.width, image.height)


def without_metadata(data: bytes) -> bytes:
    """The same JPEG file without EXIF, comments and the like; what decides its colours (JFIF, ICC, Adobe) stays."""
    segments, at = [data[:2]], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != _START_OF_SCAN:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        segments += [data[at:end]] if data[at + 1] not in _METADATA else []
        at = end
    return b"".join([*segments, data[at:]])
