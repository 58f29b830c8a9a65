"""The attributes of a node, as a map, a list, words, or apart from their node, read into names and texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from pyvision.strategies.bdog.graphs.keys import by_key, first_of, text_of

ATTRIBUTES = ("attributes", "attribute", "attrs", "properties", "props")


def attribute_pairs(*told: Any) -> tuple[tuple[str, str], ...]:
    """Attributes of any form as names and texts; of a name that stands twice, both values."""
    pairs: dict[str, str] = {}
    for name, value in chain.from_iterable(_pairs(each) for each in told):
        if name and value and value not in pairs.get(name, "").split(", "):
            pairs[name] = f"{pairs[name]}, {value}" if name in pairs else value
        elif name:
            pairs.setdefault(name, value)
    return tuple(pairs.items())


def assign_attributes(told: Any) -> Iterator[tuple[str, Any]]:
    """Attributes that stood apart: to which node they belong, and what they say."""
    if isinstance(told, dict):
        yield from ((str(owner), what) for owner, what in told.items())
    for item in told if isinstance(told, list) else ():
        if isinstance(item, dict):
            keyed = by_key(item)
            owner = first_of(keyed, ("object", "objectid", "id", "entity", "node", "subject"))
            inner = first_of(keyed, ATTRIBUTES)
            yield text_of(owner), [{"name": inner, "value": keyed["value"]}] if "value" in keyed else inner


def _pairs(told: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    match told:
        case dict():
            for key, value in told.items():
                name = prefix + text_of(key)
                if isinstance(value, dict):
                    yield from _pairs(value, f"{name}.")
                elif value is not None:
                    yield name, text_of(value)
        case list():
            for item in told:
                yield from _list_pairs(item, prefix)
        case None:
            return
        case _:
            yield from _list_pairs(told, prefix)


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
