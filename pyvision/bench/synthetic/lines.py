"""Two polylines of different colours: how often do they cross?

Difficulty: from two segments each (0) to five (1), from wide margins to narrow ones, from thick strokes to thin.
The answers 0, 1 and 2 are equally likely; from difficulty 0.5 on 3 and from 0.9 on 4 join them.
"""

from __future__ import annotations

from pyvision.bench.synthetic.canvas import Canvas, Point
from pyvision.bench.synthetic.colours import INKS, two_unlike_inks
from pyvision.bench.synthetic.geometry import apart, away_from_line, crossings
from pyvision.bench.synthetic.scene import Dice, Scene

_SIDE = 640


def make(dice: Dice) -> Scene | None:
    """Two lines from the left to the right; None unless they cross exactly as often as they shall, and clearly."""
    wanted = dice.goal.choice(_answers(dice.difficulty))
    one, other = (_line(dice) for _ in range(2))
    places = crossings(one, other)
    if len(places) != wanted or not _is_clear(one, other, places, dice.between(0.055, 0.028) * _SIDE):
        return None
    names = two_unlike_inks(dice.chance)
    page = Canvas(_SIDE, _SIDE)
    for name, line in zip(names, (one, other), strict=True):
        page.stroke(line, INKS[name], dice.between(5, 2))
    truth = {
        "colours": names,
        "lines": [[list(point) for point in line] for line in (one, other)],
        "crossings": [[round(x, 1), round(y, 1)] for x, y in places],
    }
    question = f"How many times do the {names[0]} and {names[1]} lines intersect? Answer with a number."
    return Scene(question, wanted, (page,), "integer", "intersections", truth)


def _answers(difficulty: float) -> list[int]:
    return [0, 1, 2] + [3] * (difficulty >= 0.5) + [4] * (difficulty >= 0.9)


def _line(dice: Dice) -> list[Point]:
    """Corners at even steps in x, whole pixels, so that the arithmetic on them is exact."""
    segments = dice.whole(2, 5)
    return [
        (round(_SIDE * (0.06 + 0.88 * k / segments)), dice.chance.randint(_SIDE // 16, _SIDE - _SIDE // 16))
        for k in range(segments + 1)
    ]


def _is_clear(one: list[Point], other: list[Point], places: list[Point], margin: float) -> bool:
    """No corner lies near the other line, and no two crossings lie near each other."""
    corners = min(
        *(away_from_line(point, other) for point in one), *(away_from_line(point, one) for point in other)
    )
    crossed = min((apart(a, b) for i, a in enumerate(places) for b in places[:i]), default=margin * 2)
    return corners >= margin and crossed >= margin * 2
