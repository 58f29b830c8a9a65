"""Finding a described thing: its box in pixels.

Difficulty: from four other things (0) to forty (1), in a picture that grows, smaller; and from a description by
colour and shape alone, more and more often, to one that compares: the leftmost or the largest of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyvision.bench.synthetic.canvas import Canvas
from pyvision.bench.synthetic.colours import INKS
from pyvision.bench.synthetic.scene import Dice, Scene
from pyvision.bench.synthetic.shapes import SHAPES, Shape, areas_of, is_shown, some_shape, spots

_CELL = 84
_MARGIN = 0.12  # by how much of a cell the extreme one of its kind differs from the next
_EXTREMES: Mapping[str, Callable[[Shape], float]] = {
    "leftmost": lambda shape: shape.centre[0],
    "rightmost": lambda shape: -shape.centre[0],
    "topmost": lambda shape: shape.centre[1],
    "bottommost": lambda shape: -shape.centre[1],
    "largest": lambda shape: -shape.radius,
    "smallest": lambda shape: shape.radius,
}


def make(dice: Dice) -> Scene | None:
    """One page; None when the description fits two things, or the pixels show another box."""
    compares = dice.goal.random() < dice.between(0.2, 0.8)
    name = dice.goal.choice(list(INKS)), dice.goal.choice(SHAPES)
    extreme = dice.goal.choice(list(_EXTREMES)) if compares else None
    size = dice.whole(480, 1440), dice.whole(420, 1080)
    shapes = _scattered(dice, size, name, 3 if extreme else 1)
    found = _meant([shape for shape in shapes if (shape.colour, shape.shape) == name], extreme)
    if found is None:
        return None
    page = Canvas(*size)
    for shape in shapes:
        shape.draw(page)
    if not is_shown(found, areas_of(page.pixels(), found.colour)):
        return None
    described = f"the {extreme} {found.name}" if extreme else f"the {found.name}"
    question = (
        f"Where is {described}? The image is {size[0]} pixels wide and {size[1]} pixels high. "
        "Answer with its bounding box as [left, top, right, bottom] in pixels from the top left corner."
    )
    truth = {"described": described, "things": [shape.plain() for shape in shapes]}
    kind = "comparison" if extreme else "attributes"
    more = {"box": list(found.box), "width": size[0], "height": size[1]}
    return Scene(question, list(found.box), (page,), "box_iou", kind, truth, more=more)


def _scattered(dice: Dice, size: tuple[int, int], name: tuple[str, str], same: int) -> list[Shape]:
    """So many things of that name, and others."""
    names = [(colour, shape) for colour in INKS for shape in SHAPES if (colour, shape) != name]
    wanted = [name] * same + dice.chance.choices(names, k=dice.whole(4, 40))
    return [
        some_shape(dice.chance, each, spot)
        for each, spot in zip(wanted, spots(dice.chance, size, _CELL), strict=False)
    ]


def _meant(shapes: Sequence[Shape], extreme: str | None) -> Shape | None:
    """The one that is described; None when that is not clear."""
    if extreme is None:
        return shapes[0] if len(shapes) == 1 else None
    measure = _EXTREMES[extreme]
    first, second, *_ = sorted(shapes, key=measure)
    margin = _MARGIN * _CELL / (4 if extreme in ("largest", "smallest") else 1)
    return first if measure(second) - measure(first) >= margin else None
