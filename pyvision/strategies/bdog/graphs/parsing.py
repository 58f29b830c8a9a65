"""Read the graph in a reply, whatever its form. Never raises, and reports what it had to repair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from pyvision.strategies.bdog.graphs.dot import find_dot
from pyvision.strategies.bdog.graphs.forms import (
    EDGE_LISTS,
    NODE_LISTS,
    RawGraph,
    RawNode,
    assign_attributes,
    attribute_pairs,
    bare_graph,
    by_key,
    find_raw_graph,
    first_of,
    raw_nodes,
)
from pyvision.strategies.bdog.graphs.graph import Edge, Graph, GraphNode, normalise
from pyvision.strategies.bdog.graphs.relations import RawEdge, RawRemark, raw_edges
from pyvision.text.json_repair import Fix, read_value
from pyvision.text.replies import without_thinking

Repair: TypeAlias = (
    Fix
    | Literal[
        "prose",  # no graph at all: an empty one is returned
        "other_form",  # other keys or another nesting than the canonical ones
        "labelled_lists",  # the lists were in the text without an object around them
        "dot",  # in the language of Graphviz
        "several_graphs",  # the last one counts
        "graph_in_text",  # the graph was a text inside JSON
        "missing_id",
        "shared_id",  # by two different nodes; the second gets another
        "duplicate_node",  # merged
        "duplicate_edge",
        "nameless_item",  # dropped
        "unreadable_edge",  # dropped
        "one_sided_edge",  # it named one node only, and is now an attribute of that
        "bare_items",  # nodes and relations one by one, without a list around them
        "added_endpoint",  # a relation named a missing node, which was added
        "dropped_endpoint",  # a relation named a number that is no node; dropped
        "missing_relation",  # a relation without a word for it
    ]
)

_LABEL = re.compile(r"[\"'*]{0,3}(\w+)[\"'*]{0,3}\s*[:=]\s*[\"'*]{0,3}\s*(?:json\s*)?\Z", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
_OPENING = re.compile(r"[{\[]")
_NUMBERED = re.compile(r"(?:object|node|entity)[ _]?(?:id)?[ _#:]*(\w+)", re.IGNORECASE)  # objectID 2
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


def _candidates(text: str, depth: int = 2) -> Iterator[tuple[RawGraph, set[Repair]]]:
    """Every part of the text that may be a graph; lists that only have labels come last, as one graph."""
    if dot := find_dot(text):
        yield dot, {"dot"}
        return
    labelled: dict[str, Any] = {}
    repairs: set[Repair] = set()
    last: RawGraph | None = None
    bare: list[Any] = []
    all_fixes: set[Repair] = set()
    for before, value, fixes in _values(text):
        label = _LABEL.search(before)
        if label and label[1].casefold() in (*NODE_LISTS, *EDGE_LISTS) and not _has_parts(value):
            labelled.setdefault(label[1].casefold(), value)
            repairs |= fixes
        elif parts := find_raw_graph(value):
            last = parts
            all_fixes |= fixes
            yield parts, set(fixes)
        elif depth and (inside := list(_inside(value, depth))):
            yield from inside
        else:
            bare.append(value)
            all_fixes |= fixes
    if not (last and last.nodes) and not labelled and (parts := bare_graph(bare)):
        yield parts, all_fixes | {"bare_items", "other_form"}
    if parts := find_raw_graph(labelled):
        more: set[Repair] = {"labelled_lists"} if parts.is_canonical else {"labelled_lists", "other_form"}
        last = last or RawGraph()
        nodes, edges = parts.nodes or last.nodes, parts.edges or last.edges
        yield replace(last, nodes=nodes, edges=edges, is_canonical=True), repairs | more


def _values(text: str) -> Iterator[tuple[str, Any, frozenset[Fix]]]:
    """Every object and list of the text, with the end of the text before it. None crosses a fence."""
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


def _inside(value: Any, depth: int) -> Iterator[tuple[RawGraph, set[Repair]]]:
    """Graphs that are texts inside an object, as in {"kg": "{\\"objects\\": …}"}."""
    if isinstance(value, dict):
        for text in value.values():
            if isinstance(text, str) and "{" in text:
                for parts, fixes in _candidates(text, depth - 1):
                    yield parts, fixes | {"graph_in_text"}


def _assemble(parts: RawGraph, fixes: set[Repair]) -> tuple[Graph, set[Repair]]:
    assembly = _Assembly(fixes if parts.is_canonical else fixes | {"other_form"})
    inside = [assembly.add_node(raw) for raw in raw_nodes(parts.nodes)]
    for owner, attributes in assign_attributes(parts.attributes):
        assembly.add_attributes(owner, attributes)
    assembly.add_edges(parts.edges)
    for identity, relations in filter(None, inside):
        for listed in relations:
            assembly.add_edges(listed, identity)
    return assembly.graph, assembly.repairs


class _Assembly:
    """A graph in the making: makes ids unique, resolves ends and merges duplicates."""

    def __init__(self, repairs: set[Repair]) -> None:
        self.repairs = repairs
        self._nodes: dict[str, GraphNode] = {}
        self._edges: dict[Edge, None] = {}
        self._known: dict[str, str] = {}  # casefolded id, name or normalised name -> id; the first one counts

    @property
    def graph(self) -> Graph:
        return Graph(tuple(self._nodes.values()), tuple(self._edges))

    def add_node(self, raw: RawNode | None) -> tuple[str, tuple[Any, ...]] | None:
        """The id that the node now has, and the relations inside it."""
        if raw is None:
            self.repairs.add("nameless_item")
            return None
        if not raw.id:
            self.repairs.add("missing_id")
        identity = raw.id or raw.name
        duplicate = self._duplicate(identity, raw)
        if duplicate is not None:
            self.repairs.add("duplicate_node")
            self._nodes[duplicate] = _merge(self._nodes[duplicate], raw.attributes)
            return duplicate, raw.relations
        if identity in self._nodes:
            if raw.id:
                self.repairs.add("shared_id")
            identity = self._free(identity)
        self._insert(GraphNode(identity, raw.name, raw.attributes))
        return identity, raw.relations

    def add_attributes(self, owner: str, attributes: Any) -> None:
        """Attributes written apart from their nodes; an owner that has some and is no node yet becomes one."""
        identity, is_record = self._find(owner), isinstance(attributes, dict | list) and bool(attributes)
        if identity is None and is_record and owner:
            identity = self._end(owner)
        if identity is None:
            self.repairs.add("nameless_item")
        else:
            self._nodes[identity] = _merge(self._nodes[identity], attribute_pairs(attributes))

    def add_edges(self, listed: Any, source: str = "") -> None:
        found = list(raw_edges(listed, self._known, source))
        if found and found[-1] is None and "truncated" in self.repairs:
            found.pop()  # it was cut
        for raw in found:
            match raw:
                case None:
                    self.repairs.add("unreadable_edge")
                case RawRemark(owner, value):
                    self._add_remark(owner, value)
                case _:
                    self._add_edge(raw)

    def _add_remark(self, owner: str, value: Any) -> None:
        identity = self._end(owner) if owner else None
        self.repairs.add("unreadable_edge" if identity is None else "one_sided_edge")
        if identity is not None:
            self._nodes[identity] = _merge(self._nodes[identity], attribute_pairs(value))

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

    def _end(self, name: str) -> str | None:
        identity = self._find(name)
        if identity is not None:
            return identity
        if name.lstrip("-").isdigit():
            self.repairs.add("dropped_endpoint")
            return None
        self.repairs.add("added_endpoint")
        self._insert(GraphNode(name, name))
        return name

    def _find(self, name: str) -> str | None:
        if name in self._nodes:
            return name
        found = self._known.get(name.casefold()) or self._known.get(normalise(name))
        numbered = None if found else _NUMBERED.fullmatch(name)
        return self._known.get(numbered[1].casefold()) if numbered else found

    def _duplicate(self, identity: str, raw: RawNode) -> str | None:
        """The node that this one repeats: it has the same id and name, or, without an id, everything is the same."""
        there = self._nodes.get(identity)
        if there is None or normalise(there.name) != normalise(raw.name):
            return None
        return identity if raw.id or there.attributes == raw.attributes else None

    def _free(self, identity: str) -> str:
        number = 2
        while f"{identity}_{number}" in self._nodes:
            number += 1
        return f"{identity}_{number}"

    def _insert(self, node: GraphNode) -> None:
        self._nodes[node.id] = node
        for spelling in (node.id.casefold(), node.name.casefold(), normalise(node.name)):
            self._known.setdefault(spelling, node.id)


def _merge(node: GraphNode, attributes: tuple[tuple[str, str], ...]) -> GraphNode:
    return replace(node, attributes=tuple((dict(node.attributes) | dict(attributes)).items()))
