"""Relations in the forms in which models write them: records, triples, arrows, sentences, maps by node or by relation.

A relation that names only one node is still read: what it says is kept as an attribute of that node (`RawRemark`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyvision.strategies.bdog.graphs.forms import (
    SOURCE,
    TARGET,
    by_key,
    ends_of,
    first_of,
    has_ends,
    text_of,
)
from pyvision.strategies.bdog.graphs.graph import normalise

_RELATION = (
    *("relation", "relationship", "predicate", "type", "label", "name", "relationtype", "edge", "verb"),
    *("relationshiptype", "interaction", "description", "action"),
)
_BOTH_ENDS = ("objects", "entities", "nodes", "between")
_ARROW = re.compile(r"\s*(?:-+>|=+>|→)\s*|\s+-{1,2}\s+")
_DEPTH = 4  # of maps in maps

Names: TypeAlias = Mapping[str, str]  # casefolded names and ids of the nodes


@dataclass(frozen=True, slots=True)
class RawEdge:
    """A relation as the model wrote it; an end is an id or a name."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class RawRemark:
    """What a relation says that names one node only."""

    owner: str
    value: Any


Raw: TypeAlias = RawEdge | RawRemark | None  # None: an item that cannot be read


def raw_edges(listed: Any, names: Names, source: str = "", depth: int = _DEPTH) -> Iterator[Raw]:
    """Each relation of a list or a map. source: the node that contains it, or that it is about."""
    match listed:
        case dict() if source:
            yield from _about(source, listed, names, depth) if depth else (RawRemark(source, listed),)
        case dict():
            yield from _edges_of_map(listed, names, source, depth)
        case list() | tuple():
            for item in listed:
                yield from _edges_of_item(item, names, source, depth)
        case _:
            yield from _edges_of_item(listed, names, source, depth)


def _edges_of_item(item: Any, names: Names, source: str, depth: int) -> Iterator[Raw]:
    match item:
        case dict() if source and not _has_end(item):
            yield from _about(source, item, names, depth - 1) if depth else (RawRemark(source, item),)
        case dict():
            yield from _edges_of_map(item, names, source, depth)
        case [first, second, third]:
            swapped = _is_known(second, names) and not _is_known(third, names)
            ends = (first, third, second) if swapped else item
            yield RawEdge(text_of(ends[0]), text_of(ends[1]), text_of(ends[2])) if text_of(first) else None
        case str() if item.strip():
            yield _edge_of_sentence(item, names, source) or (RawRemark(source, item) if source else None)
        case _:
            yield None


def _edges_of_map(
    record: Mapping[str, Any], names: Names, source: str, depth: int, relation: str = ""
) -> Iterator[Raw]:
    keyed = by_key(record)
    start, ends = ends_of(keyed)
    both = first_of(keyed, _BOTH_ENDS)
    if isinstance(both, list) and len(both) > 1:
        start, ends = both[0], both[1:]
    start = text_of(start) or source
    word = " ".join(part for part in (relation, _word_in(keyed)) if part)
    if start and text_of(ends):
        for end in ends if isinstance(ends, list) else [ends]:
            yield RawEdge(start, word, text_of(end)) if text_of(end) else None
    elif len(named := list(_mentions(record, names))) > 1 or (named and source):
        yield from _between([("", source), *named] if source else named, word)
    elif owner := start or text_of(ends) or (named[0][1] if named and word else ""):
        rest = {key: value for key, value in record.items() if text_of(value) not in (owner, _word_in(keyed))}
        yield RawRemark(owner, {word: rest or True}) if word else None
    elif not relation and keyed and not keyed.keys() & {*SOURCE, *TARGET} and depth:
        for key, value in record.items():
            yield from _edges_of_pair(str(key), value, names, depth - 1)
    else:
        yield None


def _mentions(record: Mapping[str, Any], names: Names) -> Iterator[tuple[str, str]]:
    """The nodes that the values of a record name, with their keys; lists and records in it are looked through."""
    for key, value in record.items():
        for each in value if isinstance(value, list) else [value]:
            if _is_known(each, names):
                yield str(key), text_of(each)
            elif isinstance(each, dict):
                yield from ((str(key), text_of(inner)) for inner in each.values() if _is_known(inner, names))


def _between(named: list[tuple[str, str]], word: str) -> Iterator[Raw]:
    (_, first), *others = dict.fromkeys(named)
    yield from (RawEdge(first, word or key, other) for key, other in others)


def _edges_of_pair(key: str, value: Any, names: Names, depth: int) -> Iterator[Raw]:
    """An entry of a map: by node, such as {"cat": "sits on the mat"}, or by relation, such as {"near": [...]}."""
    is_nested = isinstance(value, dict) and (has_ends(by_key(value)) or first_of(by_key(value), _BOTH_ENDS))
    if not _is_known(key, names) and is_nested:
        yield from _edges_of_map(value, names, "", depth, key)
    elif (
        not _is_known(key, names)
        and isinstance(value, list)
        and any(isinstance(each, dict) for each in value)
    ):
        yield from raw_edges(value, names, "", depth)
    elif (
        not _is_known(key, names) and isinstance(value, str) and (edge := _edge_of_sentence(value, names, ""))
    ):
        yield edge
    else:
        yield from _about(key, value, names, depth)


def _about(owner: str, value: Any, names: Names, depth: int) -> Iterator[Raw]:
    match value:
        case str():
            whole = _edge_of_sentence(f"{owner} {value}", names, owner)
            yield whole or _edge_of_sentence(value, names, owner) or RawRemark(owner, value)
        case dict() if not has_ends({**by_key(value), "source": owner}):
            for key, inner in value.items():
                if _is_known(key, names) and isinstance(inner, str | int) and not _is_known(inner, names):
                    yield RawEdge(owner, text_of(inner), str(key))
                else:
                    yield from _to_targets(owner, str(key), inner, names, depth)
        case dict():
            yield from _edges_of_map(value, names, owner, depth)
        case list() if depth:
            yield from raw_edges(value, names, owner, depth - 1)
        case _:
            yield RawRemark(owner, value)


def _to_targets(source: str, relation: str, value: Any, names: Names, depth: int) -> Iterator[Raw]:
    match value:
        case None | bool():
            yield RawRemark(source, {relation: value})
        case list():
            for each in value:
                yield from _to_targets(source, relation, each, names, 0 if isinstance(each, list) else depth)
        case dict() if _is_map_of_nodes(value, names):
            for target, word in value.items():
                known = _is_known(target, names)
                label = f"{relation} {text_of(word)}".strip()
                yield RawEdge(source, label, str(target)) if known else RawRemark(source, {label: target})
        case dict() if depth:
            yield from _edges_of_map(value, names, source, depth - 1, relation)
        case str() | int() | float() if text_of(value):
            yield RawEdge(source, relation, text_of(value))
        case _:
            yield RawRemark(source, {relation: value})


def _is_map_of_nodes(value: Mapping[str, Any], names: Names) -> bool:
    return any(_is_known(key, names) for key in value)


def _has_end(item: Mapping[str, Any]) -> bool:
    keyed = by_key(item)
    return (
        first_of(keyed, TARGET) is not None
        or bool(_word_in(keyed))
        or first_of(keyed, _BOTH_ENDS) is not None
    )


def _word_in(keyed: Mapping[str, Any]) -> str:
    return next((text_of(keyed[key]) for key in _RELATION if keyed.get(key) is not None), "")


def _edge_of_sentence(sentence: str, names: Names, source: str) -> RawEdge | None:
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


def _is_known(value: Any, names: Names) -> bool:
    text = text_of(value)
    return bool(text) and (text.casefold() in names or normalise(text) in names)
