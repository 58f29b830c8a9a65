"""Two pictures of scattered things: how many differences are there, or which thing is missing?

Difficulty: from ten things (0) to sixty (1), and at most four to nine differences. A difference is a thing that is
gone, is new, or has another colour in the second picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from pyvision.bench.synthetic.canvas import Canvas
from pyvision.bench.synthetic.colours import INKS
from pyvision.bench.synthetic.components import areas
from pyvision.bench.synthetic.geometry import apart
from pyvision.bench.synthetic.scene import Dice, Scene
from pyvision.bench.synthetic.shapes import SHAPES, Shape, some_shape, spots

Change: TypeAlias = tuple[Shape | None, Shape | None]  # in the first picture, in the second

_SIZE = (800, 640)
_CELL = 76  # 80 cells: more than things and changes together
_OPTIONS = 4
_COUNT = "How many differences are there between the two images? Answer with a number."
_WHICH = (
    "The two images are the same but for one thing. Which thing of the first image is missing in the second?"
)


def make(dice: Dice) -> Scene | None:
    """One pair of pictures, for one of the two questions; None when the pixels differ in another way."""
    counts = dice.goal.random() < 0.6
    return _count(dice) if counts else _missing(dice)


def _count(dice: Dice) -> Scene | None:
    wanted, names = dice.goal.randint(1, dice.whole(4, 9)), [(c, s) for c in INKS for s in SHAPES]
    places = islice(spots(dice.chance, _SIZE, _CELL), dice.whole(10, 60) + wanted)
    shapes = [some_shape(dice.chance, dice.chance.choice(names), spot) for spot in places]
    chosen = _far_apart(shapes, wanted)
    changes = [_change(dice, shape) for shape in chosen]
    pair = _pair([shape for shape in shapes if shape not in chosen], changes)
    if len(chosen) != wanted or _differences(pair) != wanted:
        return None
    truth = {
        "things": len(shapes) - wanted,
        "changes": [[one and one.plain(), other and other.plain()] for one, other in changes],
    }
    return Scene(_COUNT, wanted, pair, "integer", "count", truth)


def _missing(dice: Dice) -> Scene | None:
    """Every thing is the only one of its name, so that the name says which is meant."""
    names = dice.chance.sample([(c, s) for c in INKS for s in SHAPES], dice.whole(8, 36))
    places = spots(dice.chance, _SIZE, _CELL)
    shapes = [some_shape(dice.chance, name, next(places)) for name in names]
    options = [shape.name for shape in dice.chance.sample(shapes[1:], _OPTIONS - 1)]
    right = dice.goal.randrange(_OPTIONS)
    options.insert(right, shapes[0].name)
    pair = _pair(shapes[1:], [(shapes[0], None)])
    if _differences(pair) != 1:
        return None
    choices = tuple(f"the {name}" for name in options)
    truth = {"things": len(shapes), "missing": shapes[0].plain()}
    return Scene(_WHICH, "ABCD"[right], pair, "choice", "missing", truth, choices)


def _far_apart(shapes: Sequence[Shape], count: int) -> list[Shape]:
    """The first so many that are no neighbours, so that nobody takes two differences for one; fewer if there are."""
    found = list[Shape]()
    for shape in shapes:
        if len(found) < count and all(apart(shape.centre, other.centre) > 1.8 * _CELL for other in found):
            found.append(shape)
    return found


def _change(dice: Dice, shape: Shape) -> Change:
    kind = dice.chance.choice(("gone", "new", "colour"))
    if kind == "colour":
        others = [colour for colour in INKS if colour != shape.colour]
        return shape, replace(shape, colour=dice.chance.choice(others))
    return (shape, None) if kind == "gone" else (None, shape)


def _pair(same: Iterable[Shape], changes: Iterable[Change]) -> tuple[Canvas, Canvas]:
    pages = Canvas(*_SIZE), Canvas(*_SIZE)
    for shape in same:
        for page in pages:
            shape.draw(page)
    for change in changes:
        for page, changed in zip(pages, change, strict=True):
            if changed:
                changed.draw(page)
    return pages


def _differences(pair: tuple[Canvas, Canvas]) -> int:
    """How many separate areas of the two pictures differ, by their pixels."""
    one, other = (page.pixels() for page in pair)
    return len(areas((one != other).any(axis=2)))
