"""Write a picture as a PNG or a JPEG, and leave out of a file what is not for its reader: where it was taken, by what.

Not covered: what decides the colours of a JPEG (JFIF, ICC, Adobe) stays in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyvision.images.decode import orientation
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
    kept, at = [data[:2]], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != _START_OF_SCAN:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        kept += [data[at:end]] if data[at + 1] not in _METADATA else []
        at = end
    return b"".join([*kept, data[at:]])


def is_plain(image: Image, data: bytes) -> bool:
    """Whether every reader sees in these bytes what we see."""
    if image.mode not in ("RGB", "L") or image.has_transparency_data or orientation(image) != 1:
        return False
    if image.format == "PNG":  # its 25th byte is the bit depth
        return (
            not image.getexif()
            and data[24] == 8
            and data.endswith(b"IEND\xaeB`\x82")
            and getattr(image, "n_frames", 1) == 1
        )
    return image.format == "JPEG" and data.endswith(b"\xff\xd9")
