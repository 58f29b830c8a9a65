"""Verify a JPEG file made by untrusted code, as far as possible without decoding it, and rebuild it.

Covered: one frame, baseline or progressive, grey or with three colours of 8 bits each; segments of valid size in
order; nothing after the end; no metadata. Time is linear in the size of the file.
Not covered: compressed data that is damaged or truncated, which decoders fill with grey or refuse.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sandbox.protocol.png import InvalidImage, check_size

SIGNATURE = b"\xff\xd8"
_END = b"\xff\xd9"
_RESTART, _SCAN = 0xDD, 0xDA
_FRAMES = (0xC0, 0xC2)  # baseline and progressive
_JFIF, _ADOBE = 0xE0, 0xEE
_METADATA = {*range(0xE0, 0xF0), 0xFE}
_MAX_SEGMENTS = 1024
_MAX_TABLE_BYTES = 4096  # of one segment; four tables of each kind are all that a decoder holds
_MAX_SCANS = 16  # a decoder visits all pixels for each, and encoders write up to ten
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7]")  # the end of compressed data
_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class _Frame:
    width: int
    height: int
    channels: int


_Segment: TypeAlias = tuple[int, bytes, bytes]
"""The marker, the content after the length, and the whole segment, including the compressed data after a scan."""


def rebuild(data: bytes, most_pixels: int) -> tuple[bytes, int, int]:
    """The same image without metadata, its width and its height. Raises InvalidImage."""
    if not data.startswith(SIGNATURE) or not data.endswith(_END):
        raise InvalidImage("that is a truncated JPEG file")
    segments, frame, scans, compressed = [SIGNATURE], None, 0, 0
    for marker, content, whole in _segments(data):
        if marker in _METADATA and not _is_needed(marker, content):
            continue
        segments.append(whole)
        match marker:
            case _ if marker in _FRAMES and frame is None:
                frame = _frame(content, most_pixels)
            case _ if marker == _SCAN and frame and scans < _MAX_SCANS and _is_scan(content, frame):
                scans += 1
                compressed += len(whole) - len(content) - 4
            case _ if marker in _METADATA or _is_table(marker, content):
                continue
            case _:
                raise InvalidImage(f"with a JPEG segment {marker:02X} that is out of place or damaged")
    if frame is None or not scans:
        raise InvalidImage("that is a JPEG file without pixels")
    if compressed * 8 < (frame.width // 8) * (frame.height // 8):  # each block takes a bit or more
        raise InvalidImage("with fewer JPEG pixels than its header says")
    segments.append(_END)
    return (data if sum(map(len, segments)) == len(data) else b"".join(segments)), frame.width, frame.height


def _segments(data: bytes) -> Iterator[_Segment]:
    """Up to the end of the file. Raises InvalidImage."""
    at, last = len(SIGNATURE), len(data) - len(_END)
    for _ in range(_MAX_SEGMENTS):
        if at == last:
            return
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        end = at + 2 + length
        if data[at] != 0xFF or length < 2 or end > last:
            break
        after = _next_marker(data, end) if marker == _SCAN else end
        yield marker, data[at + 4 : end], data[at:after]
        at = after
    raise InvalidImage("that is a damaged JPEG file, or one of too many segments")


def _next_marker(data: bytes, at: int) -> int:
    """Where the compressed data that starts at `at` ends."""
    for start in range(at, len(data), _PIECE):  # a search holds the GIL, so each one is short
        if found := _MARKER.search(data, start, start + _PIECE + 1):
            return found.start()
    raise InvalidImage("that is a truncated JPEG file")


def _is_needed(marker: int, content: bytes) -> bool:
    """Whether it states the colour encoding."""
    is_jfif = marker == _JFIF and len(content) == 14 and content.startswith(b"JFIF\0")
    return is_jfif or (marker == _ADOBE and len(content) == 12 and content.startswith(b"Adobe"))


def _frame(content: bytes, most_pixels: int) -> _Frame:
    if len(content) < 6:
        raise InvalidImage("with a damaged JPEG header")
    precision, height, width, channels = struct.unpack(">BHHB", content[:6])
    check_size(width, height, most_pixels)
    if precision != 8 or channels not in (1, 3) or len(content) != 6 + 3 * channels:
        raise InvalidImage("that is a JPEG file neither grey nor RGB with 8 bits")
    sampling = [divmod(each, 16) for each in content[7::3]]
    largest = sampling[0]  # the first channel is luminance, for which encoders keep the highest resolution
    if len({*content[6::3]}) != channels or max(content[8::3]) > 3:
        raise InvalidImage("with a damaged JPEG header")
    if not all(0 < across <= largest[0] <= 4 and 0 < down <= largest[1] <= 4 for across, down in sampling):
        raise InvalidImage("that is a JPEG file of an unusual sampling")
    return _Frame(width, height, channels)


def _is_scan(content: bytes, frame: _Frame) -> bool:
    channels = content[0] if content else 0
    return 0 < channels <= frame.channels and len(content) == 4 + 2 * channels


def _is_table(marker: int, content: bytes) -> bool:
    """Whether it holds complete tables, or a restart interval."""
    match marker:
        case 0xDB:  # of quantization
            return _is_filled(content, lambda at: 1 + 64 * (1 + (content[at] >> 4)))
        case 0xC4:  # of Huffman codes
            return _is_filled(content, lambda at: 17 + sum(content[at + 1 : at + 17]))
    return marker == _RESTART and len(content) == 2


def _is_filled(content: bytes, size: Callable[[int], int]) -> bool:
    """Whether tables fill it exactly; `size` returns the bytes of the table at an offset."""
    at = 0
    while at < len(content) <= _MAX_TABLE_BYTES:
        at += size(at)
    return 0 < at == len(content)
