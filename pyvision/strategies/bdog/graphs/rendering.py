"""The many forms in which models write a graph, as tables of keys; each item is read into one plain record.

The forms are those found in the stored graphs of the paper's code (arXiv 2403.14972, its repository's `data/kg_init`):
objects and relationships, nodes and edges, under a scene or at the top, relations inside objects, attributes as a map,
as a list or apart from their objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyvision.strategies.bdog.graphs.attributes import ATTRIBUTES, attribute_pairs
from pyvision.strategies.bdog.graphs.keys import ID, NAME, by_key, first_of, text_of
from pyvision.strategies.bdog.graphs.relations import EDGE_LISTS, has_ends

NODE_LISTS = ("nodes", "objects", "entities", "object", "elements", "items", "vertices")


@dataclass(frozen=True, slots=True)
class RawNode:
    """A node as it was written: `id` and `name` may be empty; `relations` are those written inside of it."""

    id: str
    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """The lists of a graph before they are read. attributes: those that stood apart from their objects."""

    nodes: Any = ()
    edges: Any = ()
    attributes: Any = ()
    is_canonical: bool = False


def parts_in(value: Any, depth: int = 8) -> Parts | None:
    """The parts of the graph in a value of any form; looks into wrappers, however they are called."""
    if isinstance(value, dict):
        keyed = by_key(value)
        nodes, edges = first_of(keyed, NODE_LISTS), first_of(keyed, EDGE_LISTS)
        if isinstance(nodes, dict | list) or isinstance(edges, list):
            apart = first_of(keyed, ATTRIBUTES)
            return Parts(nodes or (), edges or (), apart or (), set(value) <= {"nodes", "edges"})
        return _wrap(value.values(), depth)
    if isinstance(value, list):
        if any(isinstance(item, dict) and _is_item(by_key(item)) for item in value):
            return _mix(value)
        if value and all(_is_triple(item) for item in value):
            return Parts(edges=value)
        return _wrap(value, depth)
    return None


def raw_nodes(listed: Any) -> Iterator[RawNode | None]:
    """Each node of a list or a map by name; None for an item that says nothing of one."""
    if isinstance(listed, dict):
        for name, told in listed.items():
            yield _keyed_node(str(name), told)
    for item in listed if isinstance(listed, list | tuple) else ():
        if isinstance(item, dict):
            yield _node(item)
        else:
            yield RawNode("", text_of(item)) if text_of(item) else None


def _wrap(values: Any, depth: int) -> Parts | None:
    inner = (parts_in(value, depth - 1) for value in values) if depth else ()
    return next((parts for parts in inner if parts is not None), None)


def _mix(items: list[Any]) -> Parts:
    """Nodes and edges in one list, told apart by their keys."""
    records = [(item, has_ends(by_key(item))) for item in items if isinstance(item, dict)]
    nodes = [item for item, is_edge in records if not is_edge]
    return Parts(nodes, [item for item, is_edge in records if is_edge])


def _is_item(keyed: Mapping[str, Any]) -> bool:
    name = first_of(keyed, (*NAME, *ID))
    return isinstance(name, str | int) or has_ends(keyed)


def _is_triple(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 3 and all(isinstance(part, str) for part in item)


def _keyed_node(name: str, told: Any) -> RawNode | None:
    """A node of a map: its key is its name, or its id where it has a name of its own."""
    if not isinstance(told, dict):
        return RawNode("", text_of(name), attribute_pairs(told))
    if first_of(by_key(told), ("name", "label")) is None:
        return _node({"name": name, **told})
    node = _node(told)
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
