"""What the wires share about tool calls: building them from what arrives, and wording them for an API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyvision.text.native_tool_calls import PartialCell
from pyvision.text.sanitize import parse_json, replace_surrogates
from pyvision.types import Message, ToolCall, ToolOffer

_NAME_CHARS = re.compile(r"[^A-Za-z0-9_-]")
_MOST_NAME_CHARS = 64
_UNNAMED_ARGUMENT = "input"  # of a tool that was not offered


@dataclass(slots=True)
class CallBuilder:
    """A call under way: its arguments in pieces, and the cell that they show."""

    id: str
    name: str
    is_free_form: bool = False
    pieces: list[str] = field(default_factory=list)
    stream: PartialCell = field(default_factory=PartialCell)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def build(self, fallback_id: str) -> ToolCall:
        """The call; an endpoint that gives it no id gets one to refer to."""
        return ToolCall(self.id or fallback_id, self.name, self.arguments, self.is_free_form)


def schema_of(offer: ToolOffer) -> dict[str, Any]:
    """The JSON schema of its arguments."""
    argument = {"type": "string", "description": offer.argument_purpose}
    return {
        "type": "object",
        "properties": {offer.argument: argument},
        "required": [offer.argument],
        "additionalProperties": False,
    }


def arguments_object(call: ToolCall, offers: Iterable[ToolOffer]) -> dict[str, Any]:
    """The arguments as an object: what is none, since it was cut or malformed, becomes the text of its one field."""
    value = None if call.is_free_form else _object_in(call.arguments)
    if value is not None:
        return value
    named = (offer.argument for offer in offers if offer.name == call.name)
    return {next(named, _UNNAMED_ARGUMENT): replace_surrogates(call.arguments)}


def arguments_json(call: ToolCall, offers: Iterable[ToolOffer]) -> str:
    """The arguments as JSON text: as received if they are an object, since servers reject what is none."""
    if not call.is_free_form and _object_in(call.arguments) is not None:
        return replace_surrogates(call.arguments)
    return json.dumps(arguments_object(call, offers), ensure_ascii=False)


def plain_name(call: ToolCall) -> str:
    """The name with the characters that every API accepts."""
    return _NAME_CHARS.sub("_", call.name)[:_MOST_NAME_CHARS] or "unnamed"


def free_form_ids(messages: Iterable[Message]) -> frozenset[str]:
    """The ids of the free-form calls, whose results some APIs word in another way."""
    return frozenset(call.id for message in messages for call in message.calls if call.is_free_form)


def _object_in(arguments: str) -> dict[str, Any] | None:
    try:
        value = parse_json(arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> Mapping[str, Any]:
    raise ValueError(f"{constant} is not JSON")
