"""Counting the things of one colour and one shape among others, on a scrawled page.

Difficulty: from ten other things (0) to fifty (1), more of which share the colour or the shape asked for; at most five
to fourteen are to be counted; and from hardly any scrawl below and across the things to much.
"""

from __future__ import annotations

from pyvision.bench.synthetic.canvas import Canvas
from pyvision.bench.synthetic.colours import INKS
from pyvision.bench.synthetic.scene import Dice, Scene
from pyvision.bench.synthetic.shapes import SHAPES, Shape, areas_of, is_shown, some_shape, spots

_SIZE = (960, 720)
_CELL = 80
_SCRAWL = ((205, 205, 200), (190, 200, 210), (215, 200, 190))


def make(dice: Dice) -> Scene | None:
    """One page; None when the pixels do not show each thing of the colour by itself."""
    wanted = dice.goal.randint(dice.whole(1, 4), dice.whole(5, 14))
    colour, shape = dice.goal.choice(list(INKS)), dice.goal.choice(SHAPES)
    names = [(colour, shape)] * wanted + _others(dice, colour, shape)
    places = spots(dice.chance, _SIZE, _CELL)
    shapes = [some_shape(dice.chance, name, next(places)) for name in names]
    page = Canvas(*_SIZE)
    _scrawl(dice, page, dice.whole(4, 40), 6)
    for drawn_shape in shapes:
        drawn_shape.draw(page)
    same = [drawn_shape for drawn_shape in shapes if drawn_shape.colour == colour]
    shown = areas_of(page.pixels(), colour)
    if len(shown) != len(same) or not all(is_shown(drawn_shape, shown) for drawn_shape in same):
        return None
    _scrawl(dice, page, dice.whole(0, 12), 1)
    question = f"How many {colour} {_plural(shape)} are in the image? Answer with a number."
    return Scene(question, wanted, (page,), "integer", "colour and shape", _truth(shapes))


def _truth(shapes: list[Shape]) -> dict[str, object]:
    return {"things": [shape.plain() for shape in shapes]}


def _plural(shape: str) -> str:
    return f"{shape}es" if shape.endswith("s") else f"{shape}s"


def _others(dice: Dice, colour: str, shape: str) -> list[tuple[str, str]]:
    """(colour, shape) of things that are not asked for; the harder, the more of them share one with those."""
    colours = [other for other in INKS if other != colour]
    shapes = [other for other in SHAPES if other != shape]
    found = []
    for _ in range(dice.whole(10, 50)):
        if dice.chance.random() < dice.between(0.3, 0.8):
            halves = (colour, dice.chance.choice(shapes)), (dice.chance.choice(colours), shape)
            found.append(dice.chance.choice(halves))
        else:
            found.append((dice.chance.choice(colours), dice.chance.choice(shapes)))
    return found


def _scrawl(dice: Dice, page: Canvas, strokes: int, width: float) -> None:
    for _ in range(strokes):
        points = [(dice.chance.uniform(0, _SIZE[0]), dice.chance.uniform(0, _SIZE[1])) for _ in range(3)]
        page.stroke(points, dice.chance.choice(_SCRAWL), width)
