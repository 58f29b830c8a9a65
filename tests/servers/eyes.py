"""A model by rules that really looks: it reads numerals and finds red boxes in the pictures that reach it.

Covered: dark numerals in rows on white, as the probes of the doctor draw them, down to about 6 px. Whatever an
endpoint takes away from the pictures (the number of them, their pixels) shows in what this model says.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tests.servers.capabilities import CLEAN, Capabilities
from tests.servers.conversation import Request, ServedCall, ServedReply

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GLYPH = (12, 18)  # glyphs are compared at this width and height
_LEAST_PX = 6  # lower ones are noise
_ALIKE = 0.80
_PROSE = "The picture shows a shape, I think.\n"
_CALL = ServedReply("", calls=(ServedCall("call_1", '{"code": "print(image_clue_0.size)"}'),))
_CELL = "I measure it.\n<code>\n```python\nprint(image_clue_0.size)\n```\n</code>\n"


@dataclass(frozen=True, slots=True)
class Sighted:
    """Answers the probes of the doctor from what it sees; how it words boxes and code is in `can`."""

    can: Capabilities = CLEAN

    def __call__(self, request: Request) -> str | ServedReply:
        if request.body.get("tools") and request.turns[-1].role != "tool":
            called = _CALL if self.can.calls_tools else _CELL
            return called if self.can.writes_code else _PROSE
        asked = request.turns[-1].text
        system = "".join(turn.text for turn in request.turns if turn.role == "system")
        if "<code>" in system:
            return _CELL if self.can.writes_code else _PROSE
        if found := re.search(r"from 1 to (\d+)", asked):
            return " ".join(str(number) for number in range(1, int(found[1]) + 1))
        if "rectangle" in asked:
            return self._box(request)
        if "number" in asked:
            return _numbers(request)
        if found := re.search(r"^> (.+)$", asked, re.MULTILINE):
            return found[1]
        return "ready"

    def _box(self, request: Request) -> str:
        pictures = request.pictures
        box = red_box(pictures[-1]) if pictures else None
        if box is None:
            return "I see no rectangle."
        (width, height), (left, top, right, bottom) = box
        if self.can.boxes == "pixels":
            return f"[{left}, {top}, {right}, {bottom}]"
        corners = (left / width, top / height, right / width, bottom / height)
        if self.can.boxes == "unit":
            return "[" + ", ".join(f"{corner:.3f}" for corner in corners) + "]"
        return "[" + ", ".join(str(round(corner * 1000)) for corner in corners) + "]"


def numerals(picture: bytes) -> list[str]:
    """The numerals of a picture, row by row; a row that cannot be read is left out."""
    with Image.open(io.BytesIO(picture)) as image:
        ink = _shares(255 - np.asarray(image.convert("L")))
    rows = [ink[top:bottom] for top, bottom in _runs(ink.max(axis=1) > 0.5)]
    return [read for row in rows if (read := _read(row)) is not None]


def red_box(picture: bytes) -> tuple[tuple[int, int], tuple[int, int, int, int]] | None:
    """The size of the picture and the box of its red pixels: left, top, right and bottom, both ends."""
    with Image.open(io.BytesIO(picture)) as image:
        pixels = np.asarray(image.convert("RGB"), dtype=np.int16)
    red = (pixels[..., 0] > 180) & (pixels[..., 1] < 90) & (pixels[..., 2] < 90)
    if not red.any():
        return None
    ys, xs = np.nonzero(red)
    box = (int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1)
    return (pixels.shape[1], pixels.shape[0]), box


def _numbers(request: Request) -> str:
    found = [number for picture in request.pictures for number in numerals(picture)]
    return "\n".join(found) if found else "I see no picture."


def _read(row: NDArray[np.float32]) -> str | None:
    """One row of glyphs, or None when a glyph is too small, or like no numeral."""
    if row.shape[0] < _LEAST_PX:
        return None
    digits = [_digit(row[:, left:right]) for left, right in _runs(row.max(axis=0) > 0.35)]
    return "".join(digit for digit in digits if digit) if digits and all(digits) else None


def _digit(glyph: NDArray[np.float32]) -> str | None:
    if glyph.shape[1] > glyph.shape[0]:  # two that run into each other
        return None
    seen = _normal(glyph)
    likeness = {digit: float((seen * known).sum()) for digit, known in _templates().items()}
    best = max(likeness, key=lambda digit: likeness[digit])
    return best if likeness[best] >= _ALIKE else None


def _normal(glyph: NDArray[np.float32]) -> NDArray[np.float32]:
    """A glyph at the common size, its narrowness kept as one more value, of length one."""
    rows = np.flatnonzero(glyph.max(axis=1) > 0.35)
    tight = glyph[rows[0] : rows[-1] + 1] if rows.size else glyph
    grey = Image.fromarray((tight * 255).astype(np.uint8)).resize(_GLYPH, Image.Resampling.BILINEAR)
    values = np.asarray(grey, dtype=np.float32).ravel() / 255
    values = np.append(values - values.mean(), 8 * tight.shape[1] / tight.shape[0])
    return (values / np.linalg.norm(values)).astype(np.float32)


@cache
def _templates() -> dict[str, NDArray[np.float32]]:
    return {digit: _normal(_drawn(digit)) for digit in "0123456789"}


def _drawn(digit: str) -> NDArray[np.float32]:
    canvas = Image.new("L", (80, 80), 0)
    ImageDraw.Draw(canvas).text((20, 10), digit, fill=255, font=ImageFont.load_default(48))
    return _shares(np.asarray(canvas.crop(canvas.getbbox())))


def _shares(bytes_: NDArray[np.uint8]) -> NDArray[np.float32]:
    return bytes_.astype(np.float32) / np.float32(255)


def _runs(filled: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where runs of True begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], filled, [False])).astype(np.int8)))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]
