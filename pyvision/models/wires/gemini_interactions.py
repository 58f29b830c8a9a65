"""The Interactions API of Google, which it recommends for new work with Gemini, over REST.

Nothing is stored at the endpoint (`store` is false): each request holds the whole conversation as steps. The steps of
a reply (thoughts with their signatures, calls, text) go back as they came, in their order.

The API rejects a call without the signed thought that led to it. So calls that another model wrote, and calls whose
arguments were cut, go back as text together with their results. A result without pictures is sent as plain text:
models before Gemini 3 refuse a list of parts.

There are no log probabilities, and no status of a refusal. The complete steps that Google's function calling guide asks
for, the events and the statuses are those of google-genai 3.4 (types/interactions) and of recorded responses of
October 2026 (CopilotKit/aimock, drift tests); docs/decisions/0010 lists the sources.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import CompletionRequest, Endpoint
from pyvision.models.reply_builder import Item, ReplyBuilder, read_count, texts
from pyvision.models.tool_calls import plain_name, schema_of
from pyvision.models.wires.gemini import GeminiApi, GeminiClient
from pyvision.models.wires.openai_chat import base64_of
from pyvision.text.native_tool_calls import as_text
from pyvision.text.sanitize import parse_json, replace_surrogates
from pyvision.types import Finish, Message, Picture, Text, ToolCall, ToolOffer, Usage

if TYPE_CHECKING:
    import httpx2

_FINISH: Mapping[str, Finish] = {
    "incomplete": "length",
    "requires_continuation": "length",
    "budget_exceeded": "length",
}
_FAILED = ("failed", "cancelled")
_RESOLUTIONS = ("low", "high")  # others: as the model decides
_PARAMETERS = ("temperature", "max_output_tokens", "stop_sequences", "tool_choice")  # in generation_config


def gemini_interactions(config: ModelConfig) -> Endpoint:
    """A model behind the Interactions API of Gemini."""
    return Endpoint(config, _Interactions(config))


class _Interactions(GeminiApi):
    def post(
        self, client: GeminiClient, body: dict[str, Any], timeout: httpx2.Timeout
    ) -> AbstractContextManager[Any]:
        return self.request(client, "interactions", body, timeout)

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        sampling = request.sampling
        parameters = {
            "temperature": sampling.temperature,
            "max_output_tokens": sampling.max_tokens,
            "stop_sequences": list(sampling.stop),
            "tool_choice": sampling.tool_choice if sampling.tools else None,
        }
        detail = self._config.detail if self._config.detail in _RESOLUTIONS else None
        system = "\n\n".join(message.text for message in request.messages if message.role == "system")
        body = {
            "model": (self._config.model or "").removeprefix("models/"),
            "input": _steps(request.messages, {"resolution": detail} if detail else {}),
            "system_instruction": replace_surrogates(system) or None,
            "tools": [_tool(offer) for offer in sampling.tools] or None,
            "generation_config": request.select_accepted(parameters) or None,
            "store": False,
            "stream": request.stream,
        }
        return {name: value for name, value in body.items() if value is not None}

    def droppable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        sent = body.get("generation_config", {})
        names = {name: rf"\b{name}\b" for name in _PARAMETERS if name in sent}
        return names | ({"stream": r"\b[Ss]tream(?:ing)?\b"} if body["stream"] else {})

    def add(self, data: dict[str, Any], builder: ReplyBuilder) -> str:
        """An event, or a whole interaction."""
        match data.get("event_type"):
            case "step.start":
                return _start(data["index"], data["step"], builder)
            case "step.delta":
                return _delta(data["index"], data["delta"], builder)
            case "interaction.completed":
                _end(data["interaction"], builder)
            case "error":
                builder.failure = data
            case None:
                return _whole(data, builder)
        return ""

    def opaque(self, builder: ReplyBuilder) -> Any:
        """All steps, where one of them is a thought or a call: they have to go back together."""
        steps = [step for place in builder.items if (step := _step_back(place, builder))]
        return steps if any(step["type"] != "model_output" for step in steps) else None


def _start(place: object, step: dict[str, Any], builder: ReplyBuilder) -> str:
    """A step, whole or about to be filled by deltas; returns its text. Raises ValueError if it came before."""
    if place in builder.items:
        raise ValueError(f"step {place!r} is opened twice")
    builder.items[place] = Item(dict(step))
    match step["type"]:
        case "thought":
            builder.reasoning.append(texts(step.get("summary")))
        case "function_call":
            builder.open_call(place, str(step["id"]), str(step["name"]))
            if step.get("arguments"):
                builder.add_arguments(place, json.dumps(step["arguments"], ensure_ascii=False))
        case "model_output":
            return texts(step.get("content"))
    return ""


def _delta(place: object, delta: dict[str, Any], builder: ReplyBuilder) -> str:
    item = builder.items[place]
    match delta["type"]:
        case "text":
            item.add("text", delta["text"])
            return str(delta["text"])
        case "thought_signature":
            item.fields["signature"] = delta["signature"]
        case "thought_summary":
            item.fields.setdefault("summary", []).append(delta["content"])
            builder.reasoning.append(str(delta["content"].get("text") or ""))
        case "arguments_delta":
            builder.add_arguments(place, str(delta.get("arguments") or ""))
    return ""


def _step_back(place: object, builder: ReplyBuilder) -> dict[str, Any] | None:
    """A step as it goes back: the text and the arguments that came in pieces are whole; None: it holds nothing."""
    item = builder.items[place]
    match item.fields["type"]:
        case "function_call":
            arguments = builder.calls[place].arguments
            return (
                item.fields
                if item.fields.get("arguments")
                else item.fields | {"arguments": _value(arguments)}
            )
        case "model_output":
            text = "".join(item.pieces.get("text", ()))
            content = [*item.fields.get("content", ()), *([{"type": "text", "text": text}] if text else [])]
            return item.fields | {"content": content} if texts(content) else None
        case "thought" if not item.fields.get("signature"):
            return None
    return item.fields


def _value(arguments: str) -> Any:
    """The arguments as a value; the text itself where it was cut, which no request repeats."""
    try:
        return parse_json(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _whole(interaction: dict[str, Any], builder: ReplyBuilder) -> str:
    steps = interaction.get("steps", [])
    if "status" not in interaction or not isinstance(steps, list):
        raise TypeError(steps)
    text = [_start(place, step, builder) for place, step in enumerate(steps)]
    _end(interaction, builder)
    return "".join(text)


def _end(interaction: dict[str, Any], builder: ReplyBuilder) -> None:
    status = str(interaction["status"])
    builder.has_ended, builder.reason = True, f"status {status}"
    builder.finish = _FINISH.get(status, "end")
    builder.usage = _usage(interaction.get("usage"))
    if status in _FAILED:
        found = interaction.get("errors") or [{"message": f"the interaction has status {status}"}]
        builder.failure = found[0]


def _usage(usage: object) -> Usage:
    """Thoughts are counted apart from the reply, and are paid for like it."""
    return Usage(
        read_count(usage, "total_input_tokens") + read_count(usage, "total_tool_use_tokens"),
        read_count(usage, "total_output_tokens") + read_count(usage, "total_thought_tokens"),
        read_count(usage, "total_cached_tokens"),
    )


def _tool(offer: ToolOffer) -> dict[str, Any]:
    return {
        "type": "function",
        "name": offer.name,
        "description": offer.purpose,
        "parameters": schema_of(offer),
    }


@dataclass(frozen=True, slots=True)
class _Turn:
    """Steps, or content of a step of `kind` that is joined with the turn before if that has the same kind."""

    kind: str
    steps: Sequence[dict[str, Any]] = ()
    content: Sequence[dict[str, Any]] = ()


def _steps(messages: Sequence[Message], resolution: Mapping[str, str]) -> list[dict[str, Any]]:
    names = {
        call.id: plain_name(call) for message in messages if _find_steps(message) for call in message.calls
    }
    turns = [_turn(message, names, resolution) for message in messages if message.role != "system"]
    steps: list[dict[str, Any]] = []
    for kind, group in groupby(turns, key=lambda turn: turn.kind):
        same_kind = list(group)
        content = [part for turn in same_kind for part in turn.content]
        steps += [{"type": kind, "content": content}] if content else []
        steps += [step for turn in same_kind for step in turn.steps]
    return steps


def _turn(message: Message, names: Mapping[str, str], resolution: Mapping[str, str]) -> _Turn:
    if steps := _find_steps(message):
        return _Turn("steps", steps)
    if message.role == "tool" and message.call_id in names:
        return _Turn("steps", [_result(message, names[message.call_id], resolution)])
    kind = "model_output" if message.role == "assistant" else "user_input"
    return _Turn(kind, content=_content(as_text(message), resolution))


def _find_steps(message: Message) -> list[dict[str, Any]]:
    """The steps as they came; where the text was cut, what is left of it follows the thoughts.

    None where there are none, and where calls were cut.
    """
    steps: list[dict[str, Any]] = json.loads(message.opaque.content) if message.opaque else []
    text = "".join(texts(step.get("content")) for step in steps if step["type"] == "model_output")
    calls = [step for step in steps if step["type"] == "function_call"]
    is_whole = all(isinstance(call["arguments"], dict) for call in calls)
    is_same = text == message.text and [call["id"] for call in calls] == [call.id for call in message.calls]
    if is_whole and is_same:
        return steps
    thoughts = [step for step in steps if step["type"] == "thought"]
    if calls or message.calls or not thoughts:
        return []
    return [*thoughts, {"type": "model_output", "content": _content(message, {})}]


def _result(message: Message, name: str, resolution: Mapping[str, str]) -> dict[str, Any]:
    has_picture = any(isinstance(part, Picture) for part in message.parts)
    content = _content(message, resolution) if has_picture else replace_surrogates(message.text)
    is_error = {"is_error": True} if message.is_error else {}
    return {
        "type": "function_result",
        "call_id": message.call_id,
        "name": name,
        "result": content,
    } | is_error


def _content(message: Message, resolution: Mapping[str, str]) -> list[dict[str, Any]]:
    """The parts that hold something: the API refuses empty text."""
    return [
        _part(part, resolution)
        for part in message.parts
        if not isinstance(part, ToolCall) and not (isinstance(part, Text) and not part.text)
    ]


def _part(part: Text | Picture, resolution: Mapping[str, str]) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": replace_surrogates(text)}
        case Picture():
            return {"type": "image", "mime_type": part.mime, "data": base64_of(part), **resolution}
