"""Find things in records that models wrote, however their keys are spelt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

ID = ("id", "objectid", "nodeid", "entityid", "ref")
NAME = ("name", "label", "object", "entity", "node", "type", "class", "category", "title")


def by_key(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record under keys without case, spaces and underscores: objectID and object_id are one."""
    return {re.sub(r"[\W_]+", "", str(key)).casefold(): value for key, value in record.items()}


def first_of(keyed: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The first of the keys that is there and not null, in their order; None where none is."""
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
