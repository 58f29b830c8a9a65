"""The Interactions API of Gemini: steps in and out, and the events of a stream as they were recorded from it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.conversation import Failure, Oddity, ServedCall, ServedReply, Turn, tokens_of

_ROLES = {"user_input": "user", "model_output": "assistant", "function_result": "tool"}


class Interactions:
    """POST …/interactions."""

    path = "/interactions"

    def read(self, body: dict[str, Any]) -> Mapping[str, Any]:
        system = body.get("system_instruction")
        settings = body.get("generation_config", {})
        spoken = (step for step in body["input"] if step["type"] in _ROLES)
        return {
            "turns": (*((Turn("system", (system,)),) if system else ()), *map(_turn, spoken)),
            "stop": tuple(settings.get("stop_sequences") or ()),
            "limit": settings.get("max_output_tokens"),
        }

    def whole(self, reply: ServedReply) -> dict[str, Any]:
        return _interaction(reply) | {"steps": list(_steps(reply))}

    def events(self, reply: ServedReply, body: dict[str, Any]) -> Iterator[str]:
        """A call that is cut comes as far as it was written."""
        yield _event("interaction.created", interaction={"id": "", "status": "in_progress"})
        yield _event("interaction.status_update", interaction_id="", status="in_progress")
        for index, (start, deltas) in enumerate(_pieces(reply)):
            yield _event("step.start", index=index, step=start)
            for delta in deltas:
                yield _event("step.delta", index=index, delta=delta)
            yield _event("step.stop", index=index)
        yield _event("interaction.completed", interaction=_interaction(reply) | {"id": ""})
        yield "event: done\ndata: [DONE]\n\n"

    def error(self, failure: Failure) -> dict[str, Any]:
        return {"error": {"message": failure.message, "code": failure.code or "invalid_request"}}

    def odd(self, oddity: Oddity) -> dict[str, Any]:
        call = {"type": "function_call", "id": "c", "name": "look", "arguments": {}}
        done = _interaction(ServedReply(""))
        bodies: Mapping[Oddity, dict[str, Any]] = {
            "no choices": done,
            "null content": done | {"steps": [{"type": "model_output", "content": None}]},
            "only a tool call": done | {"status": "requires_action", "steps": [call]},
            "wrong types": {"status": 7, "steps": "hello", "usage": "many"},
        }
        return bodies[oddity]


def _event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({**data, 'event_type': kind})}\n\n"


def _interaction(reply: ServedReply) -> dict[str, Any]:
    status = "requires_action" if reply.calls else "completed"
    written = len(reply.tokens)
    return {
        "status": "incomplete" if reply.finish == "length" else status,
        "usage": {
            "total_tokens": reply.input_tokens + written,
            "total_input_tokens": reply.input_tokens,
            "total_cached_tokens": reply.cached_tokens,
            "total_output_tokens": written,
            "total_thought_tokens": 0,
        },
        "object": "interaction",
        "model": "m",
    }


def _steps(reply: ServedReply) -> Iterator[dict[str, Any]]:
    if reply.reasoning:
        summary = [{"type": "text", "text": reply.reasoning}]
        yield {"type": "thought", "signature": reply.seal, "summary": summary}
    if reply.text:
        yield {"type": "model_output", "content": [{"type": "text", "text": reply.text}]}
    for call in reply.calls:
        if (arguments := _object(call.arguments)) is not None:
            yield _call(call) | {"arguments": arguments}


def _pieces(reply: ServedReply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """How each step begins, and what fills it."""
    if reply.reasoning:
        summary = {"type": "thought_summary", "content": {"type": "text", "text": reply.reasoning}}
        yield {"type": "thought"}, [summary, {"type": "thought_signature", "signature": reply.seal}]
    if reply.text:
        yield {"type": "model_output"}, [{"type": "text", "text": token} for token in reply.tokens]
    for call in reply.calls:
        deltas = [{"type": "arguments_delta", "arguments": piece} for piece in tokens_of(call.arguments)]
        yield _call(call) | {"arguments": {}}, deltas


def _call(call: ServedCall) -> dict[str, Any]:
    return {"type": "function_call", "id": call.id, "name": call.name}


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        value = json.loads(arguments)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _turn(step: Mapping[str, Any]) -> Turn:
    held = step["result"] if step["type"] == "function_result" else step["content"]
    parts = (held,) if isinstance(held, str) else tuple(map(_part, held))
    return Turn(_ROLES[step["type"]], parts)


def _part(part: Mapping[str, Any]) -> str | bytes:
    if part["type"] == "text":
        return str(part["text"])
    return base64.b64decode(part["data"], validate=True)
