"""Read the graph out of a reply, whatever its form; never raises, and says what it had to repair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from pyvision.strategies.bdog.graphs.forms import (
    EDGE_LISTS,
    NODE_LISTS,
    Parts,
    RawEdge,
    RawNode,
    assign_attributes,
    attribute_pairs,
    by_key,
    first_of,
    parts_in,
    raw_edges,
    raw_nodes,
)
from pyvision.strategies.bdog.graphs.graph import Edge, Graph, Node, normalise
from pyvision.strategies.bdog.graphs.lenient_json import Fix, read_value
from pyvision.text.replies import without_thinking

Repair: TypeAlias = (
    Fix
    | Literal[
        "prose",  # no graph at all: an empty one comes back
        "other_form",  # other keys or another nesting than the canonical ones
        "labelled_lists",  # the lists stood in the text without an object around them
        "several_graphs",  # the last one counts
        "graph_in_text",  # the graph stood inside a JSON text
        "missing_id",
        "shared_id",  # of two different nodes; the second got another
        "duplicate_node",  # merged
        "duplicate_edge",
        "nameless_item",  # dropped
        "unreadable_edge",  # dropped
        "added_endpoint",  # a relation named a node that there was not; it is there now
        "dropped_endpoint",  # a relation led to a number that is no node; dropped
        "missing_relation",  # a relation without a word for it
    ]
)

_LABEL = re.compile(r"[\"'*]{0,3}(\w+)[\"'*]{0,3}\s*[:=]\s*[\"'*]{0,3}\s*(?:json\s*)?\Z", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
_OPENING = re.compile(r"[{\[]")
_UNNAMED = "related to"


def read_graph(text: str) -> tuple[Graph, tuple[Repair, ...]]:
    """The graph in a reply and what had to be repaired, sorted by name; an empty graph where there is none."""
    found = [_assemble(parts, fixes) for parts, fixes in _candidates(without_thinking(text))]
    graphs = [each for each in found if each[0]]
    if not graphs:
        return Graph(), tuple(sorted(found[-1][1])) if found else ("prose",)
    graph, repairs = graphs[-1]
    more: set[Repair] = {"several_graphs"} if len(graphs) > 1 else set()
    return graph, tuple(sorted(repairs | more))


def _candidates(text: str, depth: int = 2) -> Iterator[tuple[Parts, set[Repair]]]:
    """Every stretch of the text that may be a graph; the lists that only have labels come last, as one."""
    labelled: dict[str, Any] = {}
    mended: set[Repair] = set()
    last = Parts()
    for before, value, fixes in _values(text):
        label = _LABEL.search(before)
        if label and label[1].casefold() in (*NODE_LISTS, *EDGE_LISTS) and not _has_parts(value):
            labelled.setdefault(label[1].casefold(), value)
            mended |= fixes
        elif parts := parts_in(value):
            last = parts
            yield parts, set(fixes)
        elif depth:
            yield from _inside(value, depth)
    if parts := parts_in(labelled):
        more: set[Repair] = {"labelled_lists"} if parts.is_canonical else {"labelled_lists", "other_form"}
        nodes, edges = parts.nodes or last.nodes, parts.edges or last.edges
        yield replace(last, nodes=nodes, edges=edges, is_canonical=True), mended | more


def _values(text: str) -> Iterator[tuple[str, Any, frozenset[Fix]]]:
    """Every object and list of the text, with the end of what stands before it. None crosses a fence."""
    before = ""
    for stretch in _FENCE.split(text):
        at = 0
        while opening := _OPENING.search(stretch, at):
            value, end, fixes = read_value(stretch, opening.start())
            yield (before + stretch[max(0, at, opening.start() - 60) : opening.start()])[-60:], value, fixes
            before, at = "", end
        before = stretch[max(at, len(stretch) - 60) :]


def _has_parts(value: Any) -> bool:
    return isinstance(value, dict) and first_of(by_key(value), NODE_LISTS) is not None


def _inside(value: Any, depth: int) -> Iterator[tuple[Parts, set[Repair]]]:
    """Graphs that stand as texts inside an object, as in {"kg": "{\\"objects\\": …}"}."""
    if isinstance(value, dict):
        for text in value.values():
            if isinstance(text, str) and "{" in text:
                for parts, fixes in _candidates(text, depth - 1):
                    yield parts, fixes | {"graph_in_text"}


def _assemble(parts: Parts, fixes: set[Repair]) -> tuple[Graph, set[Repair]]:
    assembly = _Assembly(fixes if parts.is_canonical else fixes | {"other_form"})
    inside = [assembly.add_node(raw) for raw in raw_nodes(parts.nodes)]
    for owner, told in assign_attributes(parts.attributes):
        assembly.add_attributes(owner, told)
    assembly.add_edges(parts.edges)
    for identity, relations in filter(None, inside):
        for listed in relations:
            assembly.add_edges(listed, identity)
    return assembly.graph, assembly.repairs


class _Assembly:
    """A graph that grows: ids made unique, ends resolved, doubles merged."""

    def __init__(self, repairs: set[Repair]) -> None:
        self.repairs = repairs
        self._nodes: dict[str, Node] = {}
        self._edges: dict[Edge, None] = {}
        self._known: dict[str, str] = {}  # casefolded id, name or normalised name -> id; the first one counts

    @property
    def graph(self) -> Graph:
        return Graph(tuple(self._nodes.values()), tuple(self._edges))

    def add_node(self, raw: RawNode | None) -> tuple[str, tuple[Any, ...]] | None:
        """The id under which it now stands, and the relations inside of it."""
        if raw is None:
            self.repairs.add("nameless_item")
            return None
        if not raw.id:
            self.repairs.add("missing_id")
        identity = raw.id or raw.name
        double = self._double(identity, raw)
        if double is not None:
            self.repairs.add("duplicate_node")
            self._nodes[double] = _merge(self._nodes[double], raw.attributes)
            return double, raw.relations
        if identity in self._nodes:
            if raw.id:
                self.repairs.add("shared_id")
            identity = self._free(identity)
        self._put(Node(identity, raw.name, raw.attributes))
        return identity, raw.relations

    def add_attributes(self, owner: str, told: Any) -> None:
        identity = self._find(owner)
        if identity is None:
            self.repairs.add("nameless_item")
        else:
            self._nodes[identity] = _merge(self._nodes[identity], attribute_pairs(told))

    def add_edges(self, listed: Any, source: str = "") -> None:
        for raw in raw_edges(listed, self._known, source):
            if raw is None:
                self.repairs.add("unreadable_edge")
            else:
                self._add_edge(raw)

    def _add_edge(self, raw: RawEdge) -> None:
        start, end = self._end(raw.source), self._end(raw.target)
        if start is None or end is None:
            return
        if not raw.relation:
            self.repairs.add("missing_relation")
        edge = Edge(start, end, raw.relation or _UNNAMED)
        if edge in self._edges:
            self.repairs.add("duplicate_edge")
        self._edges[edge] = None

    def _end(self, told: str) -> str | None:
        identity = self._find(told)
        if identity is not None:
            return identity
        if told.lstrip("-").isdigit():
            self.repairs.add("dropped_endpoint")
            return None
        self.repairs.add("added_endpoint")
        self._put(Node(told, told))
        return told

    def _find(self, told: str) -> str | None:
        if told in self._nodes:
            return told
        return self._known.get(told.casefold()) or self._known.get(normalise(told))

    def _double(self, identity: str, raw: RawNode) -> str | None:
        """The node that this one repeats: same id and name; or, without an id, the same in all."""
        there = self._nodes.get(identity)
        if there is None or normalise(there.name) != normalise(raw.name):
            return None
        return identity if raw.id or there.attributes == raw.attributes else None

    def _free(self, identity: str) -> str:
        number = 2
        while f"{identity}_{number}" in self._nodes:
            number += 1
        return f"{identity}_{number}"

    def _put(self, node: Node) -> None:
        self._nodes[node.id] = node
        for spelling in (node.id.casefold(), node.name.casefold(), normalise(node.name)):
            self._known.setdefault(spelling, node.id)


def _merge(node: Node, attributes: tuple[tuple[str, str], ...]) -> Node:
    return replace(node, attributes=tuple((dict(node.attributes) | dict(attributes)).items()))
