"""The responses API of OpenAI; it has no `stop`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from tests.servers.completions import picture_in
from tests.servers.conversation import Failure, Oddity, ServedCall, ServedReply, Turn, tokens_of


class Responses:
    """POST /v1/responses."""

    path = "/responses"

    def read(self, body: dict[str, Any]) -> Mapping[str, Any]:
        instructions = body.get("instructions")
        system = (Turn("system", (instructions,)),) if instructions else ()
        given = body["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        spoken = tuple(_turn(item) for item in items if "role" in item or "output" in item)
        return {"turns": (*system, *spoken), "limit": body.get("max_output_tokens")}

    def whole(self, reply: ServedReply) -> dict[str, Any]:
        return _answer(_output(reply), reply)

    def events(self, reply: ServedReply, body: dict[str, Any]) -> Iterator[str]:
        number = count()
        for kind, data in _events(reply):
            event = {"type": kind, "sequence_number": next(number), **data}
            yield f"event: {kind}\ndata: {json.dumps(event)}\n\n"

    def error(self, failure: Failure) -> dict[str, Any]:
        usage = {"message": failure.message, "type": failure.code or "error", "param": failure.param}
        return {"error": usage | {"code": failure.code or None}}

    def odd(self, oddity: Oddity) -> dict[str, Any]:
        nothing, call = (
            _message([]),
            {
                "type": "function_call",
                "id": "f",
                "call_id": "c",
                "name": "look",
                "arguments": "{}",
                "status": "completed",
            },
        )
        bodies: Mapping[Oddity, dict[str, Any]] = {
            "no choices": _answer([], ServedReply("")),
            "null content": _answer([nothing], ServedReply("")),
            "only a tool call": _answer([call], ServedReply("")),
            "wrong types": {"id": 7, "output": "hello", "usage": "many"},
        }
        return bodies[oddity]


def _events(reply: ServedReply) -> Iterator[tuple[str, dict[str, Any]]]:
    output = _output(reply)
    place = next(at for at, item in enumerate(output) if item["type"] == "message")
    at = {"item_id": "m", "output_index": place, "content_index": 0}
    yield "response.created", {"response": _answer([], reply) | {"status": "in_progress"}}
    if reply.reasoning:
        yield "response.output_item.added", {"output_index": 0, "item": output[0]}
        yield "response.output_item.done", {"output_index": 0, "item": output[0]}
    yield "response.output_item.added", {"output_index": at["output_index"], "item": _message([])}
    yield "response.content_part.added", at | {"part": _part(ServedReply(""))}
    for token in reply.tokens:
        if reply.finish == "refusal":
            yield "response.refusal.delta", at | {"delta": token}
        else:
            logprobs = [_logprob(token)] if reply.logprobs else []
            yield "response.output_text.delta", at | {"delta": token, "logprobs": logprobs}
    if reply.finish == "refusal":
        yield "response.refusal.done", at | {"refusal": reply.text}
    else:
        yield "response.output_text.done", at | {"text": reply.text, "logprobs": []}
    yield "response.content_part.done", at | {"part": _part(reply)}
    yield "response.output_item.done", {"output_index": place, "item": output[place]}
    for index, item in enumerate(output[place + 1 :], place + 1):
        yield from _call_events(index, item)
    ending = "response.incomplete" if reply.finish == "length" else "response.completed"
    yield ending, {"response": _answer(output, reply)}


def _output(reply: ServedReply) -> list[dict[str, Any]]:
    thought = {
        "type": "reasoning",
        "id": "r",
        "summary": [{"type": "summary_text", "text": reply.reasoning}],
        "encrypted_content": reply.seal,
    }
    calls = map(_call, reply.calls)
    return [*([thought] if reply.reasoning else []), _message([_part(reply)]), *calls]


def _call(call: ServedCall) -> dict[str, Any]:
    kind, field = ("custom_tool_call", "input") if call.is_free_form else ("function_call", "arguments")
    named = {"type": kind, "id": f"fc_{call.id}", "call_id": call.id, "name": call.name}
    return {**named, field: call.arguments, "status": "completed"}


def _call_events(index: int, item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    field = "input" if item["type"] == "custom_tool_call" else "arguments"
    kind = "custom_tool_call_input" if field == "input" else "function_call_arguments"
    yield "response.output_item.added", {"output_index": index, "item": item | {field: ""}}
    for piece in tokens_of(item[field]):
        yield f"response.{kind}.delta", {"item_id": item["id"], "output_index": index, "delta": piece}
    yield f"response.{kind}.done", {"item_id": item["id"], "output_index": index, field: item[field]}
    yield "response.output_item.done", {"output_index": index, "item": item}


def _message(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}


def _part(reply: ServedReply) -> dict[str, Any]:
    if reply.finish == "refusal":
        return {"type": "refusal", "refusal": reply.text}
    logprobs = [_logprob(token) for token in reply.tokens] if reply.logprobs else []
    return {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": logprobs}


def _logprob(token: str) -> dict[str, Any]:
    best = {"token": token, "logprob": -0.25, "bytes": []}
    return best | {"top_logprobs": [best, {"token": "?", "logprob": -2.0, "bytes": []}]}


def _answer(output: list[dict[str, Any]], reply: ServedReply) -> dict[str, Any]:
    cut = reply.finish == "length"
    return {
        "id": "resp",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "output": output,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(reply),
    }


def _usage(reply: ServedReply) -> dict[str, Any]:
    written = len(reply.tokens)
    return {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": reply.cached_tokens},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + written,
    }


def _turn(item: dict[str, Any]) -> Turn:
    content = item["output"] if "output" in item else item["content"]
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    return Turn(item.get("role", "tool"), tuple(_given(part) for part in parts))


def _given(part: dict[str, Any]) -> str | bytes:
    return picture_in(part["image_url"]) if part["type"] == "input_image" else part["text"]
