"""Outlines in a chain that cross their neighbours like the rings of the Olympic flag: how many are there?

Difficulty: from three to five outlines (0) up to eight to twelve (1), drawn thinner, in closer rows, and the more
often all in one colour. Half of the pictures show circles, half pentagons.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyvision.bench.synthetic.canvas import Canvas, Point
from pyvision.bench.synthetic.colours import BLACK, INKS, WHITE
from pyvision.bench.synthetic.components import areas, near
from pyvision.bench.synthetic.geometry import apart, corners, crossings
from pyvision.bench.synthetic.scene import Dice, Scene

_RADIUS = 62
_ROUND = 48  # sides of the polygon that stands for a circle in the arithmetic


def make(dice: Dice) -> Scene | None:
    """One chain; None when the faces that the pixels show are not those that the outlines make."""
    count = dice.goal.randint(dice.whole(3, 8), dice.whole(5, 12))
    shape, centres = dice.goal.choice(("circle", "pentagon")), _centres(dice, count)
    page = Canvas(*_size(centres))
    width = dice.between(4.5, 2.2)
    for centre, ink in zip(centres, _inks(dice, count), strict=True):
        if shape == "circle":
            page.disc(centre, _RADIUS, line=ink, width=width)
        else:
            page.polygon(corners(centre, _RADIUS, 5), line=ink, width=width)
    if not _shows_every_face(page, centres, 5 if shape == "pentagon" else _ROUND):
        return None
    truth = {"shape": shape, "radius": _RADIUS, "centres": [[round(x, 1), round(y, 1)] for x, y in centres]}
    question = f"How many {shape}s are in the image? Answer with a number."
    return Scene(question, count, (page,), "integer", f"{shape}s", truth)


def _centres(dice: Dice, count: int) -> list[Point]:
    """Two rows, zigzag, every step a little different."""
    x, found = 1.5 * _RADIUS, []
    for k in range(count):
        found.append((x, _RADIUS * (1.4 + (k % 2) * dice.chance.uniform(0.82, 1.02))))
        x += _RADIUS * dice.chance.uniform(1.0, 1.18) * dice.between(1.12, 0.98)
    return found


def _size(centres: Sequence[Point]) -> tuple[int, int]:
    return round(centres[-1][0] + 1.5 * _RADIUS), round(3.9 * _RADIUS)


def _inks(dice: Dice, count: int) -> list[tuple[int, int, int]]:
    if dice.chance.random() < dice.difficulty:
        return [BLACK] * count
    names = dice.chance.sample(list(INKS), len(INKS))
    return [INKS[names[k % len(names)]] for k in range(count)]


def _shows_every_face(page: Canvas, centres: Sequence[Point], sides: int) -> bool:
    """Euler: closed outlines in one chain part the paper into as many faces as they have crossings, and two more."""
    outlines = [corners(centre, _RADIUS, sides) for centre in centres]
    met = [
        len(crossings([*one, one[0]], [*outlines[j], outlines[j][0]]))
        for k, one in enumerate(outlines)
        for j in range(k)
        if apart(centres[j], centres[k]) < 2 * _RADIUS
    ]
    paper = near(page.pixels(), WHITE, 40)
    return len(met) >= len(centres) - 1 and len(areas(paper, least=12)) == sum(met) + 2
