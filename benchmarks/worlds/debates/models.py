"""A scripted model for every role of a debate about a scene, with configurable error rates.

Assumptions, which no result of this world can therefore confirm: errors are independent for each item; perception gets
worse with more shapes in view (`crowding`), so that a smaller graph is perceived better; judging between two versions
of an item is as hard as judging between two answers (`judgement`). `shared` is the share of systematic errors, the
same in every call: a vote cannot remove them, and a debate only if the model judges better than it perceives.
`diversity` is the share of the systematic errors that differ from one personality (a system prompt) to another.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from benchmarks.worlds.debates.scenes import COLOURS, SHAPES, SIZES, Query, Scene
from pyvision.models.streaming import in_one_piece
from pyvision.strategies.bdog.graphs import Edge, Graph, GraphNode, read_graph
from pyvision.strategies.bdog.roles import find_choice
from pyvision.types import Message, Reply, Sampling, Usage

Value = TypeVar("Value")
_TAGGED = re.compile(r"<(graph|affirmative|negative|other_side)>\n(.*?)\n</\1>", re.DOTALL)
_UNCROWDED = 4  # shapes in view without crowding
_TOKEN = 4  # characters, as a rule of thumb


@dataclass(frozen=True, slots=True)
class Abilities:
    """Error rates from 0 to 1. perception: for one property or relation; half of it for missing a shape."""

    perception: float = 0.12
    crowding: float = 0.05  # relative increase of the perception error for each shape in view above four
    shared: float = 0.4
    judgement: float = 0.25
    relevance: float = 0.05  # confuses relevant and irrelevant nodes
    malformed: float = 0.05  # replies with truncated graphs
    diversity: float = 0.0


class RoleModel:
    """Plays all roles for one question; repeated prompts get different replies, as from a sampling model."""

    def __init__(self, scene: Scene, query: Query, abilities: Abilities, seed: int = 0) -> None:
        self._scene = scene
        self._query = query
        self._abilities = abilities
        self._truth = scene.graph
        self._seed = seed
        self._calls = 0
        self._personality = ""

    @property
    def name(self) -> str:
        return "player"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The reply to the prompt: a graph, an opinion or an answer."""
        self._calls += 1
        self._personality = "".join(message.text for message in messages if message.role == "system")
        rng = random.Random(f"{self._seed} {self._scene.id} {self._query.kind} {self._calls}")
        text = self._reply(messages, rng)
        prompt_chars = sum(len(message.text) for message in messages)
        return Reply(text, Usage(prompt_chars // _TOKEN, len(text) // _TOKEN))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield from in_one_piece(self.complete(messages, sampling))

    def _reply(self, messages: Sequence[Message], rng: random.Random) -> str:
        prompt = messages[-1].text
        tagged = dict(_TAGGED.findall(prompt))
        if r"\boxed" in prompt:
            return rf"\boxed{{{self._letter(self._decide(messages, tagged, rng))}}}"
        if "other_side" in tagged:
            return self._opinion(tagged["other_side"], rng)
        graph = read_graph(tagged["graph"])[0] if "graph" in tagged else None
        written = (self._perceive(rng) if graph is None else self._revise(graph, rng)).json()
        return written[: len(written) * 3 // 4] if rng.random() < self._abilities.malformed else written

    def _decide(self, messages: Sequence[Message], tagged: dict[str, str], rng: random.Random) -> str:
        """The text of the chosen answer."""
        replies = [message for message in messages if message.role == "assistant"]
        if replies:
            before = self._read_choice(replies[-1].text, rng)
            return self._judge("answer", before, self._look(rng), self._right, rng)
        if "graph" in tagged:
            return self._answer_from(read_graph(tagged["graph"])[0], rng)
        if "affirmative" not in tagged:
            return self._look(rng)
        one, other = tagged["affirmative"], tagged["negative"]
        if "{" in one + other:
            return self._answer_from(self._merge(read_graph(one)[0], read_graph(other)[0], rng), rng)
        return self._judge(
            "answer", self._read_choice(one, rng), self._read_choice(other, rng), self._right, rng
        )

    def _look(self, rng: random.Random) -> str:
        """An answer from perceiving the whole scene."""
        return self._query.answer(self._perceive(rng)) or rng.choice(self._query.choices)

    def _answer_from(self, graph: Graph, rng: random.Random) -> str:
        """An answer from a graph; from the scene if the graph does not contain it."""
        found = self._query.answer(graph)
        return found if found in self._query.choices else self._look(rng)

    def _opinion(self, other: str, rng: random.Random) -> str:
        opinion = self._judge("answer", self._look(rng), self._read_choice(other, rng), self._right, rng)
        return f"The answer is {self._letter(opinion)}: {opinion}. I looked at the things one by one."

    def _letter(self, choice: str) -> str:
        choices = self._query.choices
        return "ABCDEFGH"[choices.index(choice)] if choice in choices else choice

    def _read_choice(self, reply: str, rng: random.Random) -> str:
        """The choice in a reply; an own answer if it contains none."""
        letter = find_choice(reply, self._query.choices).letter
        return self._query.choices["ABCDEFGH".index(letter)] if letter else self._look(rng)

    @property
    def _right(self) -> str | None:
        return self._query.answer(self._truth)

    def _perceive(self, rng: random.Random, in_view: int | None = None) -> Graph:
        """The perceived scene, with `in_view` shapes in view."""
        view = len(self._scene.shapes) if in_view is None else in_view
        crowd = 1 + self._abilities.crowding * max(0, view - _UNCROWDED)
        error = min(0.6, self._abilities.perception * crowd)
        nodes = [
            self._perceive_node(n, error, rng)
            for n in self._truth.nodes
            if not self._errs(f"{n.id}", error / 2, rng)
        ]
        if self._errs("ghost", error, rng):
            ghost = random.Random(f"{self._scene.id} ghost")
            pairs = (("colour", ghost.choice(COLOURS)), ("size", ghost.choice(SIZES)))
            nodes.append(GraphNode("ghost", ghost.choice(SHAPES), pairs))
        ids = {node.id for node in nodes}
        edges = [e for e in self._truth.edges if {e.source, e.target} <= ids]
        edges = [self._turn(edge, rng) if self._errs(f"{edge}", error, rng) else edge for edge in edges]
        return Graph(tuple(nodes), tuple(dict.fromkeys(edges)))

    def _perceive_node(self, node: GraphNode, error: float, rng: random.Random) -> GraphNode:
        true = dict(node.attributes)
        shape = self._maybe_flip(f"{node.id} shape", node.name, SHAPES, error, rng)
        colour = self._maybe_flip(f"{node.id} colour", true["colour"], COLOURS, error, rng)
        size = self._maybe_flip(f"{node.id} size", true["size"], SIZES, error, rng)
        return GraphNode(node.id, shape, (("colour", colour), ("size", size)))

    def _maybe_flip(
        self, item: str, value: str, values: Sequence[str], error: float, rng: random.Random
    ) -> str:
        others = [other for other in values if other != value]
        return (
            random.Random(f"{self._scene.id} {item}").choice(others)
            if self._errs(item, error, rng)
            else value
        )

    def _turn(self, edge: Edge, rng: random.Random) -> Edge:
        return replace(edge, source=edge.target, target=edge.source)

    def _revise(self, graph: Graph, rng: random.Random) -> Graph:
        """The graph after comparing it with the perceived scene, reduced to the nodes that matter."""
        own = self._perceive(rng, len(graph.nodes))
        given = {node.id for node in graph.nodes}
        relevant = own.only({n.id for n in own.nodes if n.id in given or self._matters(n, rng)})
        merged = self._merge(graph, relevant, rng)
        return merged.only({n.id for n in merged.nodes if self._matters(n, rng)})

    def _matters(self, node: GraphNode, rng: random.Random) -> bool:
        return self._query.matters(node) != self._errs(f"{node.id} matters", self._abilities.relevance, rng)

    def _merge(self, one: Graph, other: Graph, rng: random.Random) -> Graph:
        """One graph from two: where they differ, the model judges."""
        ones, others = {n.id: n for n in one.nodes}, {n.id: n for n in other.nodes}
        truth = {n.id: n for n in self._truth.nodes}
        merged = [self._node(ones.get(i), others.get(i), truth.get(i), rng) for i in ones | others]
        nodes = tuple(node for node in merged if node is not None)
        ids = {node.id for node in nodes}
        edges = (
            edge
            for edge in dict.fromkeys((*one.edges, *other.edges))
            if {edge.source, edge.target} <= ids
            and self._judge(f"{edge}", edge in one.edges, edge in other.edges, edge in self._truth.edges, rng)
        )
        return Graph(nodes, tuple(edges))

    def _node(
        self, one: GraphNode | None, other: GraphNode | None, truth: GraphNode | None, rng: random.Random
    ) -> GraphNode | None:
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
        return GraphNode(
            one.id, name or one.name, tuple((key, value) for key, value in pairs.items() if value)
        )

    def _judge(self, item: str, one: Value, other: Value, right: Value | None, rng: random.Random) -> Value:
        """One of two versions: the correct one, unless the judgement errs; a random one if neither is correct."""
        if one == other:
            return one
        if right not in (one, other):
            return rng.choice((one, other))
        good, bad = (one, other) if one == right else (other, one)
        return bad if self._errs(f"judge {item}", self._abilities.judgement, rng) else good

    def _errs(self, item: str, rate: float, rng: random.Random) -> bool:
        """Whether the model errs here: systematically, the same in every call, or by chance."""
        where = f"{self._seed} {self._scene.id} {item}"
        is_personal = random.Random(f"{where} personal").random() < self._abilities.diversity
        own = random.Random(f"{where} {self._personality}" if is_personal else where)
        source: Callable[[], float] = own.random if own.random() < self._abilities.shared else rng.random
        return source() < rate
