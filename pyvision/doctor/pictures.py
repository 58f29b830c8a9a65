"""The images that probes send, always the same to the last pixel, and how the boxes in a reply are to be read.

A model may give boxes in pixels, in pixels of a reduced copy, as fractions of the sides, or in thousandths.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from pyvision.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image
CHART_SIZE = (2048, 1024)
CHART_HEIGHTS_PX = (96, 64, 48, 36, 27, 20, 15, 11, 8)
BOXED_SIZE = (1200, 600)  # not square and not 1000 wide, so that the conventions differ
BOX = (300, 120, 780, 420)
_DIGIT_SHARE = 0.72  # height of a digit as a fraction of the font size
Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MIN_OVERLAP = 0.6
_MIN_COPY, _MAX_COPY = 0.02, 0.95  # fractions of the width of the image


@dataclass(frozen=True, slots=True)
class Numbered:
    """An image and the numbers in it, from top to bottom."""

    picture: Picture
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Convention:
    """unit: of the numbers. overlap: of the box with the true one, 1 if they are equal."""

    unit: str
    rows_first: bool
    overlap: float

    @property
    def name(self) -> str:
        return f"{self.unit}, y first" if self.rows_first else self.unit

    @property
    def description(self) -> str:
        return f"{self.name} (overlap {self.overlap:.2f})"


def numbers(count: int, seed: str) -> tuple[str, ...]:
    """Numbers of four digits, all different, the same for the same seed."""
    return tuple(str(number) for number in random.Random(seed).sample(range(1000, 10_000), count))


@cache
def numeral(number: str) -> Numbered:
    """One large number on white."""
    canvas = _canvas((320, 160))
    _write(canvas, number, (40, 40), height_px=64)
    return Numbered(_encode(canvas), (number,))


@cache
def eye_chart() -> Numbered:
    """Numbers of CHART_HEIGHTS_PX, one below the other, each further to the right."""
    canvas = _canvas(CHART_SIZE)
    rows = numbers(len(CHART_HEIGHTS_PX), "eye chart")
    top = 60
    for row, (number, height_px) in enumerate(zip(rows, CHART_HEIGHTS_PX, strict=True)):
        _write(canvas, number, (120 + 150 * row, top), height_px=height_px)
        top += height_px + 48
    return Numbered(_encode(canvas), rows)


@cache
def red_rectangle() -> Picture:
    """One filled rectangle: BOX, without its right and bottom edge, in an image of BOXED_SIZE."""
    from PIL import ImageDraw

    canvas = _canvas(BOXED_SIZE)
    left, top, right, bottom = BOX
    ImageDraw.Draw(canvas).rectangle((left, top, right - 1, bottom - 1), fill=(220, 20, 20))
    return _encode(canvas)


@cache
def circles() -> Picture:
    """Three filled circles, well apart."""
    from PIL import ImageDraw

    canvas = _canvas((480, 320))
    draw = ImageDraw.Draw(canvas)
    for x, y, radius in ((100, 90, 45), (340, 110, 60), (210, 240, 50)):
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=(30, 60, 160))
    return _encode(canvas)


def convention(text: str, true: Box, size: tuple[int, int]) -> Convention | None:
    """The convention that makes the four numbers of a reply fit the true box best; None if none fits."""
    values = [float(number) for number in _NUMBER.findall(text.rpartition("[")[2])[:4]]
    if len(values) < 4:
        return None
    found = max(_readings(values, true, size), key=lambda reading: reading.overlap)
    return found if found.overlap >= _MIN_OVERLAP else None


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    common = max(0.0, across) * max(0.0, down)
    both = _area(one) + _area(other) - common
    return common / both if both > 0 else 0.0


def _canvas(size: tuple[int, int]) -> Image:
    from PIL import Image

    return Image.new("RGB", size, "white")


def _write(canvas: Image, number: Sequence[str], at: tuple[int, int], *, height_px: int) -> None:
    """Digits of this height with clear space between them, since this tests resolution rather than reading."""
    from PIL import ImageDraw, ImageFont

    font = ImageFont.load_default(height_px / _DIGIT_SHARE)
    x, y = at
    for digit in number:
        ImageDraw.Draw(canvas).text((x, y), digit, fill="black", font=font, anchor="lt")
        x += round(0.95 * height_px)


def _encode(canvas: Image) -> Picture:
    from io import BytesIO

    file = BytesIO()
    canvas.save(file, "PNG", compress_level=1)
    return Picture(file.getvalue(), "image/png", canvas.width, canvas.height)


def _readings(values: list[float], true: Box, size: tuple[int, int]) -> Iterator[Convention]:
    """If several fit equally well, the more common one comes first."""
    width, height = size
    a, b, c, d = values
    for rows_first, box in ((False, (a, b, c, d)), (True, (b, a, d, c))):
        yield Convention("pixels", rows_first, overlap(box, true))
        yield Convention("0-1000", rows_first, overlap(_stretch(box, width / 1000, height / 1000), true))
        yield Convention("0-1", rows_first, overlap(_stretch(box, width, height), true))
        scale = _scale(box, true)
        if _MIN_COPY < scale < _MAX_COPY:
            reduced = overlap(_stretch(box, 1 / scale, 1 / scale), true)
            yield Convention(f"pixels of a copy {scale * width:.0f} px wide", rows_first, reduced)


def _scale(box: Box, true: Box) -> float:
    """The factor, the same on both axes, that brings the true box closest to this one."""
    along = sum(seen * real for seen, real in zip(box, true, strict=True))
    return along / sum(real * real for real in true)


def _stretch(box: Box, across: float, down: float) -> Box:
    return box[0] * across, box[1] * down, box[2] * across, box[3] * down


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
