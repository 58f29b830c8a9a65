"""The messages API of Anthropic."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.conversation import Failure, Oddity, ServedReply, Turn

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
        is_text = block["type"] == "text"
        opened = (
            {"type": "text", "text": ""} if is_text else {"type": "thinking", "thinking": "", "signature": ""}
        )
        yield {"type": "content_block_start", "index": index, "content_block": opened}
        for delta in _text_deltas(reply) if is_text else _thinking_deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": _FINISH[reply.finish], "stop_sequence": reply.stopped_by}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": len(reply.tokens)}}
    yield {"type": "message_stop"}


def _text_deltas(reply: ServedReply) -> Iterator[dict[str, Any]]:
    return ({"type": "text_delta", "text": token} for token in reply.tokens)


def _thinking_deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "thinking_delta", "thinking": block["thinking"]}
    yield {"type": "signature_delta", "signature": block["signature"]}


def _blocks(reply: ServedReply) -> list[dict[str, Any]]:
    thought = {"type": "thinking", "thinking": reply.reasoning, "signature": "sealed"}
    return [*([thought] if reply.reasoning else []), {"type": "text", "text": reply.text}]


def _answer(content: list[dict[str, Any]], reply: ServedReply) -> dict[str, Any]:
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": _FINISH[reply.finish],
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
    return Turn(
        message["role"], tuple(_part(block) for block in blocks if block["type"] in {"text", "image"})
    )


def _part(block: dict[str, Any]) -> str | bytes:
    if block["type"] == "text":
        return str(block["text"])
    return base64.b64decode(block["source"]["data"], validate=True)
