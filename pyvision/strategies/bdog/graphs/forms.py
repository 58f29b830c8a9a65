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
_OWNER = ("object", "objectid", "id", "entity", "node", "subject")  # of attributes apart from their objects
SOURCE = (
    *(
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
    ),
    *("sourceobject", "fromid", "object1id", "objectid1", "sourceobjectid", "subjectobjectid", "subjects"),
)
TARGET = (
    *(
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
    ),
    *("relatedobjectid", "relatedobject", "relatedto", "targetobject", "toid", "object2id", "objectid2"),
    *("targetobjectid", "relatedid", "relatedentity", "targetentity", "objectobjectid"),
)


@dataclass(frozen=True, slots=True)
class RawNode:
    """A node as the model wrote it. `id` may be empty; `relations` are those written inside the node."""

    id: str
    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[Any, ...] = ()


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
        return RawGraph(value) if _is_map_of_nodes(value) else _wrap(value.values(), depth)
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
            yield from _nodes_of(item)
        else:
            yield RawNode("", text_of(item)) if text_of(item) else None


def bare_graph(items: list[Any]) -> RawGraph | None:
    """The graph of objects that stand one by one in a text, without a list around them."""
    named = [item for item in items if isinstance(item, dict) and _is_bare(by_key(item))]
    return _mix(named) if named else None


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
            yield from _parse_assignment(item)


def _parse_assignment(item: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """{"object": "cup", "colour": "red"}, {"cup": {"colour": "red"}}, or {"attribute": "red", "objects": ["cup"]}."""
    keyed = by_key(item)
    owner, inner, owners = first_of(keyed, _OWNER), first_of(keyed, ATTRIBUTES), keyed.get("objects")
    if owner is None and isinstance(inner, str) and isinstance(owners, list):
        yield from ((text_of(each), [inner]) for each in owners)
    elif owner is None and inner is None and all(isinstance(each, dict | list) for each in item.values()):
        yield from ((str(name), attributes) for name, attributes in item.items())
    elif owner is not None and inner is None:
        yield (
            text_of(owner),
            {key: each for key, each in item.items() if not by_key({key: None}).keys() & {*_OWNER}},
        )
    else:
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


def _is_bare(keyed: Mapping[str, Any]) -> bool:
    name = first_of(keyed, ("name", "object", "entity", "label", "id"))
    return "answer" not in keyed and (isinstance(name, str) or has_ends(keyed))


def _is_map_of_nodes(value: Mapping[str, Any]) -> bool:
    """Whether the values are nodes, as in {"table": {"attributes": …}, "cup": {…}}."""
    inner = [by_key(each) for each in value.values() if isinstance(each, dict)]
    own = {*ATTRIBUTES, *EDGE_LISTS}
    is_nested = any(isinstance(first_of(each, NODE_LISTS), dict | list) for each in inner)
    return len(inner) == len(value) > 0 and not is_nested and any(each.keys() & own for each in inner)


def _nodes_of(item: Mapping[str, Any]) -> Iterator[RawNode | None]:
    """The node of an item, or those that its keys name: {"table": {…}}, {"planet": "Earth", "attributes": {…}}."""
    node = _node(item)
    if node is not None:
        yield node
        return
    own = {*ATTRIBUTES, *EDGE_LISTS}
    rest = {key: value for key, value in item.items() if not by_key({key: None}).keys() & own}
    plain = [key for key, value in rest.items() if isinstance(value, str | int) and text_of(value)]
    if plain and (len(rest) < len(item) or len(item) > 1) and not _is_map_of_nodes(rest):
        key = next((key for key in plain if re.search(r"(?:name|type|id)\Z", key, re.IGNORECASE)), plain[0])
        others = {other: value for other, value in item.items() if other != key}
        yield _node({"name": item[key], "kind": key, **others})
    elif rest:
        yield from (_node_of_key(str(key), value) for key, value in rest.items())
    else:
        inner = first_of(by_key(item), ATTRIBUTES)
        yield _node({**inner, **item}) if isinstance(inner, dict) else None


def _node_of_key(name: str, value: Any) -> RawNode | None:
    """A node of a map: its key is its name, or its id if the node also has a name."""
    if not text_of(name):
        return None
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
    return None not in ends_of(keyed)


def ends_of(keyed: Mapping[str, Any]) -> tuple[Any, Any]:
    """The two ends of a relation; `object` is the first one beside another key for the second. None: not named."""
    source, target = first_of(keyed, SOURCE), first_of(keyed, TARGET)
    if source is None and target is not None:
        own = ("object", "objectid")
        others = {key: value for key, value in keyed.items() if key not in own}
        subject, other = first_of(keyed, own), first_of(others, TARGET)
        return (subject, other) if other is not None else (None, target)
    return source, target


def _pairs(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for key, inner in value.items():
                name = prefix + text_of(key)
                if isinstance(inner, dict):
                    yield from _pairs(inner, f"{name}.")
                elif inner is not None:
                    yield name, _describe(inner)
        case list():
            for item in value:
                yield from _list_pairs(item, prefix)
        case None:
            return
        case _:
            yield from _list_pairs(value, prefix)


def _describe(value: Any) -> str:
    """A value as one line, with all that records in it say: names without their keys, each once."""
    match value:
        case list() | tuple():
            return ", ".join(filter(None, map(_describe, value)))
        case dict():
            without_key = (*ID, "name", "label", "text", *ATTRIBUTES)
            parts = [
                part if key in without_key else f"{key} {part}"
                for key, part in ((text_of(key), _describe(inner)) for key, inner in value.items())
                if part
            ]
            return " ".join(dict.fromkeys(parts))
        case _:
            return text_of(value)


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
