"""Two filled circles: do they touch or overlap?

Difficulty: the gap between the edges, or the depth of the overlap, shrinks from about a third of the smaller radius
(0) to two or three pixels (1). A gap of nothing at all is not drawn: no picture of pixels could show it.
"""

from __future__ import annotations

import math

from pyvision.bench.synthetic.canvas import Canvas
from pyvision.bench.synthetic.colours import INKS, WHITE, some_inks
from pyvision.bench.synthetic.components import areas, near
from pyvision.bench.synthetic.geometry import apart
from pyvision.bench.synthetic.scene import Dice, Scene

_SIDE = 560
_CLEAR_PX = 2.0


def make(dice: Dice) -> Scene | None:
    """One picture of two discs; None when the pixels do not show what was meant."""
    contact, chance = dice.goal.random() < 0.5, dice.chance
    radii = [chance.uniform(45, 110) for _ in range(2)]
    gap = (
        _CLEAR_PX + chance.uniform(0.0, 2.0) + dice.between(0.33, 0.0) * min(radii) * chance.uniform(0.6, 1.0)
    )
    reach, angle = sum(radii) + (-gap if contact else gap), chance.uniform(0, 2 * math.pi)
    step = (math.cos(angle), math.sin(angle))
    centres = [
        (_SIDE / 2 + sign * step[0] * reach * share, _SIDE / 2 + sign * step[1] * reach * share)
        for sign, share in ((1, radii[1] / sum(radii)), (-1, radii[0] / sum(radii)))
    ]
    names = some_inks(chance, 2)
    page = Canvas(_SIDE, _SIDE)
    for centre, radius, name in zip(centres, radii, names, strict=True):
        page.disc(centre, radius, fill=INKS[name])
    if len(areas(~near(page.pixels(), WHITE, 55))) != (1 if contact else 2):
        return None
    truth = {
        "discs": [[round(x, 2), round(y, 2), round(r, 2)] for (x, y), r in zip(centres, radii, strict=True)],
        "colours": names,
        "gap_px": round(apart(centres[0], centres[1]) - sum(radii), 2),
    }
    question = "Are the two circles touching or overlapping? Answer Yes or No."
    return Scene(question, "Yes" if contact else "No", (page,), "yes_no", "contact", truth)
