"""The many forms in which models write a graph, as tables of keys; each item is read into one plain record.

The forms are those in the stored graphs of the paper's code (arXiv 2403.14972, its repository's `data/kg_init`):
objects and relationships, nodes and edges, below a scene or at the top level, relations inside objects, attributes as a
map, as a list or apart from their objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

ID = ("id", "objectid", "nodeid", "entityid", "ref")
NAME = ("name", "label", "object", "entity", "node", "type", "class", "category", "title")
ATTRIBUTES = ("attributes", "attribute", "attrs", "properties", "props")
NODE_LISTS = ("nodes", "objects", "entities", "object", "elements", "items", "vertices")
EDGE_LISTS = (
    "edges",
    "relationships",
    "relations",
    "relationship",
    "relation",
    "links",
    "triples",
    "triplets",
)
_SOURCE = (
    "source",
    "subject",
    "from",
    "object1",
    "sourceid",
    "subjectid",
    "head",
    "entity1",
    "node1",
    "src",
    "start",
)
_TARGET = (
    "target",
    "object",
    "to",
    "object2",
    "targetid",
    "objectid",
    "tail",
    "entity2",
    "node2",
    "dst",
    "end",
    "with",
)
_RELATION = ("relation", "relationship", "predicate", "type", "label", "name", "relationtype", "edge", "verb")
_BOTH_ENDS = ("objects", "entities", "nodes", "between")
_ARROW = re.compile(r"\s*(?:-+>|=+>|→)\s*|\s+-{1,2}\s+")


@dataclass(frozen=True, slots=True)
class RawNode:
    """A node as the model wrote it. `id` may be empty; `relations` are those written inside the node."""

    id: str
    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class RawEdge:
    """A relation as the model wrote it; an end is an id or a name."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class RawGraph:
    """The lists of a graph before they are parsed. attributes: those written apart from their objects."""

    nodes: Any = ()
    edges: Any = ()
    attributes: Any = ()
    is_canonical: bool = False


def find_raw_graph(value: Any, depth: int = 8) -> RawGraph | None:
    """The graph in a value of any form; it may be nested in other objects, whatever their keys."""
    if isinstance(value, dict):
        keyed = by_key(value)
        nodes, edges = first_of(keyed, NODE_LISTS), first_of(keyed, EDGE_LISTS)
        if isinstance(nodes, dict | list) or isinstance(edges, list):
            apart = first_of(keyed, ATTRIBUTES)
            return RawGraph(nodes or (), edges or (), apart or (), set(value) <= {"nodes", "edges"})
        return _wrap(value.values(), depth)
    if isinstance(value, list):
        if any(isinstance(item, dict) and _is_item(by_key(item)) for item in value):
            return _mix(value)
        if value and all(_is_triple(item) for item in value):
            return RawGraph(edges=value)
        return _wrap(value, depth)
    return None


def raw_nodes(listed: Any) -> Iterator[RawNode | None]:
    """Each node of a list, or of a map by name; None for an item that describes no node."""
    if isinstance(listed, dict):
        for name, value in listed.items():
            yield _node_of_key(str(name), value)
    for item in listed if isinstance(listed, list | tuple) else ():
        if isinstance(item, dict):
            yield _node(item)
        else:
            yield RawNode("", text_of(item)) if text_of(item) else None


def raw_edges(listed: Any, names: Mapping[str, str], source: str = "") -> Iterator[RawEdge | None]:
    """Each relation of a list; None for an item that does not name two ends.

    names: casefolded names and ids of the nodes, for relations written as sentences. source: the node that contains
    the list.
    """
    if isinstance(listed, dict):
        keyed = by_key(listed)
        if first_of(keyed, _TARGET) is not None:
            listed = [listed]
        else:
            listed = [{"relation": name, "target": target} for name, target in listed.items()]
    for item in listed if isinstance(listed, list | tuple) else (listed,):
        yield from _edges(item, names, source)


def attribute_pairs(*values: Any) -> tuple[tuple[str, str], ...]:
    """Attributes of any form as names and texts; a name that occurs twice gets both values."""
    pairs: dict[str, str] = {}
    for name, value in chain.from_iterable(_pairs(each) for each in values):
        if name and value and value not in pairs.get(name, "").split(", "):
            pairs[name] = f"{pairs[name]}, {value}" if name in pairs else value
        elif name:
            pairs.setdefault(name, value)
    return tuple(pairs.items())


def assign_attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Attributes written apart from their nodes: the node that each belongs to, and its attributes."""
    if isinstance(value, dict):
        yield from ((str(owner), attributes) for owner, attributes in value.items())
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            keyed = by_key(item)
            owner = first_of(keyed, ("object", "objectid", "id", "entity", "node", "subject"))
            inner = first_of(keyed, ATTRIBUTES)
            yield text_of(owner), [{"name": inner, "value": keyed["value"]}] if "value" in keyed else inner


def by_key(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with keys without case, spaces and underscores: objectID and object_id are the same."""
    return {re.sub(r"[\W_]+", "", str(key)).casefold(): value for key, value in record.items()}


def first_of(keyed: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of the keys that is present and not null, or None."""
    return next((keyed[key] for key in keys if keyed.get(key) is not None), None)


def text_of(value: Any) -> str:
    """A value as one line of text: a record by its id or name, a list joined."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case dict():
            return text_of(first_of(by_key(value), (*ID, *NAME)))
        case list() | tuple():
            return ", ".join(filter(None, map(text_of, value)))
        case _:
            return " ".join(str(value).split())


def _wrap(values: Any, depth: int) -> RawGraph | None:
    inner = (find_raw_graph(value, depth - 1) for value in values) if depth else ()
    return next((parts for parts in inner if parts is not None), None)


def _mix(items: list[Any]) -> RawGraph:
    """Nodes and edges in one list, distinguished by their keys."""
    records = [(item, has_ends(by_key(item))) for item in items if isinstance(item, dict)]
    nodes = [item for item, is_edge in records if not is_edge]
    return RawGraph(nodes, [item for item, is_edge in records if is_edge])


def _is_item(keyed: Mapping[str, Any]) -> bool:
    name = first_of(keyed, (*NAME, *ID))
    return isinstance(name, str | int) or has_ends(keyed)


def _is_triple(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 3 and all(isinstance(part, str) for part in item)


def _node_of_key(name: str, value: Any) -> RawNode | None:
    """A node of a map: its key is its name, or its id if the node also has a name."""
    if not isinstance(value, dict):
        return RawNode("", text_of(name), attribute_pairs(value))
    if first_of(by_key(value), ("name", "label")) is None:
        return _node({"name": name, **value})
    node = _node(value)
    return node and RawNode(node.id or text_of(name), node.name, node.attributes, node.relations)


def _node(item: Mapping[str, Any]) -> RawNode | None:
    keyed = by_key(item)
    name_key = next((key for key in NAME if isinstance(keyed.get(key), str | int)), None)
    identity = text_of(first_of(keyed, ID))
    name = text_of(keyed[name_key]) if name_key else identity
    inner = first_of(keyed, ATTRIBUTES)
    used = {name_key, *ID, *ATTRIBUTES, *EDGE_LISTS}
    rest = {key: value for key, value in item.items() if not by_key({key: None}).keys() & used}
    relations = tuple(keyed[key] for key in EDGE_LISTS if keyed.get(key))
    if not name:
        return None
    return RawNode(identity, name, attribute_pairs(rest, inner), relations)


def has_ends(keyed: Mapping[str, Any]) -> bool:
    """Whether a record is a relation: it names both ends."""
    source = first_of(keyed, _SOURCE)
    return source is not None and first_of(keyed, _TARGET) is not None


def _edges(item: Any, names: Mapping[str, str], source: str) -> Iterator[RawEdge | None]:
    match item:
        case dict():
            yield from _edges_of_record(by_key(item), source)
        case [first, second, third]:
            ends = (
                (first, third, second) if _is_known(second, names) and not _is_known(third, names) else item
            )
            yield RawEdge(text_of(ends[0]), text_of(ends[1]), text_of(ends[2])) if text_of(first) else None
        case str():
            yield _edge_of_sentence(item, names, source)
        case _:
            yield None


def _edges_of_record(keyed: Mapping[str, Any], source: str) -> Iterator[RawEdge | None]:
    start, ends = first_of(keyed, _SOURCE), first_of(keyed, _TARGET)
    both = first_of(keyed, _BOTH_ENDS)
    if isinstance(both, list) and len(both) > 1:
        start, ends = both[0], both[1:]
    relation = next((text_of(keyed[key]) for key in _RELATION if keyed.get(key) is not None), "")
    start_text = text_of(start) or source
    for end in ends if isinstance(ends, list) else [ends]:
        yield RawEdge(start_text, relation, text_of(end)) if start_text and text_of(end) else None


def _edge_of_sentence(sentence: str, names: Mapping[str, str], source: str) -> RawEdge | None:
    """A relation written with arrows, or as a sentence that begins and ends with nodes."""
    parts = [part for part in _ARROW.split(sentence.strip()) if part]
    if len(parts) == 3:
        return RawEdge(*parts)
    plain = " ".join(sentence.casefold().split()).rstrip(".")
    start = max((name for name in names if plain.startswith(f"{name} ")), key=len, default="")
    rest = plain[len(start) :].strip()
    end = max((name for name in names if f" {rest}".endswith(f" {name}")), key=len, default="")
    relation = rest.removesuffix(end).strip() if end else ""
    relation = relation.removesuffix(" the").removesuffix(" a")
    return RawEdge(start or source, relation, end) if (start or source) and end and relation else None


def _is_known(value: Any, names: Mapping[str, str]) -> bool:
    return text_of(value).casefold() in names


def _pairs(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for key, inner in value.items():
                name = prefix + text_of(key)
                if isinstance(inner, dict):
                    yield from _pairs(inner, f"{name}.")
                elif inner is not None:
                    yield name, text_of(inner)
        case list():
            for item in value:
                yield from _list_pairs(item, prefix)
        case None:
            return
        case _:
            yield from _list_pairs(value, prefix)


def _list_pairs(item: Any, prefix: str) -> Iterator[tuple[str, str]]:
    """An attribute of a list: `red`, `colour: red`, {"colour": "red"} or {"name": "colour", "value": "red"}."""
    if isinstance(item, dict):
        keyed = by_key(item)
        name = first_of(keyed, ("name", "key", "attribute", "type"))
        is_record = "value" in keyed and name is not None
        yield from [(prefix + text_of(name), text_of(keyed["value"]))] if is_record else _pairs(item, prefix)
    elif isinstance(item, list):
        yield from _pairs(item, prefix)
    else:
        name, separator, value = text_of(item).partition(":")
        yield prefix + name.strip(), value.strip() if separator else "true"
