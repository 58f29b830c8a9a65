"""The pictures that the probes show: drawn anew each time, the same to the last pixel."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyvision.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

CHART_SIZE = (2048, 1024)
CHART_HEIGHTS_PX = (96, 64, 48, 36, 27, 20, 15, 11, 8)
BOXED_SIZE = (1200, 600)  # neither square nor 1000 wide, so that the conventions differ
BOX = (300, 120, 780, 420)
_DIGIT_SHARE = 0.72  # of a font's size is the height of its digits


@dataclass(frozen=True, slots=True)
class Numbered:
    """A picture and the numbers to be read in it, from top to bottom."""

    picture: Picture
    numbers: tuple[str, ...]


def numbers(count: int, seed: str) -> tuple[str, ...]:
    """Numbers of four digits, all different, the same for the same seed."""
    return tuple(str(number) for number in random.Random(seed).sample(range(1000, 10_000), count))


def numeral(number: str) -> Numbered:
    """One large number on white."""
    canvas = _canvas((320, 160))
    _write(canvas, number, (40, 40), height_px=64)
    return Numbered(_encode(canvas), (number,))


def eye_chart() -> Numbered:
    """Numbers of CHART_HEIGHTS_PX, one below the other, each a little further to the right."""
    canvas = _canvas(CHART_SIZE)
    shown = numbers(len(CHART_HEIGHTS_PX), "eye chart")
    top = 60
    for row, (number, height_px) in enumerate(zip(shown, CHART_HEIGHTS_PX, strict=True)):
        _write(canvas, number, (120 + 150 * row, top), height_px=height_px)
        top += height_px + 48
    return Numbered(_encode(canvas), shown)


def red_rectangle() -> Picture:
    """One filled rectangle: BOX in a picture of BOXED_SIZE, its far edges not included."""
    from PIL import ImageDraw

    canvas = _canvas(BOXED_SIZE)
    left, top, right, bottom = BOX
    ImageDraw.Draw(canvas).rectangle((left, top, right - 1, bottom - 1), fill=(220, 20, 20))
    return _encode(canvas)


def circles() -> Picture:
    """Three filled circles, far from each other."""
    from PIL import ImageDraw

    canvas = _canvas((480, 320))
    draw = ImageDraw.Draw(canvas)
    for x, y, radius in ((100, 90, 45), (340, 110, 60), (210, 240, 50)):
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=(30, 60, 160))
    return _encode(canvas)


def _canvas(size: tuple[int, int]) -> Image:
    from PIL import Image

    return Image.new("RGB", size, "white")


def _write(canvas: Image, number: Sequence[str], at: tuple[int, int], *, height_px: int) -> None:
    """Digits of this height with clear space between them: it is the eye that is tested, not the reading."""
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
