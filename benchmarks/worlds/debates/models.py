"""A scripted model that plays every role of a debate about a scene, and errs at rates that are set.

What it assumes, and so what no result of this world can show: that a model errs item by item; that things crowd each
other (`crowding`), so that a graph with less in it is seen better; that it is as good at judging between two versions
of an item of a graph as between two answers (`judgement`). `shared` is the share of errors that are the model's own,
the same in every call: those no vote takes away, and a debate only where it judges better than it sees.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from benchmarks.worlds.debates.scenes import COLOURS, SHAPES, SIZES, Query, Scene
from pyvision.models.streaming import in_one_piece
from pyvision.strategies.bdog.choices import find_choice
from pyvision.strategies.bdog.graphs import Edge, Graph, Node, read_graph
from pyvision.types import Message, Reply, Sampling, Usage

Value = TypeVar("Value")
_TAGGED = re.compile(r"<(graph|affirmative|negative|other_side)>\n(.*?)\n</\1>", re.DOTALL)
_USUAL_VIEW = 4  # things in view at which nothing crowds
_TOKEN = 4  # characters, as a rule of thumb


@dataclass(frozen=True, slots=True)
class Abilities:
    """Rates of error, each from 0 to 1. perception: for one property or relation; a half of it misses a thing."""

    perception: float = 0.12
    crowding: float = 0.05  # more perception error for each thing in view above four, as a share of it
    shared: float = 0.4
    judgement: float = 0.25
    relevance: float = 0.05  # takes what matters for what does not, or the other way round
    malformed: float = 0.05  # replies with graphs that are cut before their end


class RoleModel:
    """Plays all roles of one question; `rounds` of the same prompt differ as those of a model that samples."""

    def __init__(self, scene: Scene, query: Query, abilities: Abilities, seed: int = 0) -> None:
        self._scene = scene
        self._query = query
        self._abilities = abilities
        self._truth = scene.graph
        self._seed = seed
        self._calls = 0

    @property
    def name(self) -> str:
        return "player"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The reply that the prompt asks for: a graph, an opinion or an answer."""
        self._calls += 1
        rng = random.Random(f"{self._seed} {self._scene.id} {self._query.kind} {self._calls}")
        text = self._said(messages, rng)
        asked = sum(len(message.text) for message in messages)
        return Reply(text, Usage(asked // _TOKEN, len(text) // _TOKEN))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield from in_one_piece(self.complete(messages, sampling))

    def _said(self, messages: Sequence[Message], rng: random.Random) -> str:
        prompt = messages[-1].text
        tagged = dict(_TAGGED.findall(prompt))
        if r"\boxed" in prompt:
            return rf"\boxed{{{self._letter(self._decided(messages, tagged, rng))}}}"
        if "other_side" in tagged:
            return self._opinion(tagged["other_side"], rng)
        graph = read_graph(tagged["graph"])[0] if "graph" in tagged else None
        written = (self._seen(rng) if graph is None else self._revised(graph, rng)).json()
        return written[: len(written) * 3 // 4] if rng.random() < self._abilities.malformed else written

    def _decided(self, messages: Sequence[Message], tagged: dict[str, str], rng: random.Random) -> str:
        """The text of the choice that the player takes."""
        said = [message for message in messages if message.role == "assistant"]
        if said:
            before = self._choose(said[-1].text, rng)
            return self._judge("answer", before, self._looked(rng), self._right, rng)
        if "graph" in tagged:
            return self._from(read_graph(tagged["graph"])[0], rng)
        if "affirmative" not in tagged:
            return self._looked(rng)
        one, other = tagged["affirmative"], tagged["negative"]
        if "{" in one + other:
            return self._from(self._weighed(read_graph(one)[0], read_graph(other)[0], rng), rng)
        return self._judge("answer", self._choose(one, rng), self._choose(other, rng), self._right, rng)

    def _looked(self, rng: random.Random) -> str:
        """What a look at the whole scene gives."""
        return self._query.answer(self._seen(rng)) or rng.choice(self._query.choices)

    def _from(self, graph: Graph, rng: random.Random) -> str:
        """What a graph gives; a look at the scene where it does not tell."""
        found = self._query.answer(graph)
        return found if found in self._query.choices else self._looked(rng)

    def _opinion(self, other: str, rng: random.Random) -> str:
        held = self._judge("answer", self._looked(rng), self._choose(other, rng), self._right, rng)
        return f"The answer is {self._letter(held)}: {held}. I looked at the things one by one."

    def _letter(self, choice: str) -> str:
        places = self._query.choices
        return "ABCDEFGH"[places.index(choice)] if choice in places else choice

    def _choose(self, said: str, rng: random.Random) -> str:
        """The choice that was spoken for; what an own look gives, where none was."""
        letter = find_choice(said, self._query.choices).letter
        return self._query.choices["ABCDEFGH".index(letter)] if letter else self._looked(rng)

    @property
    def _right(self) -> str | None:
        return self._query.answer(self._truth)

    def _seen(self, rng: random.Random, in_view: int | None = None) -> Graph:
        """The scene as it is perceived, with so many things in view."""
        view = len(self._scene.things) if in_view is None else in_view
        crowd = 1 + self._abilities.crowding * max(0, view - _USUAL_VIEW)
        error = min(0.6, self._abilities.perception * crowd)
        nodes = [
            self._perceived(n, error, rng)
            for n in self._truth.nodes
            if not self._errs(f"{n.id}", error / 2, rng)
        ]
        if self._errs("ghost", error, rng):
            ghost = random.Random(f"{self._scene.id} ghost")
            pairs = (("colour", ghost.choice(COLOURS)), ("size", ghost.choice(SIZES)))
            nodes.append(Node("ghost", ghost.choice(SHAPES), pairs))
        ids = {node.id for node in nodes}
        edges = [e for e in self._truth.edges if {e.source, e.target} <= ids]
        turned = [self._turned(edge, rng) if self._errs(f"{edge}", error, rng) else edge for edge in edges]
        return Graph(tuple(nodes), tuple(dict.fromkeys(turned)))

    def _perceived(self, node: Node, error: float, rng: random.Random) -> Node:
        told = dict(node.attributes)
        shape = self._flipped(f"{node.id} shape", node.name, SHAPES, error, rng)
        colour = self._flipped(f"{node.id} colour", told["colour"], COLOURS, error, rng)
        size = self._flipped(f"{node.id} size", told["size"], SIZES, error, rng)
        return Node(node.id, shape, (("colour", colour), ("size", size)))

    def _flipped(self, item: str, value: str, values: Sequence[str], error: float, rng: random.Random) -> str:
        others = [other for other in values if other != value]
        return (
            random.Random(f"{self._scene.id} {item}").choice(others)
            if self._errs(item, error, rng)
            else value
        )

    def _turned(self, edge: Edge, rng: random.Random) -> Edge:
        return replace(edge, source=edge.target, target=edge.source)

    def _revised(self, graph: Graph, rng: random.Random) -> Graph:
        """The graph against an own look at what is in it, and at what matters and is not in it; the rest goes."""
        own = self._seen(rng, len(graph.nodes))
        given = {node.id for node in graph.nodes}
        seen = own.only({n.id for n in own.nodes if n.id in given or self._matters(n, rng)})
        weighed = self._weighed(graph, seen, rng)
        return weighed.only({n.id for n in weighed.nodes if self._matters(n, rng)})

    def _matters(self, node: Node, rng: random.Random) -> bool:
        return self._query.matters(node) != self._errs(f"{node.id} matters", self._abilities.relevance, rng)

    def _weighed(self, one: Graph, other: Graph, rng: random.Random) -> Graph:
        """One graph of two: where they differ, the player judges."""
        ones, others = {n.id: n for n in one.nodes}, {n.id: n for n in other.nodes}
        truth = {n.id: n for n in self._truth.nodes}
        weighed = [self._node(ones.get(i), others.get(i), truth.get(i), rng) for i in ones | others]
        nodes = tuple(node for node in weighed if node is not None)
        ids = {node.id for node in nodes}
        edges = (
            edge
            for edge in dict.fromkeys((*one.edges, *other.edges))
            if {edge.source, edge.target} <= ids
            and self._judge(f"{edge}", edge in one.edges, edge in other.edges, edge in self._truth.edges, rng)
        )
        return Graph(nodes, tuple(edges))

    def _node(
        self, one: Node | None, other: Node | None, truth: Node | None, rng: random.Random
    ) -> Node | None:
        if one is None or other is None:
            there = self._judge(f"{one or other}", one is not None, other is not None, truth is not None, rng)
            return (one or other) if there else None
        name = self._judge(f"{one.id} shape", one.name, other.name, truth.name if truth else None, rng)
        true = dict(truth.attributes) if truth else {}
        first, second = dict(one.attributes), dict(other.attributes)
        pairs = {
            key: self._judge(f"{one.id} {key}", first.get(key), second.get(key), true.get(key), rng)
            for key in first | second
        }
        return Node(one.id, name or one.name, tuple((key, value) for key, value in pairs.items() if value))

    def _judge(self, item: str, one: Value, other: Value, right: Value | None, rng: random.Random) -> Value:
        """One of two versions: the right one, unless judgement errs; either where none is right."""
        if one == other:
            return one
        if right not in (one, other):
            return rng.choice((one, other))
        good, bad = (one, other) if one == right else (other, one)
        return bad if self._errs(f"judge {item}", self._abilities.judgement, rng) else good

    def _errs(self, item: str, rate: float, rng: random.Random) -> bool:
        """Whether the player errs here: in its own way, the same in every call, or by chance."""
        own = random.Random(f"{self._seed} {self._scene.id} {item}")
        source: Callable[[], float] = own.random if own.random() < self._abilities.shared else rng.random
        return source() < rate
