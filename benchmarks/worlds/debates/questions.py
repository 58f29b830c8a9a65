"""Multiple-choice questions about a scene that can be answered exactly from its graph, by four kinds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.worlds.debates.scenes import COLOURS, LEFT, SHAPES, SIZES, Scene
from pyvision.strategies.bdog.graphs import Graph, Node

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
