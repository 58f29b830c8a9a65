"""Things: filled shapes of one colour that stand apart from each other, one in each cell of a lattice at most."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from pyvision.bench.synthetic.canvas import Box, Canvas, Pixels, Point
from pyvision.bench.synthetic.colours import INKS
from pyvision.bench.synthetic.components import Area, areas, near
from pyvision.bench.synthetic.geometry import shape_corners

SHAPES = ("circle", "triangle", "square", "pentagon", "star", "cross")


@dataclass(frozen=True, slots=True)
class Shape:
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


def spots(chance: random.Random, size: tuple[int, int], cell: int) -> Iterator[tuple[Point, float]]:
    """Centres and radii in random order that leave a gap between any two: one for each cell of the picture."""
    columns, rows = size[0] // cell, size[1] // cell
    for index in chance.sample(range(columns * rows), columns * rows):
        radius = cell * chance.uniform(0.24, 0.4)
        room = cell / 2 - radius - 2
        x = (index % columns + 0.5) * cell + chance.uniform(-room, room)
        y = (index // columns + 0.5) * cell + chance.uniform(-room, room)
        yield (x, y), radius


def some_shape(chance: random.Random, name: tuple[str, str], spot: tuple[Point, float]) -> Shape:
    """A thing of this (colour, shape) in a spot, turned by chance."""
    return Shape(*name, *spot, turn=chance.uniform(0, 2 * math.pi))


def areas_of(pixels: Pixels, colour: str) -> list[Area]:
    """The areas of a colour as the pixels show them, without the seams where others blend."""
    return areas(near(pixels, INKS[colour], 40), least=20)


def is_shown(shape: Shape, shown: list[Area], slack: int = 2) -> bool:
    """Whether one of the areas fills the thing's box."""
    return any(all(abs(a - b) <= slack for a, b in zip(area.box, shape.box, strict=True)) for area in shown)
