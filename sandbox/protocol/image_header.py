"""Read the type and the size of a trusted image file from its header.

Covered: files that host functions return. Files of a guest are fully verified: see `figures.py`.
"""

from __future__ import annotations

import re
import struct
from typing import Literal, TypeAlias

Mime: TypeAlias = Literal["image/png", "image/jpeg"]
_PNG = b"\x89PNG\r\n\x1a\n"
_NO_LENGTH = {0x01, *range(0xD0, 0xD9)}  # markers without a segment
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the markers that hold the size
_SCAN = 0xDA
_PADDING = re.compile(rb"\xff+")
_MAX_SEGMENTS = 1024


def measure(data: bytes) -> tuple[Mime, int, int] | None:
    """(mime, width, height), or None if it is not a PNG or JPEG file with one size."""
    found = _png(data) if data.startswith(_PNG) else _jpeg(data) if data.startswith(b"\xff\xd8") else None
    return found if found and found[1] > 0 and found[2] > 0 else None


def _png(data: bytes) -> tuple[Mime, int, int] | None:
    if len(data) < 33 or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", data[16:24])
    return "image/png", width, height


def _jpeg(data: bytes) -> tuple[Mime, int, int] | None:
    """Search up to the first scan. A file with a second size before it is invalid."""
    at, found = 2, None
    for _ in range(_MAX_SEGMENTS):
        padding = _PADDING.match(data, at)
        if padding is None or padding.end() + 8 > len(data):
            break
        at, marker = padding.end(), data[padding.end()]
        if marker in _FRAMES and found:
            return None
        if marker in _FRAMES:
            found = struct.unpack(">HH", data[at + 4 : at + 8])
        if marker == _SCAN:
            break
        at += 1 if marker in _NO_LENGTH else 1 + int.from_bytes(data[at + 1 : at + 3], "big")
    return ("image/jpeg", found[1], found[0]) if found else None
