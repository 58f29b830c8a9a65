"""PNG files made chunk by chunk, for tests of what is refused."""

from __future__ import annotations

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
END = b"\0\0\0\0IEND\xaeB`\x82"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind: bytes, content: bytes) -> bytes:
    """With its length in front and its checksum behind."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def header(width: int, height: int, depth: int = 8, colour: int = 0, rest: bytes = bytes(3)) -> bytes:
    """An IHDR chunk; `rest` is compression, filters and interlacing."""
    return chunk(b"IHDR", struct.pack(">IIBB", width, height, depth, colour) + rest)


def raw_pixels(width: int, height: int, depth: int = 8, colour: int = 0) -> bytes:
    """All zero, which is black, not filtered."""
    return bytes(height * (1 + (width * depth * _CHANNELS.get(colour, 1) + 7) // 8))


def png_file(
    width: int,
    height: int,
    before: bytes = b"",
    *,
    depth: int = 8,
    colour: int = 0,
    pixels: bytes | None = None,
    after: bytes = b"",
) -> bytes:
    """A black picture, with more chunks before and after its pixels."""
    data = zlib.compress(raw_pixels(width, height, depth, colour)) if pixels is None else pixels
    start = SIGNATURE + header(width, height, depth, colour)
    return start + before + chunk(b"IDAT", data) + after + END
