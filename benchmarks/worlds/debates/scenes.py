"""Scenes of coloured shapes on a grid, with exact graphs and images, and questions answered from the graphs."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pyvision.strategies.bdog.graphs import Edge, Graph, GraphNode
from pyvision.types import Picture

SHAPES = ("circle", "square", "triangle", "star")
COLOURS = ("red", "blue", "green", "yellow")
SIZES = ("small", "large")
SIDE = 6  # cells of the grid, each way
LEFT, ABOVE = "directly left of", "directly above"
_CELL = 60  # pixels
_VERDICT = {
    (True, True): "both",
    (True, False): "only the first",
    (False, True): "only the second",
    (False, False): "neither",
}


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
    """Shapes in different cells of the grid."""

    id: str
    shapes: tuple[Shape, ...]

    @property
    def graph(self) -> Graph:
        """The exact graph: a node for each shape, with an edge to the next shape in its row and in its column."""
        nodes = tuple(GraphNode(s.id, s.shape, (("colour", s.colour), ("size", s.size))) for s in self.shapes)
        rows = [
            Edge(a.id, b.id, LEFT) for a in self.shapes for b in self.shapes if _next(a, b, self.shapes, "x")
        ]
        columns = [
            Edge(a.id, b.id, ABOVE) for a in self.shapes for b in self.shapes if _next(a, b, self.shapes, "y")
        ]
        return Graph(nodes, (*rows, *columns))

    @lru_cache(maxsize=1024)  # noqa: B019 - a benchmark's scenes live as long as it does
    def picture(self) -> Picture:
        """The scene as a PNG image of 360 x 360 pixels."""
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (SIDE * _CELL, SIDE * _CELL), "white")
        pen = ImageDraw.Draw(image)
        for shape in self.shapes:
            middle = (shape.x * _CELL + _CELL / 2, shape.y * _CELL + _CELL / 2)
            radius = _CELL * (0.42 if shape.size == "large" else 0.22)
            match shape.shape:
                case "circle":
                    pen.ellipse(
                        [(m - radius) for m in middle] + [(m + radius) for m in middle], fill=shape.colour
                    )
                case "star":
                    pen.regular_polygon((*middle, radius), 3, 0, fill=shape.colour)
                    pen.regular_polygon((*middle, radius), 3, 60, fill=shape.colour)
                case name:
                    pen.regular_polygon((*middle, radius), 4 if name == "square" else 3, fill=shape.colour)
        file = io.BytesIO()
        image.save(file, "PNG")
        return Picture(file.getvalue(), "image/png", *image.size)


def scene(seed: str, count: int) -> Scene:
    """A scene with `count` shapes, determined by the seed."""
    rng = random.Random(f"scene {seed}")
    cells = rng.sample([(x, y) for x in range(SIDE) for y in range(SIDE)], count)
    shapes = (
        Shape(f"thing{n}", rng.choice(SHAPES), rng.choice(COLOURS), rng.choice(SIZES), x, y)
        for n, (x, y) in enumerate(cells, start=1)
    )
    return Scene(seed, tuple(shapes))


def _next(one: Shape, other: Shape, shapes: tuple[Shape, ...], axis: str) -> bool:
    """Whether the other is the next shape to the right (x) or below (y), in the same line."""
    line = "y" if axis == "x" else "x"
    behind = [
        getattr(t, axis)
        for t in shapes
        if getattr(t, line) == getattr(one, line) and getattr(t, axis) > getattr(one, axis)
    ]
    same = getattr(one, line) == getattr(other, line)
    return same and bool(behind) and getattr(other, axis) == min(behind)


@dataclass(frozen=True, slots=True)
class Query:
    """A question. answer: computed from a graph, None if that is not possible. matters: whether a node is relevant."""

    kind: str
    text: str
    choices: tuple[str, ...]
    answer: Callable[[Graph], str | None]
    matters: Callable[[GraphNode], bool]


def query(scene: Scene, kind: str) -> Query | None:
    """A question of this kind that the scene answers, with shuffled choices; None if there is none."""
    rng = random.Random(f"{kind} {scene.id}")
    for _ in range(40):
        found = KINDS[kind](rng)
        right = found.answer(scene.graph)
        if right is not None and right in found.choices:
            choices = tuple(rng.sample(found.choices, len(found.choices)))
            return Query(kind, found.text, choices, found.answer, found.matters)
    return None


def _attribute(rng: random.Random) -> Query:
    shape, size = rng.choice(SHAPES), rng.choice(SIZES)

    def matters(node: GraphNode) -> bool:
        return node.name == shape

    def answer(graph: Graph) -> str | None:
        found = [n for n in graph.nodes if n.name == shape and get_attribute(n, "size") == size]
        return get_attribute(found[0], "colour") if len(found) == 1 else None

    return Query("attribute", f"What colour is the {size} {shape}?", COLOURS, answer, matters)


def _relation(rng: random.Random) -> Query:
    shape, colour = rng.choice(SHAPES), rng.choice(COLOURS)

    def is_target(node: GraphNode) -> bool:
        return node.name == shape and get_attribute(node, "colour") == colour

    def answer(graph: Graph) -> str | None:
        nodes = {node.id: node for node in graph.nodes}
        targets = [node for node in graph.nodes if is_target(node)]
        sources = [nodes[e.source] for e in graph.edges if e.relation == LEFT and is_target(nodes[e.target])]
        return sources[0].name if len(targets) == len(sources) == 1 else None

    text = f"What is directly left of the {colour} {shape}, in its row?"
    return Query("relation", text, SHAPES, answer, lambda node: True)


def _count(rng: random.Random) -> Query:
    colour = rng.choice(COLOURS)

    def matters(node: GraphNode) -> bool:
        return get_attribute(node, "colour") == colour

    def answer(graph: Graph) -> str | None:
        return str(sum(map(matters, graph.nodes))) if graph else None

    return Query("count", f"How many things are {colour}?", ("0", "1", "2", "3", "4", "5"), answer, matters)


def _logic(rng: random.Random) -> Query:
    shape, size = rng.choice(SHAPES), rng.choice(SIZES)
    other = rng.choice(COLOURS)

    def matters(node: GraphNode) -> bool:
        return node.name == shape or get_attribute(node, "colour") == other

    def answer(graph: Graph) -> str | None:
        first = all(get_attribute(n, "size") == size for n in graph.nodes if n.name == shape)
        second = any(get_attribute(n, "colour") == other and n.name != shape for n in graph.nodes)
        return _VERDICT[first, second] if graph else None

    text = f"Which holds: (1) every {shape} is {size}; (2) something that is no {shape} is {other}?"
    return Query("logic", text, tuple(_VERDICT.values()), answer, matters)


def get_attribute(node: GraphNode, attribute: str) -> str:
    """The value of an attribute, empty if it is missing."""
    return dict(node.attributes).get(attribute, "")


KINDS: Mapping[str, Callable[[random.Random], Query]] = {
    "attribute": _attribute,
    "relation": _relation,
    "count": _count,
    "logic": _logic,
}
