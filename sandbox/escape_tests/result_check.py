"""Check the result of a cell: whether each figure is what it claims to be, and errors are bounded."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO

from sandbox.results import CellError, Figure

_MOST_PIXELS = 64_000_000  # the largest image that is decoded as a check
_RATIO = 200
_TEXTS = {b"tEXt", b"zTXt", b"iTXt"}
_END = b"IEND\xaeB`\x82"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_MOST_CHARS = 100_000


def find_flaw(figures: Iterable[Figure], error: CellError | None) -> str | None:
    """The first flaw, or None."""
    longest = max(map(len, (error.name, error.message, error.traceback))) if error else 0
    if longest > _MOST_CHARS:
        return f"it was handed an error of {longest:,} characters"
    found = next(filter(None, map(_flaw, figures)), None)
    return f"it was handed {found}" if found else None


def _flaw(figure: Figure) -> str | None:
    if max(figure.width, figure.height) > _RATIO * min(figure.width, figure.height):
        return f"a figure of {figure.width}x{figure.height} pixels"
    return _as_decoded(figure) or (_in_png(figure) if figure.mime == "image/png" else None)


def _as_decoded(figure: Figure) -> str | None:
    """Whether Pillow decodes it as what it claims to be."""
    from PIL import Image  # slow to load

    try:
        with warnings.catch_warnings(action="error"), Image.open(BytesIO(figure.data)) as image:
            found = (f"image/{(image.format or '?').lower()}", *image.size, getattr(image, "n_frames", 1))
            if found != (figure.mime, figure.width, figure.height, 1):
                return f"{figure!r}, which Pillow takes for {found}"
            if image.width * image.height <= _MOST_PIXELS:
                image.load()
    except Exception as error:  # noqa: BLE001 - a decoder of hostile bytes raises anything
        return f"{figure!r}, which Pillow cannot decode: {error}"[:200]
    return None


def _in_png(figure: Figure) -> str | None:
    """Flaws of a PNG file that Pillow ignores."""
    chunks = list(_chunks(figure.data))
    if figure.data.find(_END) + len(_END) != len(figure.data):
        return f"{figure!r} that does not stop at its end"
    if kinds := {kind for kind, _ in chunks} & _TEXTS:
        return f"{figure!r} with {len(kinds)} kinds of text in it"
    depth, colour = figure.data[24:26]
    expected = figure.height * (1 + (figure.width * depth * _CHANNELS[colour] + 7) // 8)
    pixels = b"".join(content for kind, content in chunks if kind == b"IDAT")
    if len(zlib.decompressobj().decompress(pixels, expected + 1)) != expected:
        return f"{figure!r} with more or fewer pixels than its header says"
    return None


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length
