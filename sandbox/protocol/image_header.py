"""Read what kind of picture some bytes are, and its size, from the header: the host decodes nothing."""

from __future__ import annotations

import struct
from typing import Literal

Mime = Literal["image/png", "image/jpeg"]
_PNG = b"\x89PNG\r\n\x1a\n"
_NO_LENGTH = {0x01, *range(0xD0, 0xD9)}  # markers without a segment
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the markers that hold the size


def measure(data: bytes) -> tuple[Mime, int, int] | None:
    """(mime, width, height), or None where it is no PNG or JPEG file with a size."""
    found = _png(data) if data.startswith(_PNG) else _jpeg(data) if data.startswith(b"\xff\xd8") else None
    return found if found and found[1] > 0 and found[2] > 0 else None


def _png(data: bytes) -> tuple[Mime, int, int] | None:
    if len(data) < 33 or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", data[16:24])
    return "image/png", width, height


def _jpeg(data: bytes) -> tuple[Mime, int, int] | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif marker in _NO_LENGTH:
            at += 2
        elif marker in _FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return "image/jpeg", width, height
        else:
            at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None
