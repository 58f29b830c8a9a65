"""The messages API of Anthropic."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.conversation import Failure, Oddity, ServedCall, ServedReply, Turn, tokens_of

_FINISH = {"end": "end_turn", "stop": "stop_sequence", "length": "max_tokens", "refusal": "refusal"}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Messages:
    """POST /v1/messages."""

    path = "/messages"

    def read(self, body: dict[str, Any]) -> Mapping[str, Any]:
        system = (_turn({"role": "system", "content": body["system"]}),) if body.get("system") else ()
        return {
            "turns": (*system, *(_turn(message) for message in body["messages"])),
            "stop": tuple(body.get("stop_sequences") or ()),
            "limit": body.get("max_tokens"),
        }

    def whole(self, reply: ServedReply) -> dict[str, Any]:
        return _answer(_blocks(reply), reply)

    def events(self, reply: ServedReply, body: dict[str, Any]) -> Iterator[str]:
        for data in _events(reply):
            yield f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"

    def error(self, failure: Failure) -> dict[str, Any]:
        usage = {"type": _ERRORS.get(failure.status, "api_error"), "message": failure.message}
        return {"type": "error", "error": usage, "request_id": "req"}

    def odd(self, oddity: Oddity) -> dict[str, Any]:
        empty = {"type": "text", "text": ""}
        call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
        bodies: Mapping[Oddity, dict[str, Any]] = {
            "no choices": _answer([], ServedReply("")),
            "null content": _answer([empty], ServedReply("")),
            "only a tool call": _answer([call], ServedReply("")) | {"stop_reason": "tool_use"},
            "wrong types": {"id": 7, "type": "message", "content": "hello", "usage": "many"},
        }
        return bodies[oddity]


def _events(reply: ServedReply) -> Iterator[dict[str, Any]]:
    start = _answer([], reply) | {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(_blocks(reply)):
        opened, deltas = _opened(block, reply)
        yield {"type": "content_block_start", "index": index, "content_block": opened}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": _finish(reply), "stop_sequence": reply.stopped_by}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": len(reply.tokens)}}
    yield {"type": "message_stop"}


def _finish(reply: ServedReply) -> str:
    return "tool_use" if reply.calls and reply.finish == "end" else _FINISH[reply.finish]


def _opened(block: dict[str, Any], reply: ServedReply) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """A block as it is opened, and what fills it."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}, _text_deltas(reply)
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}, _thinking_deltas(block)
        case _:
            call = next(call for call in reply.calls if call.id == block["id"])
            pieces = tokens_of(call.arguments)
            deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
            return block | {"input": {}}, deltas


def _text_deltas(reply: ServedReply) -> Iterator[dict[str, Any]]:
    return ({"type": "text_delta", "text": token} for token in reply.tokens)


def _thinking_deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "thinking_delta", "thinking": block["thinking"]}
    yield {"type": "signature_delta", "signature": block["signature"]}


def _blocks(reply: ServedReply) -> list[dict[str, Any]]:
    thought = {"type": "thinking", "thinking": reply.reasoning, "signature": reply.seal}
    text = {"type": "text", "text": reply.text}
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)} for call in reply.calls
    ]
    return [*([thought] if reply.reasoning else []), *([text] if reply.text or not calls else []), *calls]


def _input(call: ServedCall) -> object:
    try:
        return json.loads(call.arguments)
    except ValueError:
        return {}  # only a stream can hold what is no JSON


def _answer(content: list[dict[str, Any]], reply: ServedReply) -> dict[str, Any]:
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": _finish(reply),
        "stop_sequence": reply.stopped_by,
        "usage": {
            "input_tokens": reply.input_tokens - reply.cached_tokens,
            "cache_read_input_tokens": reply.cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": len(reply.tokens),
        },
    }


def _turn(message: dict[str, Any]) -> Turn:
    content = message["content"]
    blocks: list[dict[str, Any]] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    )
    results = [part for block in blocks if block["type"] == "tool_result" for part in block["content"]]
    shown = [block for block in blocks if block["type"] in {"text", "image"}]
    return Turn("tool" if results else message["role"], tuple(map(_part, (*results, *shown))))


def _part(block: dict[str, Any]) -> str | bytes:
    if block["type"] == "text":
        return str(block["text"])
    return base64.b64decode(block["source"]["data"], validate=True)
