"""The responses API of OpenAI; it has no `stop`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from tests.servers.completions import picture_in
from tests.servers.conversation import Failure, Oddity, Said, Turn


class Responses:
    """POST /v1/responses."""

    path = "/responses"

    def read(self, body: dict[str, Any]) -> Mapping[str, Any]:
        instructions = body.get("instructions")
        system = (Turn("system", (instructions,)),) if instructions else ()
        given = body["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        spoken = tuple(_turn(item) for item in items if "role" in item)
        return {"turns": (*system, *spoken), "limit": body.get("max_output_tokens")}

    def whole(self, said: Said) -> dict[str, Any]:
        return _answer(_output(said), said)

    def events(self, said: Said, body: dict[str, Any]) -> Iterator[str]:
        number = count()
        for kind, data in _events(said):
            event = {"type": kind, "sequence_number": next(number), **data}
            yield f"event: {kind}\ndata: {json.dumps(event)}\n\n"

    def error(self, failure: Failure) -> dict[str, Any]:
        told = {"message": failure.message, "type": failure.code or "error", "param": failure.param}
        return {"error": told | {"code": failure.code or None}}

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
            "no choices": _answer([], Said("")),
            "null content": _answer([nothing], Said("")),
            "only a tool call": _answer([call], Said("")),
            "wrong types": {"id": 7, "output": "hello", "usage": "many"},
        }
        return bodies[oddity]


def _events(said: Said) -> Iterator[tuple[str, dict[str, Any]]]:
    output = _output(said)
    at = {"item_id": "m", "output_index": len(output) - 1, "content_index": 0}
    yield "response.created", {"response": _answer([], said) | {"status": "in_progress"}}
    if said.reasoning:
        yield "response.output_item.added", {"output_index": 0, "item": output[0]}
        yield "response.output_item.done", {"output_index": 0, "item": output[0]}
    yield "response.output_item.added", {"output_index": at["output_index"], "item": _message([])}
    yield "response.content_part.added", at | {"part": _part(Said(""))}
    for token in said.tokens:
        if said.finish == "refusal":
            yield "response.refusal.delta", at | {"delta": token}
        else:
            logprobs = [_logprob(token)] if said.logprobs else []
            yield "response.output_text.delta", at | {"delta": token, "logprobs": logprobs}
    if said.finish == "refusal":
        yield "response.refusal.done", at | {"refusal": said.text}
    else:
        yield "response.output_text.done", at | {"text": said.text, "logprobs": []}
    yield "response.content_part.done", at | {"part": _part(said)}
    yield "response.output_item.done", {"output_index": at["output_index"], "item": output[-1]}
    ending = "response.incomplete" if said.finish == "length" else "response.completed"
    yield ending, {"response": _answer(output, said)}


def _output(said: Said) -> list[dict[str, Any]]:
    thought = {
        "type": "reasoning",
        "id": "r",
        "summary": [{"type": "summary_text", "text": said.reasoning}],
        "encrypted_content": "sealed",
    }
    return [*([thought] if said.reasoning else []), _message([_part(said)])]


def _message(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}


def _part(said: Said) -> dict[str, Any]:
    if said.finish == "refusal":
        return {"type": "refusal", "refusal": said.text}
    logprobs = [_logprob(token) for token in said.tokens] if said.logprobs else []
    return {"type": "output_text", "text": said.text, "annotations": [], "logprobs": logprobs}


def _logprob(token: str) -> dict[str, Any]:
    best = {"token": token, "logprob": -0.25, "bytes": []}
    return best | {"top_logprobs": [best, {"token": "?", "logprob": -2.0, "bytes": []}]}


def _answer(output: list[dict[str, Any]], said: Said) -> dict[str, Any]:
    cut = said.finish == "length"
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
        "usage": _usage(said),
    }


def _usage(said: Said) -> dict[str, Any]:
    written = len(said.tokens)
    return {
        "input_tokens": said.input_tokens,
        "input_tokens_details": {"cached_tokens": said.cached_tokens},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": said.input_tokens + written,
    }


def _turn(item: dict[str, Any]) -> Turn:
    content = item["content"]
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    return Turn(item["role"], tuple(_given(part) for part in parts))


def _given(part: dict[str, Any]) -> str | bytes:
    return picture_in(part["image_url"]) if part["type"] == "input_image" else part["text"]
