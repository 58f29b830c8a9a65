"""Squares inside each other, none touching another: how many are there?

Difficulty: from two to four squares (0) up to five to nine (1), with thinner lines, and the more often turned.
"""

from __future__ import annotations

import math

from pyvision.bench.synthetic.canvas import Canvas, Point
from pyvision.bench.synthetic.colours import BLACK, INKS
from pyvision.bench.synthetic.components import areas, near
from pyvision.bench.synthetic.geometry import corners
from pyvision.bench.synthetic.scene import Dice, Scene

_SIDE = 640


def make(dice: Dice) -> Scene | None:
    """One nest; None when the pixels do not show so many separate outlines."""
    count = dice.goal.randint(dice.whole(2, 5), dice.whole(4, 9))
    turn = math.pi / 4 + (
        dice.chance.uniform(0, math.pi / 2) if dice.chance.random() < dice.difficulty else 0
    )
    width, ink = dice.between(4, 1.8), dice.chance.choice([BLACK, *INKS.values()])
    page, squares = Canvas(_SIDE, _SIDE), _nest(dice, count, turn, width)
    for centre, radius in squares:
        page.polygon(corners(centre, radius, 4, turn), line=ink, width=width)
    paper = near(page.pixels(), (255, 255, 255), 40)
    if len(areas(~paper)) != count or len(areas(paper)) != count + 1:
        return None
    rows = [[round(x, 1), round(y, 1), round(radius, 1)] for (x, y), radius in squares]
    truth = {"turn": round(turn, 4), "centres_and_radii": rows}
    question = "How many squares are in the image? Answer with a number."
    return Scene(question, count, (page,), "integer", "nested", truth)


def _nest(dice: Dice, count: int, turn: float, width: float) -> list[tuple[Point, float]]:
    """Centre and half diagonal of each square, from the outermost in; each keeps a margin to the one around it."""
    centre, radius, found = (_SIDE / 2, _SIDE / 2), _SIDE * 0.46, []
    along = (math.cos(turn + math.pi / 4), math.sin(turn + math.pi / 4))
    for _ in range(count):
        found.append((centre, radius))
        smaller = radius * dice.chance.uniform(0.68, 0.8)
        room = max(0.0, (radius - smaller) / math.sqrt(2) - 2 * width - 5)
        u, v = dice.chance.uniform(-room, room), dice.chance.uniform(-room, room)
        centre = (centre[0] + u * along[0] - v * along[1], centre[1] + u * along[1] + v * along[0])
        radius = smaller
    return found
