"""Scenes of coloured shapes on a grid, each with its exact graph and, for models that look, a picture."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Mapping
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


# ---- Multiple-choice questions about a scene that can be answered exactly from its graph, by four kinds.


_VERDICT = {
    (True, True): "both",
    (True, False): "only the first",
    (False, True): "only the second",
    (False, False): "neither",
}


@dataclass(frozen=True, slots=True)
class Query:
    """A question with what it turns on. answer: from a graph, None where that does not tell; matters: which nodes."""

    kind: str
    text: str
    choices: tuple[str, ...]
    answer: Callable[[Graph], str | None]
    matters: Callable[[Node], bool]


def query(scene: Scene, kind: str) -> Query | None:
    """A question of this kind that the scene answers, its choices shuffled; None where it answers none."""
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

    def matters(node: Node) -> bool:
        return node.name == shape

    def answer(graph: Graph) -> str | None:
        found = [n for n in graph.nodes if n.name == shape and told(n, "size") == size]
        return told(found[0], "colour") if len(found) == 1 else None

    return Query("attribute", f"What colour is the {size} {shape}?", COLOURS, answer, matters)


def _relation(rng: random.Random) -> Query:
    shape, colour = rng.choice(SHAPES), rng.choice(COLOURS)

    def is_target(node: Node) -> bool:
        return node.name == shape and told(node, "colour") == colour

    def answer(graph: Graph) -> str | None:
        nodes = {node.id: node for node in graph.nodes}
        targets = [node for node in graph.nodes if is_target(node)]
        sources = [nodes[e.source] for e in graph.edges if e.relation == LEFT and is_target(nodes[e.target])]
        return sources[0].name if len(targets) == len(sources) == 1 else None

    text = f"What is directly left of the {colour} {shape}, in its row?"
    return Query("relation", text, SHAPES, answer, lambda node: True)


def _count(rng: random.Random) -> Query:
    colour = rng.choice(COLOURS)

    def matters(node: Node) -> bool:
        return told(node, "colour") == colour

    def answer(graph: Graph) -> str | None:
        return str(sum(map(matters, graph.nodes))) if graph else None

    return Query("count", f"How many things are {colour}?", ("0", "1", "2", "3", "4", "5"), answer, matters)


def _logic(rng: random.Random) -> Query:
    shape, size = rng.choice(SHAPES), rng.choice(SIZES)
    other = rng.choice(COLOURS)

    def matters(node: Node) -> bool:
        return node.name == shape or told(node, "colour") == other

    def answer(graph: Graph) -> str | None:
        first = all(told(n, "size") == size for n in graph.nodes if n.name == shape)
        second = any(told(n, "colour") == other and n.name != shape for n in graph.nodes)
        return _VERDICT[first, second] if graph else None

    text = f"Which holds: (1) every {shape} is {size}; (2) something that is no {shape} is {other}?"
    return Query("logic", text, tuple(_VERDICT.values()), answer, matters)


def told(node: Node, attribute: str) -> str:
    """The value of an attribute, empty where it is not told."""
    return dict(node.attributes).get(attribute, "")


KINDS: Mapping[str, Callable[[random.Random], Query]] = {
    "attribute": _attribute,
    "relation": _relation,
    "count": _count,
    "logic": _logic,
}
