"""Scenes of coloured shapes on a grid, each with its exact graph and, for models that look, a picture."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from functools import lru_cache

from pyvision.strategies.bdog.graphs import Edge, Graph, Node
from pyvision.types import Picture

SHAPES = ("circle", "square", "triangle", "star")
COLOURS = ("red", "blue", "green", "yellow")
SIZES = ("small", "large")
SIDE = 6  # cells of the grid, each way
LEFT, ABOVE = "directly left of", "directly above"
_CELL = 60  # pixels


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape; x and y are cells from the top left."""

    id: str
    shape: str
    colour: str
    size: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Scene:
    """Things in different cells."""

    id: str
    things: tuple[Shape, ...]

    @property
    def graph(self) -> Graph:
        """The exact graph: a node for each thing, an edge to the next thing in its row and in its column."""
        nodes = tuple(Node(t.id, t.shape, (("colour", t.colour), ("size", t.size))) for t in self.things)
        rows = [
            Edge(a.id, b.id, LEFT) for a in self.things for b in self.things if _next(a, b, self.things, "x")
        ]
        columns = [
            Edge(a.id, b.id, ABOVE) for a in self.things for b in self.things if _next(a, b, self.things, "y")
        ]
        return Graph(nodes, (*rows, *columns))

    @lru_cache(maxsize=1024)  # noqa: B019 - a benchmark's scenes live as long as it does
    def picture(self) -> Picture:
        """The scene as a PNG of 360 x 360 pixels."""
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (SIDE * _CELL, SIDE * _CELL), "white")
        pen = ImageDraw.Draw(image)
        for thing in self.things:
            middle = (thing.x * _CELL + _CELL / 2, thing.y * _CELL + _CELL / 2)
            radius = _CELL * (0.42 if thing.size == "large" else 0.22)
            match thing.shape:
                case "circle":
                    pen.ellipse(
                        [(m - radius) for m in middle] + [(m + radius) for m in middle], fill=thing.colour
                    )
                case "star":
                    pen.regular_polygon((*middle, radius), 3, 0, fill=thing.colour)
                    pen.regular_polygon((*middle, radius), 3, 60, fill=thing.colour)
                case shape:
                    pen.regular_polygon((*middle, radius), 4 if shape == "square" else 3, fill=thing.colour)
        file = io.BytesIO()
        image.save(file, "PNG")
        return Picture(file.getvalue(), "image/png", *image.size)


def scene(seed: str, count: int) -> Scene:
    """A scene of so many things, the same for the same seed."""
    rng = random.Random(f"scene {seed}")
    cells = rng.sample([(x, y) for x in range(SIDE) for y in range(SIDE)], count)
    things = (
        Shape(f"thing{n}", rng.choice(SHAPES), rng.choice(COLOURS), rng.choice(SIZES), x, y)
        for n, (x, y) in enumerate(cells, start=1)
    )
    return Scene(seed, tuple(things))


def _next(one: Shape, other: Shape, things: tuple[Shape, ...], axis: str) -> bool:
    """Whether the other is the next thing to the right (x) or below (y), in the same line."""
    line = "y" if axis == "x" else "x"
    behind = [
        getattr(t, axis)
        for t in things
        if getattr(t, line) == getattr(one, line) and getattr(t, axis) > getattr(one, axis)
    ]
    same = getattr(one, line) == getattr(other, line)
    return same and bool(behind) and getattr(other, axis) == min(behind)
