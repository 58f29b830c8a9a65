"""Questions about scattered shapes: count them, locate one, compare two images.

Every shape is filled with one colour and stands apart from the others, at most one to a cell of a grid.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from pyvision.bench.synthetic.canvas import Box, Canvas, Pixels, Point
from pyvision.bench.synthetic.geometry import Area, apart, areas, near, shape_corners
from pyvision.bench.synthetic.scene import INKS, Dice, Scene

_SHAPES = ("circle", "triangle", "square", "pentagon", "star", "cross")
_CLUTTER_SIZE = (960, 720)
_CLUTTER_CELL = 80
_SCRAWL = ((205, 205, 200), (190, 200, 210), (215, 200, 190))
_BOXES_CELL = 84
_EXTREME_MARGIN = 0.12  # how far the extreme shape of its kind leads the next one, as a share of a cell
_PAIR_SIZE = (800, 640)
_PAIR_CELL = 76  # 80 cells: more than shapes and changes together
_OPTIONS = 4
_COUNT = "How many differences are there between the two images? Answer with a number."
_WHICH = (
    "The two images are the same but for one thing. Which thing of the first image is missing in the second?"
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A filled shape: the circle around its corners has this centre and radius; turn is in radians."""

    colour: str
    shape: str
    centre: Point
    radius: float
    turn: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.colour} {self.shape}"

    @property
    def corners(self) -> list[Point]:
        return shape_corners(self.shape, self.centre, self.radius, self.turn)

    @property
    def box(self) -> Box:
        """[left, top, right, bottom] in whole pixels, the last two exclusive."""
        x, y = zip(*self.corners, strict=True)
        return math.floor(min(x)), math.floor(min(y)), math.ceil(max(x)), math.ceil(max(y))

    def draw(self, page: Canvas) -> None:
        page.polygon(self.corners, fill=INKS[self.colour])

    def plain(self) -> dict[str, object]:
        """As JSON values."""
        return {"colour": self.colour, "shape": self.shape, "box": list(self.box)}


_EXTREMES: Mapping[str, Callable[[_Shape], float]] = {
    "leftmost": lambda shape: shape.centre[0],
    "rightmost": lambda shape: -shape.centre[0],
    "topmost": lambda shape: shape.centre[1],
    "bottommost": lambda shape: -shape.centre[1],
    "largest": lambda shape: -shape.radius,
    "smallest": lambda shape: shape.radius,
}
_Change: TypeAlias = tuple[_Shape | None, _Shape | None]  # in the first image, in the second


def make_clutter(dice: Dice) -> Scene | None:
    """Count the shapes of one colour and one form among others, on a page with scrawled lines.

    Difficulty: from ten other shapes (0) to fifty (1), more of which share the colour or the form asked for; at most
    five (0) to fourteen (1) are to be counted; and the scrawl below and across the shapes grows from sparse to dense.
    Returns None when the pixels do not show each shape of the colour separately.
    """
    wanted = dice.goal.randint(dice.whole(1, 4), dice.whole(5, 14))
    colour, shape = dice.goal.choice(list(INKS)), dice.goal.choice(_SHAPES)
    names = [(colour, shape)] * wanted + _pick_others(dice, colour, shape)
    places = _spots(dice.chance, _CLUTTER_SIZE, _CLUTTER_CELL)
    shapes = [_random_shape(dice.chance, name, next(places)) for name in names]
    page = Canvas(*_CLUTTER_SIZE)
    _scrawl(dice, page, dice.whole(4, 40), 6)
    for drawn_shape in shapes:
        drawn_shape.draw(page)
    same = [drawn_shape for drawn_shape in shapes if drawn_shape.colour == colour]
    visible = _areas_of(page.pixels(), colour)
    if len(visible) != len(same) or not all(_is_visible(drawn_shape, visible) for drawn_shape in same):
        return None
    _scrawl(dice, page, dice.whole(0, 12), 1)
    question = f"How many {colour} {_plural(shape)} are in the image? Answer with a number."
    return Scene(question, wanted, (page,), "integer", "colour and shape", _clutter_truth(shapes))


def _clutter_truth(shapes: list[_Shape]) -> dict[str, object]:
    return {"things": [shape.plain() for shape in shapes]}


def _plural(shape: str) -> str:
    return f"{shape}es" if shape.endswith("s") else f"{shape}s"


def _pick_others(dice: Dice, colour: str, shape: str) -> list[tuple[str, str]]:
    """(colour, shape) of the distractors; the harder, the more of them share one of the two with the target."""
    colours = [other for other in INKS if other != colour]
    shapes = [other for other in _SHAPES if other != shape]
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
        points = [
            (dice.chance.uniform(0, _CLUTTER_SIZE[0]), dice.chance.uniform(0, _CLUTTER_SIZE[1]))
            for _ in range(3)
        ]
        page.stroke(points, dice.chance.choice(_SCRAWL), width)


def make_boxes(dice: Dice) -> Scene | None:
    """Locate the shape that is described: its bounding box in pixels.

    Difficulty: from four other shapes (0) to forty (1), in a growing image; and the description compares more often
    (the leftmost or largest of a kind) instead of naming only colour and form.
    Returns None when the description fits two shapes, or the pixels show a different box.
    """
    compares = dice.goal.random() < dice.between(0.2, 0.8)
    name = dice.goal.choice(list(INKS)), dice.goal.choice(_SHAPES)
    extreme = dice.goal.choice(list(_EXTREMES)) if compares else None
    size = dice.whole(480, 1440), dice.whole(420, 1080)
    shapes = _scatter(dice, size, name, 3 if extreme else 1)
    found = _find_described([shape for shape in shapes if (shape.colour, shape.shape) == name], extreme)
    if found is None:
        return None
    page = Canvas(*size)
    for shape in shapes:
        shape.draw(page)
    if not _is_visible(found, _areas_of(page.pixels(), found.colour)):
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


def _scatter(dice: Dice, size: tuple[int, int], name: tuple[str, str], same: int) -> list[_Shape]:
    """`same` shapes of that colour and form, and others."""
    names = [(colour, shape) for colour in INKS for shape in _SHAPES if (colour, shape) != name]
    wanted = [name] * same + dice.chance.choices(names, k=dice.whole(4, 40))
    return [
        _random_shape(dice.chance, each, spot)
        for each, spot in zip(wanted, _spots(dice.chance, size, _BOXES_CELL), strict=False)
    ]


def _find_described(shapes: Sequence[_Shape], extreme: str | None) -> _Shape | None:
    """The shape that is described; None when that is ambiguous."""
    if extreme is None:
        return shapes[0] if len(shapes) == 1 else None
    measure = _EXTREMES[extreme]
    first, second, *_ = sorted(shapes, key=measure)
    margin = _EXTREME_MARGIN * _BOXES_CELL / (4 if extreme in ("largest", "smallest") else 1)
    return first if measure(second) - measure(first) >= margin else None


def make_difference(dice: Dice) -> Scene | None:
    """Two images of scattered shapes: how many differences are there, or which shape is missing?

    Difficulty: from ten shapes (0) to sixty (1), and at most four (0) to nine (1) differences. A difference is a
    shape that is gone, new, or of another colour in the second image.
    Returns None when the pixels differ in any other way.
    """
    counts = dice.goal.random() < 0.6
    return _ask_count(dice) if counts else _ask_missing(dice)


def _ask_count(dice: Dice) -> Scene | None:
    wanted, names = dice.goal.randint(1, dice.whole(4, 9)), [(c, s) for c in INKS for s in _SHAPES]
    places = islice(_spots(dice.chance, _PAIR_SIZE, _PAIR_CELL), dice.whole(10, 60) + wanted)
    shapes = [_random_shape(dice.chance, dice.chance.choice(names), spot) for spot in places]
    chosen = _pick_far_apart(shapes, wanted)
    changes = [_pick_change(dice, shape) for shape in chosen]
    pair = _draw_pair([shape for shape in shapes if shape not in chosen], changes)
    if len(chosen) != wanted or _count_differences(pair) != wanted:
        return None
    truth = {
        "things": len(shapes) - wanted,
        "changes": [[one and one.plain(), other and other.plain()] for one, other in changes],
    }
    return Scene(_COUNT, wanted, pair, "integer", "count", truth)


def _ask_missing(dice: Dice) -> Scene | None:
    """Every shape has a unique name, so that the options are unambiguous."""
    names = dice.chance.sample([(c, s) for c in INKS for s in _SHAPES], dice.whole(8, 36))
    places = _spots(dice.chance, _PAIR_SIZE, _PAIR_CELL)
    shapes = [_random_shape(dice.chance, name, next(places)) for name in names]
    options = [shape.name for shape in dice.chance.sample(shapes[1:], _OPTIONS - 1)]
    right = dice.goal.randrange(_OPTIONS)
    options.insert(right, shapes[0].name)
    pair = _draw_pair(shapes[1:], [(shapes[0], None)])
    if _count_differences(pair) != 1:
        return None
    choices = tuple(f"the {name}" for name in options)
    truth = {"things": len(shapes), "missing": shapes[0].plain()}
    return Scene(_WHICH, "ABCD"[right], pair, "choice", "missing", truth, choices)


def _pick_far_apart(shapes: Sequence[_Shape], count: int) -> list[_Shape]:
    """The first `count` shapes that are no neighbours, lest two differences look like one; fewer if there are fewer."""
    found = list[_Shape]()
    for shape in shapes:
        if len(found) < count and all(
            apart(shape.centre, other.centre) > 1.8 * _PAIR_CELL for other in found
        ):
            found.append(shape)
    return found


def _pick_change(dice: Dice, shape: _Shape) -> _Change:
    kind = dice.chance.choice(("gone", "new", "colour"))
    if kind == "colour":
        others = [colour for colour in INKS if colour != shape.colour]
        return shape, replace(shape, colour=dice.chance.choice(others))
    return (shape, None) if kind == "gone" else (None, shape)


def _draw_pair(same: Iterable[_Shape], changes: Iterable[_Change]) -> tuple[Canvas, Canvas]:
    pages = Canvas(*_PAIR_SIZE), Canvas(*_PAIR_SIZE)
    for shape in same:
        for page in pages:
            shape.draw(page)
    for change in changes:
        for page, changed in zip(pages, change, strict=True):
            if changed:
                changed.draw(page)
    return pages


def _count_differences(pair: tuple[Canvas, Canvas]) -> int:
    """How many separate areas of the two images differ, by their pixels."""
    one, other = (page.pixels() for page in pair)
    return len(areas((one != other).any(axis=2)))


def _spots(chance: random.Random, size: tuple[int, int], cell: int) -> Iterator[tuple[Point, float]]:
    """Centres and radii in random order, one for each cell of the image, with a gap between any two."""
    columns, rows = size[0] // cell, size[1] // cell
    for index in chance.sample(range(columns * rows), columns * rows):
        radius = cell * chance.uniform(0.24, 0.4)
        room = cell / 2 - radius - 2
        x = (index % columns + 0.5) * cell + chance.uniform(-room, room)
        y = (index // columns + 0.5) * cell + chance.uniform(-room, room)
        yield (x, y), radius


def _random_shape(chance: random.Random, name: tuple[str, str], spot: tuple[Point, float]) -> _Shape:
    """A shape of this (colour, form) in a spot, rotated at random."""
    return _Shape(*name, *spot, turn=chance.uniform(0, 2 * math.pi))


def _areas_of(pixels: Pixels, colour: str) -> list[Area]:
    """The areas of a colour in the pixels, without the seams where other colours blend."""
    return areas(near(pixels, INKS[colour], 40), least=20)


def _is_visible(shape: _Shape, visible: list[Area], slack: int = 2) -> bool:
    """Whether one of the areas fills the box of the shape."""
    return any(all(abs(a - b) <= slack for a, b in zip(area.box, shape.box, strict=True)) for area in visible)
