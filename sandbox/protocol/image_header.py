"""Read what kind of image some bytes of the host are, and its size, from the header.

Covered: files that functions of the host return. What a guest sends is verified whole: see `figures.py`.
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
_MOST_SEGMENTS = 1024


def measure(data: bytes) -> tuple[Mime, int, int] | None:
    """(mime, width, height), or None where it is no PNG or JPEG file with one size."""
    found = _png(data) if data.startswith(_PNG) else _jpeg(data) if data.startswith(b"\xff\xd8") else None
    return found if found and found[1] > 0 and found[2] > 0 else None


def _png(data: bytes) -> tuple[Mime, int, int] | None:
    if len(data) < 33 or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", data[16:24])
    return "image/png", width, height


def _jpeg(data: bytes) -> tuple[Mime, int, int] | None:
    """Up to the first scan: a second size before it makes the file one of none."""
    at, found = 2, None
    for _ in range(_MOST_SEGMENTS):
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
