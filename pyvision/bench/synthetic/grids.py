"""Questions about a ruled table, empty or with a word in every cell: how many rows and columns does it have?

Difficulty: from two to four rows and columns (0) up to six to thirteen (1), with smaller cells and paler lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyvision.bench.synthetic.canvas import RGB, Canvas
from pyvision.bench.synthetic.geometry import near
from pyvision.bench.synthetic.scene import Dice, Scene

if TYPE_CHECKING:
    from pyvision.bench.synthetic.geometry import Mask

_WORDS = (
    "fig",
    "tea",
    "oak",
    "37",
    "pin",
    "sky",
    "rye",
    "408",
    "elm",
    "sea",
    "map",
    "95",
    "ivy",
    "cup",
    "owl",
)
_MARGIN = 24


def make_grids(dice: Dice) -> Scene | None:
    """One table; None when the pixels do not show its lines."""
    fewest, most = dice.whole(2, 6), dice.whole(4, 13)
    rows, columns = dice.goal.randint(fewest, most), dice.goal.randint(fewest, most)
    filled = dice.goal.random() < 0.5
    wide, high = (round(dice.between(90, 46) * dice.chance.uniform(0.9, 1.2)) for _ in range(2))
    line, shade = round(dice.between(3, 1)), round(dice.between(0, 130))
    page = Canvas(columns * wide + 2 * _MARGIN + line, rows * high + 2 * _MARGIN + line)
    _draw_rules(page, (rows, columns), (wide, high), line, (shade, shade, shade))
    if filled:
        _draw_words(dice, page, (rows, columns), (wide, high))
    ink = ~near(page.pixels(), (255, 255, 255), 60)
    if (_count_lines(ink), _count_lines(ink.T)) != (rows + 1, columns + 1):
        return None
    truth = {"rows": rows, "columns": columns, "cell_px": [wide, high], "filled": filled}
    question = "How many rows and columns are in the table? Answer as (rows, columns)."
    kind = "with text" if filled else "empty"
    return Scene(question, f"({rows}, {columns})", (page,), "blind", kind, truth)


def _draw_rules(page: Canvas, counts: tuple[int, int], cell: tuple[int, int], line: int, ink: RGB) -> None:
    (rows, columns), (wide, high) = counts, cell
    right, bottom = _MARGIN + columns * wide + line, _MARGIN + rows * high + line
    for row in range(rows + 1):
        y = _MARGIN + row * high
        page.rectangle((_MARGIN, y, right, y + line), fill=ink)
    for column in range(columns + 1):
        x = _MARGIN + column * wide
        page.rectangle((x, _MARGIN, x + line, bottom), fill=ink)


def _draw_words(dice: Dice, page: Canvas, counts: tuple[int, int], cell: tuple[int, int]) -> None:
    size = min(cell) * 0.36
    for row in range(counts[0]):
        for column in range(counts[1]):
            at = (_MARGIN + (column + 0.5) * cell[0], _MARGIN + (row + 0.5) * cell[1])
            page.text(at, dice.chance.choice(_WORDS), size)


def _count_lines(ink: Mask) -> int:
    """How many runs of rows are inked from one margin to the other."""
    import numpy as np

    full = (ink[:, _MARGIN : ink.shape[1] - _MARGIN].mean(axis=1) > 0.99).astype(int)
    return int((np.diff(full, prepend=0) == 1).sum())
