"""A blueprint graph as a value, and what changed between two graphs: item by item, as counts and as a distance.

Entities have attributes, and relations join them (arXiv 2403.14972, section 4.3).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar

# ---- What changed from one graph to another, item by item, counted, and as a distance (arXiv 2403.14972, section 4.3).


ChangeKind: TypeAlias = Literal["kept", "updated", "pruned", "added"]
Item = TypeVar("Item")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_SEPARATORS = re.compile(r"[\s_\-]+")
_LISTED = re.compile(
    r"\s*(?:,(?!\d)\s*(?:and\s+)?|;|\s&\s|\s\+\s|\sand\s)\s*"
)  # what joins the items of a list
_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SAME = {word: str(number) for number, word in enumerate(_NUMERALS)} | {"color": "colour", "gray": "grey"}
_PLURAL_OF_BE = re.compile(r"^(?:is|are|was|were)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity. attributes: names and values as texts, in order of appearance, no name twice."""

    id: str
    name: str
    attributes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.id or not self.name:
            raise ValueError(f"a node needs an id and a name, not {self.id!r} and {self.name!r}")
        names = [name for name, _ in self.attributes]
        if len(set(names)) != len(names):
            raise ValueError(f"node {self.id!r}: an attribute occurs twice in {names}")


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation, from one node to another by their ids."""

    source: str
    target: str
    relation: str


@dataclass(frozen=True)
class Graph:
    """Nodes and edges. Ids are unique, every edge joins two of the nodes, no edge occurs twice.

    Raises ValueError otherwise. Its canonical form is
    {"nodes": [{"id", "name", "attributes": {…}}], "edges": [{"source", "target", "relation"}]}.
    """

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        ids = {node.id for node in self.nodes}
        if len(ids) != len(self.nodes):
            raise ValueError(f"two nodes share an id: {[node.id for node in self.nodes]}")
        if len(set(self.edges)) != len(self.edges):
            raise ValueError("an edge occurs twice")
        for edge in self.edges:
            if not {edge.source, edge.target} <= ids:
                raise ValueError(f"{edge} joins a node that does not exist; known ids are {sorted(ids)}")

    def __bool__(self) -> bool:
        """Whether it has any nodes."""
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
        """These nodes and the edges between them."""
        edges = tuple(e for e in self.edges if e.source in ids and e.target in ids)
        return replace(self, nodes=tuple(n for n in self.nodes if n.id in ids), edges=edges)


@dataclass(frozen=True, slots=True)
class Changed(Generic[Item]):
    """One item in both graphs; `before` is None if it was added, `after` if it was pruned."""

    before: Item | None
    after: Item | None
    change: ChangeKind

    @property
    def item(self) -> Item:
        """As it is now, or as it was before it was pruned."""
        found = self.before if self.after is None else self.after
        assert found is not None  # one of the two exists
        return found


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How many items of one kind were updated, pruned, added and kept."""

    updated: int = 0
    pruned: int = 0
    added: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """From `before` to `after`. attributes: those of entities that are in both, as (entity id, name, value).

    An entity is updated if its name or attributes changed, a relation if its word did. ids: the id before -> the id
    after of each entity that is in both.
    """

    before: Graph
    after: Graph
    entities: tuple[Changed[GraphNode], ...]
    relations: tuple[Changed[Edge], ...]
    attributes: tuple[Changed[tuple[str, str, str]], ...]
    ids: tuple[tuple[str, str], ...]

    def counts(self) -> dict[str, dict[str, int]]:
        """#updated, #pruned, #added and #kept for entities, relations and attributes, as plain values."""
        kinds: dict[str, Iterable[Changed[Any]]] = {
            "entities": self.entities,
            "relations": self.relations,
            "attributes": self.attributes,
        }
        return {kind: asdict(_count(changed)) for kind, changed in kinds.items()}

    def distance(self, *, count_added: bool = True) -> int:
        """How many entities and relations were updated or pruned, as in the paper's text, or added.

        count_added: if false, a graph that only grew is at distance 0.
        """
        entities, relations = _count(self.entities), _count(self.relations)
        added = entities.added + relations.added if count_added else 0
        return entities.updated + entities.pruned + relations.updated + relations.pruned + added

    def paper_distance(self) -> int:
        """Equation 7 as printed: |V'∩V| + |E'∩E| + |V − V'∩V| + |E − E'∩E|.

        It sums the sizes of the parts of a set, so it is |V| + |E| of the graph before, whatever the next graph is.
        """
        entities, relations = _count(self.entities), _count(self.relations)
        common = entities.kept + entities.updated + relations.kept
        return common + entities.pruned + relations.pruned + relations.updated

    def condensation(self) -> dict[str, int]:
        """The counts of the paper's Figures 4, 8 and 9: attributes updated, entities and relations pruned and added."""
        entities, relations = _count(self.entities), _count(self.relations)
        return {
            "updated": _count(self.attributes).updated,
            "pruned": entities.pruned + relations.pruned,
            "added": entities.added + relations.added,
        }


def normalise(text: str) -> str:
    """A name, value or relation as it is compared: by what it says, not by how it is spelled or joined.

    Without case, articles, separators and a leading is or are; numerals as numbers; "black, blue and yellow" as
    "black, blue, yellow".
    """
    plain = _SEPARATORS.sub(" ", text.casefold()).strip(" .,;:\"'")
    plain = " ".join(_SAME.get(word, word) for word in _LISTED.sub(" , ", plain).split())
    return _PLURAL_OF_BE.sub("", _ARTICLE.sub("", plain)) or text.casefold()


def truncate(graph: Graph, limit: int) -> Graph:
    """The `limit` nodes with the most edges, ties in order of appearance, and the edges between them."""
    ranked = sorted(graph.nodes, key=lambda node: -graph.degrees[node.id])
    return graph.only({node.id for node in ranked[:limit]})


def difference(before: Graph, after: Graph) -> GraphDifference:
    """What changed. Entities are matched by name, then by an id that is a word; see `align`."""
    ids = align(before, after)
    old, new = {n.id: n for n in before.nodes}, {n.id: n for n in after.nodes}
    matched = set(ids.values())
    entities = [_entity(node, new.get(ids.get(node.id, ""))) for node in before.nodes]
    entities += [Changed(None, node, "added") for node in after.nodes if node.id not in matched]
    attributes = [c for start, end in ids.items() for c in _attributes(old[start], new[end])]
    relations = tuple(_relations(before, after, ids))
    return GraphDifference(before, after, tuple(entities), relations, tuple(attributes), tuple(ids.items()))


def align(before: Graph, after: Graph) -> dict[str, str]:
    """The id of each entity of `before` -> its id in `after`; each at most once.

    Four passes join entities with the same key: name and id; name and attributes; name; and the id alone if it is a
    word. An id that ends in a digit does not count there, since models often renumber.
    """
    ids: dict[str, str] = {}
    for key in _KEYS:
        left: dict[object, deque[GraphNode]] = defaultdict(deque)
        taken = set(ids.values())
        for node in after.nodes:
            if node.id not in taken:
                left[key(node)].append(node)
        for node in before.nodes:
            if node.id not in ids and key(node) is not None and left[key(node)]:
                ids[node.id] = left[key(node)].popleft().id
    return ids


def _lines(items: list[dict[str, Any]]) -> str:
    return "[" + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items) + "]"


def _word(identity: str) -> str | None:
    word = normalise(identity)
    return None if word[-1:].isdigit() else word


_KEYS: tuple[Callable[[GraphNode], object], ...] = (
    lambda node: (normalise(node.name), node.id),
    lambda node: (normalise(node.name), tuple(sorted(_comparable(node).items()))),
    lambda node: normalise(node.name),
    lambda node: _word(node.id),
)


def _count(changed: Iterable[Changed[Any]]) -> ItemCounts:
    totals = dict.fromkeys(("updated", "pruned", "added", "kept"), 0)
    for each in changed:
        totals[each.change] += 1
    return ItemCounts(**totals)


def _entity(old: GraphNode, new: GraphNode | None) -> Changed[GraphNode]:
    if new is None:
        return Changed(old, None, "pruned")
    same = normalise(old.name) == normalise(new.name) and _comparable(old) == _comparable(new)
    return Changed(old, new, "kept" if same else "updated")


def _comparable(node: GraphNode) -> dict[str, str]:
    return {normalise(name): normalise(value) for name, value in node.attributes}


def _attributes(old: GraphNode, new: GraphNode) -> Iterator[Changed[tuple[str, str, str]]]:
    were, are = _comparable(old), _comparable(new)
    for name in were | are:
        before = (old.id, name, were[name]) if name in were else None
        after = (new.id, name, are[name]) if name in are else None
        if before is None or after is None:
            yield Changed(before, after, "added" if before is None else "pruned")
        else:
            yield Changed(before, after, "kept" if were[name] == are[name] else "updated")


def _relations(before: Graph, after: Graph, ids: dict[str, str]) -> Iterator[Changed[Edge]]:
    """Relations with equal ends and word are kept; of the others with equal ends, as many as possible are updated."""
    left: dict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in after.edges:
        left[edge.source, edge.target].append(edge)
    changed: dict[Edge, Changed[Edge]] = {}
    for same_word in (True, False):
        for edge in before.edges:
            candidates = left[ids.get(edge.source, ""), ids.get(edge.target, "")]
            found = next((e for e in candidates if not same_word or _same_word(e, edge)), None)
            if edge not in changed and found is not None:
                candidates.remove(found)
                changed[edge] = Changed(edge, found, "kept" if same_word else "updated")
    yield from (changed.get(edge) or Changed(edge, None, "pruned") for edge in before.edges)
    added = {edge for edges in left.values() for edge in edges}
    yield from (Changed(None, edge, "added") for edge in after.edges if edge in added)


def _same_word(one: Edge, other: Edge) -> bool:
    return normalise(one.relation) == normalise(other.relation)
