"""Relations as models write them, with any of the keys that were seen, as lists, arrows or sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyvision.strategies.bdog.graphs.keys import by_key, first_of, text_of

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
class RawEdge:
    """A relation as it was written; an end is an id or a name, or empty inside a node."""

    source: str
    relation: str
    target: str


def raw_edges(listed: Any, names: Mapping[str, str], source: str = "") -> Iterator[RawEdge | None]:
    """Each relation of a list; None for an item that names no two ends.

    names: casefolded names and ids of the nodes, for relations written as sentences. source: the node inside of
    which they stand.
    """
    if isinstance(listed, dict):
        keyed = by_key(listed)
        if first_of(keyed, _TARGET) is not None:
            listed = [listed]
        else:
            listed = [{"relation": name, "target": target} for name, target in listed.items()]
    for item in listed if isinstance(listed, list | tuple) else (listed,):
        yield from _edges(item, names, source)


def has_ends(keyed: Mapping[str, Any]) -> bool:
    """Whether a record is a relation: it names where it starts and where it ends."""
    source = first_of(keyed, _SOURCE)
    return source is not None and first_of(keyed, _TARGET) is not None


def _edges(item: Any, names: Mapping[str, str], source: str) -> Iterator[RawEdge | None]:
    match item:
        case dict():
            yield from _keyed_edges(by_key(item), source)
        case [first, second, third]:
            ends = (
                (first, third, second) if _is_known(second, names) and not _is_known(third, names) else item
            )
            yield RawEdge(text_of(ends[0]), text_of(ends[1]), text_of(ends[2])) if text_of(first) else None
        case str():
            yield _format(item, names, source)
        case _:
            yield None


def _keyed_edges(keyed: Mapping[str, Any], source: str) -> Iterator[RawEdge | None]:
    start, ends = first_of(keyed, _SOURCE), first_of(keyed, _TARGET)
    both = first_of(keyed, _BOTH_ENDS)
    if isinstance(both, list) and len(both) > 1:
        start, ends = both[0], both[1:]
    relation = next((text_of(keyed[key]) for key in _RELATION if keyed.get(key) is not None), "")
    start_text = text_of(start) or source
    for end in ends if isinstance(ends, list) else [ends]:
        yield RawEdge(start_text, relation, text_of(end)) if start_text and text_of(end) else None


def _format(sentence: str, names: Mapping[str, str], source: str) -> RawEdge | None:
    """A relation as an arrow chain, or as a sentence that begins and ends with nodes."""
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
