"""Verify the figures that a cell shows or passes to host functions, within limits for all of them together.

A figure is bytes made by untrusted code. A valid file is rebuilt from the parts that hold its pixels, so that every
decoder sees the same image, of the size in `Figure`.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any, Literal, TypeAlias

from sandbox.policy import Policy
from sandbox.protocol import png
from sandbox.protocol.png import InvalidImage
from sandbox.results import Figure, Region

SHOWN_BYTES_PER_PIXEL = 16  # what all figures of one cell may inflate to, per pixel of Policy.figure_pixels
Mime: TypeAlias = Literal["image/png", "image/jpeg"]
_NO_LENGTH = {0x01, *range(0xD0, 0xD9)}  # markers without a segment
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the markers that hold the size
_SCAN = 0xDA
_PADDING = re.compile(rb"\xff+")
_MAX_SEGMENTS = 1024
_MAX_REGIONS = 16
_NAME_CHARS = 64
_MAX_NUMBER = 1e7  # in pixels


class FigureReader:
    """Verifies the figures of one cell. Bytes are counted before pixels, and pixels before anything is inflated."""

    def __init__(self, policy: Policy, inflated_bytes: int) -> None:
        self._policy = policy
        self._left = inflated_bytes

    def read_png(self, data: bytes) -> Figure:
        """Verify a PNG file. Raises InvalidImage."""
        self.check_bytes(len(data))
        header = png.read_header(data, self._policy.figure_pixels)
        if header.raw_bytes > self._left:
            raise InvalidImage(
                f"of {header.width}x{header.height} pixels: this cell has shown too many already"
            )
        self._left -= header.raw_bytes
        return Figure(png.rebuild(data, header), "image/png", header.width, header.height)

    def read(self, data: bytes) -> Figure:
        """Verify a PNG or JPEG file. Raises InvalidImage."""
        if data.startswith(png.SIGNATURE):
            return self.read_png(data)
        from sandbox.protocol import jpeg

        if not data.startswith(jpeg.SIGNATURE):
            raise InvalidImage("that is not a PNG or JPEG file")
        self.check_bytes(len(data))
        rebuilt, width, height = jpeg.rebuild(data, self._policy.figure_pixels)
        return Figure(rebuilt, "image/jpeg", width, height)

    def check_bytes(self, count: int) -> None:
        """Raises InvalidImage for a file of more bytes than the policy allows."""
        if count > self._policy.figure_bytes:
            raise InvalidImage(f"of {count} bytes: the limit is {self._policy.figure_bytes}; make it smaller")


def read_regions(metadata: object, figure: Figure) -> tuple[Region, ...]:
    """What a figure shows, as the guest claims; () unless all of it has the right form."""
    mime = metadata.get("image/png") if isinstance(metadata, dict) else None
    found = mime.get("regions") if isinstance(mime, dict) else None
    if not isinstance(found, list) or len(found) > _MAX_REGIONS:
        return ()
    regions = [_region(claim, figure) for claim in found]
    return tuple(region for region in regions if region) if all(regions) else ()


def _region(claim: object, figure: Figure) -> Region | None:
    if not isinstance(claim, dict):
        return None
    name, box, matrix = claim.get("name"), _numbers(claim.get("box"), 4), _numbers(claim.get("matrix"), 6)
    if not (isinstance(name, str) and len(name) <= _NAME_CHARS and name.isascii() and name.isidentifier()):
        return None
    if box is None or matrix is None:
        return None
    left, top, right, bottom = box
    if not (-1 <= left < right <= figure.width + 1 and -1 <= top < bottom <= figure.height + 1):
        return None
    return Region(name, box, matrix)


def _numbers(value: object, count: int) -> Any:
    """A tuple of this many finite numbers of reasonable size, or None."""
    if not isinstance(value, list) or len(value) != count:
        return None
    is_valid = all(
        type(number) in (int, float) and abs(number) <= _MAX_NUMBER and math.isfinite(number)
        for number in value
    )
    return tuple(map(float, value)) if is_valid else None


def measure(data: bytes) -> tuple[Mime, int, int] | None:
    """(mime, width, height), or None if it is not a PNG or JPEG file with one size."""
    found = (
        _png(data)
        if data.startswith(png.SIGNATURE)
        else _jpeg(data)
        if data.startswith(b"\xff\xd8")
        else None
    )
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
