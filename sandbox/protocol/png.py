"""Verify a PNG file made by untrusted code, and rebuild it from the chunks that hold its pixels.

Covered: the file is complete, has as many pixels as its header says, and contains nothing else: no text, no colour
profile, no animation, nothing after the end. Time and memory are bounded by the size of the file and its pixels.
Not covered: what the pixels show, and pixels whose colour index the palette lacks. Interlaced files are refused.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_SIDE_RATIO = 200
_FIRST_CHUNK = 33  # bytes of the signature and of the header
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_BYTES_PER_CHUNK = 1024  # encoders write 8 KiB or more in each, so a file with shorter ones is refused
_FREE_CHUNKS = 64
_COMPRESSED_PIECE = 2**18
_RAW_PIECE = 2**20
_FILTERS = bytes(range(5))


class InvalidImage(ValueError):  # noqa: N818 - it says what the file is
    """A refused file. The message gives the reason, in words that follow "a figure"."""


@dataclass(frozen=True, slots=True)
class Header:
    """The content of an IHDR chunk."""

    width: int
    height: int
    depth: int
    colour: int

    @property
    def row_bytes(self) -> int:
        """Including the byte before each row that names its filter."""
        return 1 + (self.width * self.depth * _CHANNELS[self.colour] + 7) // 8

    @property
    def raw_bytes(self) -> int:
        return self.height * self.row_bytes


@dataclass(frozen=True, slots=True)
class _Chunk:
    kind: bytes
    content: memoryview
    whole: memoryview


def read_header(data: bytes, most_pixels: int) -> Header:
    """Parse and check the header. Raises InvalidImage."""
    if not data.startswith(SIGNATURE) or len(data) < _FIRST_CHUNK:
        raise InvalidImage("that is not a PNG file")
    if data[8:16] != b"\0\0\0\rIHDR" or zlib.crc32(data[12:29]) != int.from_bytes(data[29:33], "big"):
        raise InvalidImage("with a damaged PNG header")
    width, height, depth, colour, compression, filters, interlace = struct.unpack(">IIBBBBB", data[16:29])
    check_size(width, height, most_pixels)
    if depth not in _DEPTHS.get(colour, ()) or compression or filters:
        raise InvalidImage("with a PNG header that no viewer knows")
    if interlace:
        raise InvalidImage("that is an interlaced PNG file; save it without interlacing")
    return Header(width, height, depth, colour)


def check_size(width: int, height: int, most_pixels: int) -> None:
    """Raises InvalidImage for a size that is not allowed."""
    if not (width and height):
        raise InvalidImage("without a pixel")
    if width * height > most_pixels:
        raise InvalidImage(f"of {width}x{height} pixels: the limit is {most_pixels}; make it smaller")
    if max(width, height) > MAX_SIDE_RATIO * min(width, height):
        raise InvalidImage(f"of {width}x{height} pixels: one side is over {MAX_SIDE_RATIO} times the other")


def rebuild(data: bytes, header: Header) -> bytes:
    """The same image and nothing else; `header` is that of the file. Raises InvalidImage."""
    palette, transparency, pixels = _parts(data, header)
    _check_palette(header, palette, transparency)
    _check_pixels(header, [chunk.content for chunk in pixels])
    colours = [palette] if palette and header.colour == 3 else []
    chunks = [*colours, *([transparency] if transparency else []), *pixels]
    end = b"\0\0\0\0IEND\xaeB`\x82"
    if sum(len(chunk.whole) for chunk in chunks) + _FIRST_CHUNK + len(end) == len(data):
        return data
    return b"".join([data[:_FIRST_CHUNK], *(chunk.whole for chunk in chunks), end])


def _parts(data: bytes, header: Header) -> tuple[_Chunk | None, _Chunk | None, list[_Chunk]]:
    """The palette, the transparency and the compressed pixels, in the required order."""
    palette = transparency = last = None
    pixels: list[_Chunk] = []
    for chunk in _chunks(data):
        match chunk.kind:
            case b"PLTE" if palette is None and transparency is None and not pixels:
                palette = chunk
            case b"tRNS" if transparency is None and not pixels and (palette or header.colour != 3):
                transparency = chunk
            case b"IDAT" if not pixels or last == b"IDAT":
                pixels.append(chunk)
            case b"IEND" if pixels and not chunk.content:
                return palette, transparency, pixels
            case kind if kind[0] & 0x20 and kind != b"tRNS":
                pass  # an ancillary chunk, which is left out
            case kind:
                raise InvalidImage(f"with a PNG chunk {kind.decode()} out of place")
        last = chunk.kind
    raise InvalidImage("that is a PNG file without an end")


def _chunks(data: bytes) -> Iterator[_Chunk]:
    """The chunks after the header. Raises InvalidImage for a damaged one, and for data after the last."""
    view, at = memoryview(data), _FIRST_CHUNK
    for _ in range(_FREE_CHUNKS + len(data) // _BYTES_PER_CHUNK):
        kind, start = data[at + 4 : at + 8], at + 8
        end = start + int.from_bytes(data[at : at + 4], "big")
        if end + 4 > len(data) or not (kind.isalpha() and kind.isascii()):
            raise InvalidImage("that is a truncated or damaged PNG file")
        if zlib.crc32(view[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            raise InvalidImage(f"with a damaged PNG chunk {kind.decode()}")
        if kind == b"IEND" and end + 4 != len(data):
            raise InvalidImage("with data after the end of the PNG file")
        yield _Chunk(kind, view[start:end], view[at : end + 4])
        at = end + 4
        if kind == b"IEND":
            return
    raise InvalidImage("that is a PNG file of too many chunks")


def _check_palette(header: Header, palette: _Chunk | None, transparency: _Chunk | None) -> None:
    entries, rest = divmod(len(palette.content), 3) if palette else (0, 0)
    most = 2**header.depth if header.colour == 3 else 256
    if palette and (rest or not 0 < entries <= most or header.colour in (0, 4)):
        raise InvalidImage("with a PNG palette of the wrong size")
    if header.colour == 3 and not palette:
        raise InvalidImage("without the palette of its colours")
    if transparency and not _is_possible(header, transparency.content, entries):
        raise InvalidImage("with PNG transparency that does not fit its colours")


def _is_possible(header: Header, transparency: memoryview, entries: int) -> bool:
    """Whether it is one colour of the image, or the opacity of the first entries of its palette."""
    channels = _CHANNELS[header.colour]
    if header.colour == 3:
        return 0 < len(transparency) <= entries
    if header.colour not in (0, 2) or len(transparency) != 2 * channels:
        return False
    samples: tuple[int, ...] = struct.unpack(f">{channels}H", transparency)
    return max(samples) < 1 << header.depth


def _check_pixels(header: Header, compressed: list[memoryview]) -> None:
    """Inflate piece by piece without keeping the result: the size matches the header, every row has a known filter."""
    found = 0
    try:
        for piece in _inflate(compressed, header.raw_bytes):
            if piece[-found % header.row_bytes :: header.row_bytes].translate(None, _FILTERS):
                raise InvalidImage("with a PNG row of an unknown filter")
            found += len(piece)
    except zlib.error:
        raise InvalidImage("with PNG pixels that cannot be decompressed") from None
    if found != header.raw_bytes:
        raise InvalidImage("with fewer PNG pixels than its header says")


def _inflate(compressed: list[memoryview], most: int) -> Iterator[bytes]:
    """Raises InvalidImage for a stream that does not end with the last chunk, or continues after `most` bytes."""
    stream = zlib.decompressobj()
    for content in compressed:
        for start in range(0, len(content), _COMPRESSED_PIECE):
            left: bytes | memoryview = content[start : start + _COMPRESSED_PIECE]
            while left:
                if stream.eof:
                    raise InvalidImage("with data after its PNG pixels")
                piece = stream.decompress(left, min(_RAW_PIECE, most + 1))
                most -= len(piece)
                if most < 0:
                    raise InvalidImage("with more PNG pixels than its header says")
                yield piece
                left = stream.unconsumed_tail or stream.unused_data
    while not stream.eof:
        piece = stream.decompress(b"", min(_RAW_PIECE, most + 1))
        most -= len(piece)
        if most < 0 or not piece:
            raise InvalidImage("that is a truncated PNG file")
        yield piece
