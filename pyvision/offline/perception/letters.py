"""Read capital letters of a drawing, by comparing its shapes with rendered letters; nothing else is read.

Not covered: small letters, digits, handwriting, letters that touch, text in photographs. An engine reads those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pyvision.images.pixels import pixels
from pyvision.offline.perception.rules import SIDE_PX, pieces
from pyvision.tools.perception.service import Line
from pyvision.types import Picture

_LEAST_SCORE = 0.86  # shapes of a drawing look like an O or an I at less than that
_WORD_GAP = 0.4  # of the height of its letters
_MOST_LETTERS = 400


@dataclass(frozen=True, slots=True)
class _Letter:
    letter: str
    score: float
    left: int
    top: int
    right: int
    bottom: int

    @property
    def height(self) -> int:
        return self.bottom - self.top + 1


def lines_in(picture: Picture) -> tuple[Line, ...]:
    """The lines of capital letters, from the top; a letter that stands alone is none."""
    array = pixels(picture, SIDE_PX)
    rules = pieces()
    if not rules["is_drawing"](array):
        return ()
    scale = picture.width / array.shape[1]
    ink = rules["ink_on"](array, rules["background_of"](array), 90)
    shapes = rules["boxes"](*rules["label"](ink))
    rows = [row for row in _rows(_letters(ink)) if len(row) > 1 and _is_whole(row, shapes)]
    return tuple(_line(row, scale) for row in rows)


def _letters(ink: Any) -> list[_Letter]:
    found = pieces()["letters_in"]([ink], _LEAST_SCORE)
    return [_Letter(letter, score, *box) for letter, score, box, _ in found][:_MOST_LETTERS]


def _rows(letters: Sequence[_Letter]) -> list[list[_Letter]]:
    """Letters of like height on one line, from left to right."""
    rows: list[list[_Letter]] = []
    for letter in sorted(letters, key=lambda each: (each.bottom, each.left)):
        for row in rows:
            last = row[-1]
            if abs(letter.bottom - last.bottom) < 0.3 * last.height and _like(letter.height, last.height):
                row.append(letter)
                break
        else:
            rows.append([letter])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _is_whole(row: Sequence[_Letter], shapes: Any) -> bool:
    """Whether every shape on the line was read: half a line of small letters would be read as another word."""
    reach = 2 * row[0].height
    left, right = row[0].left - reach, row[-1].right + reach
    middle = (row[0].top + row[0].bottom) / 2
    beside = (shapes[:, 0] <= right) & (shapes[:, 2] >= left)
    level = (shapes[:, 1] <= middle) & (shapes[:, 3] >= middle) & (shapes[:, 3] - shapes[:, 1] < reach)
    return int((beside & level).sum()) <= len(row)


def _like(one: int, other: int) -> bool:
    return 0.75 < one / other < 1.34


def _line(row: Sequence[_Letter], scale: float) -> Line:
    height = sum(letter.height for letter in row) / len(row)
    text = row[0].letter
    for before, letter in pairwise(row):
        gap = letter.left - before.right
        text += (" " if gap > _WORD_GAP * height else "") + letter.letter
    return Line(
        text,
        min(letter.left for letter in row) * scale,
        min(letter.top for letter in row) * scale,
        (max(letter.right for letter in row) + 1) * scale,
        (max(letter.bottom for letter in row) + 1) * scale,
        sum(letter.score for letter in row) / len(row),
    )
