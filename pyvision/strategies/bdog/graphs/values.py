"""A blueprint graph as a value: entities with attributes, and relations between them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_SEPARATORS = re.compile(r"[\s_\-]+")
_PLURAL_OF_BE = re.compile(r"^(?:is|are|was|were)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Node:
    """An entity. attributes: names and values as texts, in order of appearance, no name twice."""

    id: str
    name: str
    attributes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.id or not self.name:
            raise ValueError(f"a node needs an id and a name, not {self.id!r} and {self.name!r}")
        names = [name for name, _ in self.attributes]
        if len(set(names)) != len(names):
            raise ValueError(f"node {self.id!r}: an attribute stands twice in {names}")


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation, from one node to another by their ids."""

    source: str
    target: str
    relation: str


@dataclass(frozen=True)
class Graph:
    """Nodes and edges. Ids are unique, every edge joins two of the nodes, no edge stands twice.

    Raises ValueError where that does not hold. Its canonical form is
    {"nodes": [{"id", "name", "attributes": {…}}], "edges": [{"source", "target", "relation"}]}.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        ids = {node.id for node in self.nodes}
        if len(ids) != len(self.nodes):
            raise ValueError(f"two nodes share an id: {[node.id for node in self.nodes]}")
        if len(set(self.edges)) != len(self.edges):
            raise ValueError("an edge stands twice")
        for edge in self.edges:
            if not {edge.source, edge.target} <= ids:
                raise ValueError(f"{edge} joins a node that there is not; known ids are {sorted(ids)}")

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.nodes)

    @cached_property
    def degrees(self) -> Counter[str]:
        """How many edges end at each node, by its id; a loop counts twice."""
        return Counter(end for edge in self.edges for end in (edge.source, edge.target))

    def plain(self) -> dict[str, Any]:
        """The canonical form as plain values, fit for JSON."""
        nodes = [{"id": n.id, "name": n.name, "attributes": dict(n.attributes)} for n in self.nodes]
        edges = [{"source": e.source, "target": e.target, "relation": e.relation} for e in self.edges]
        return {"nodes": nodes, "edges": edges}

    def json(self) -> str:
        """The canonical form as JSON, one node or edge a line."""
        plain = self.plain()
        return "{" + ",\n ".join(f'"{key}": {_lines(plain[key])}' for key in ("nodes", "edges")) + "}"

    def only(self, ids: Collection[str]) -> Graph:
        """The part that these nodes span."""
        edges = tuple(e for e in self.edges if e.source in ids and e.target in ids)
        return replace(self, nodes=tuple(n for n in self.nodes if n.id in ids), edges=edges)


def normalise(text: str) -> str:
    """A name, value or relation as it is compared: case, articles, separators and a leading is or are set aside."""
    plain = _SEPARATORS.sub(" ", text.casefold()).strip(" .,;:\"'")
    return _PLURAL_OF_BE.sub("", _ARTICLE.sub("", plain)) or text.casefold()


def truncate(graph: Graph, limit: int) -> Graph:
    """The `limit` best connected nodes, ties in order of appearance, and the edges among them."""
    ranked = sorted(graph.nodes, key=lambda node: -graph.degrees[node.id])
    return graph.only({node.id for node in ranked[:limit]})


def _lines(items: list[dict[str, Any]]) -> str:
    return "[" + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items) + "]"
