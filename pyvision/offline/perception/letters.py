"""Read capital letters in a drawing, by comparing its shapes with rendered letters.

Not covered: small letters, digits, handwriting, letters that touch, text in photographs. A text engine reads those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pyvision.images.pixels import pixels
from pyvision.offline.perception.scene import SIDE_PX
from pyvision.tools.perception.service import Line
from pyvision.types import Picture

_MIN_SCORE = 0.86  # other shapes of a drawing resemble an O or an I with a lower score
_WORD_GAP = 0.4  # of the height of its letters
_MAX_LETTERS = 400


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
    """The lines of capital letters, from the top; a single letter does not count as a line."""
    from pyvision.offline.modules.pyvision_offline.masks import boxes, label
    from pyvision.offline.modules.pyvision_offline.palette import background_of, is_simple, mask_of_ink

    array = pixels(picture, SIDE_PX)
    if not is_simple(array):
        return ()
    scale = picture.width / array.shape[1]
    ink = mask_of_ink(array, background_of(array), 90)
    shapes = boxes(*label(ink))
    rows = [row for row in _group_by_line(_find_letters(ink)) if len(row) > 1 and _is_complete(row, shapes)]
    return tuple(_build_line(row, scale) for row in rows)


def _find_letters(ink: Any) -> list[_Letter]:
    from pyvision.offline.modules.pyvision_offline.letters import match_letters

    found = match_letters([ink], _MIN_SCORE)[:_MAX_LETTERS]
    return [_Letter(letter.name, letter.score, *letter.box) for letter in found]


def _group_by_line(letters: Sequence[_Letter]) -> list[list[_Letter]]:
    """Letters of similar height on one line, from left to right."""
    rows: list[list[_Letter]] = []
    for letter in sorted(letters, key=lambda each: (each.bottom, each.left)):
        for row in rows:
            last = row[-1]
            if abs(letter.bottom - last.bottom) < 0.3 * last.height and _is_similar(
                letter.height, last.height
            ):
                row.append(letter)
                break
        else:
            rows.append([letter])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _is_complete(row: Sequence[_Letter], shapes: Any) -> bool:
    """Whether every shape on the line was read: half a line of small letters would become another word."""
    reach = 2 * row[0].height
    left, right = row[0].left - reach, row[-1].right + reach
    middle = (row[0].top + row[0].bottom) / 2
    beside = (shapes[:, 0] <= right) & (shapes[:, 2] >= left)
    level = (shapes[:, 1] <= middle) & (shapes[:, 3] >= middle) & (shapes[:, 3] - shapes[:, 1] < reach)
    return int((beside & level).sum()) <= len(row)


def _is_similar(one: int, other: int) -> bool:
    return 0.75 < one / other < 1.34


def _build_line(row: Sequence[_Letter], scale: float) -> Line:
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
