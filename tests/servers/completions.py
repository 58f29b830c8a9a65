"""Chat completions, as OpenAI and the servers compatible with it word them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.conversation import Failure, Oddity, ServedReply, Turn, tokens_of

_FINISH = {"end": "stop", "stop": "stop", "length": "length", "refusal": "content_filter"}


class Completions:
    """POST /v1/chat/completions."""

    path = "/chat/completions"

    def read(self, body: dict[str, Any]) -> Mapping[str, Any]:
        stop = body.get("stop") or ()
        return {
            "turns": tuple(_turn(message) for message in body["messages"]),
            "stop": (stop,) if isinstance(stop, str) else tuple(stop),
            "limit": body.get("max_completion_tokens") or body.get("max_tokens"),
        }

    def whole(self, reply: ServedReply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        if reply.calls:
            message |= {
                "content": reply.text or None,
                "tool_calls": [_call(reply, n) for n in range(len(reply.calls))],
            }
        choice = {"index": 0, "finish_reason": _finish(reply), "message": message}
        if reply.logprobs:
            choice["logprobs"] = {"content": [_logprob(token) for token in reply.tokens]}
        return self._answer([choice]) | {"usage": _usage(reply)}

    def events(self, reply: ServedReply, body: dict[str, Any]) -> Iterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        if reply.reasoning:
            yield self._chunk({"reasoning_content": reply.reasoning})
        for token in reply.tokens:
            logprobs = {"content": [_logprob(token)]} if reply.logprobs else None
            yield self._chunk({"content": token}, logprobs=logprobs)
        for number, call in enumerate(reply.calls):
            first = {"index": number, **_call(reply, number)}
            first["function"] = {"name": call.name, "arguments": ""}
            yield self._chunk({"tool_calls": [first]})
            for piece in tokens_of(call.arguments):
                yield self._chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
        yield self._chunk({}, finish=_finish(reply))
        if (body.get("stream_options") or {}).get("include_usage"):
            usage = self._answer([]) | {"object": "chat.completion.chunk", "usage": _usage(reply)}
            yield f"data: {json.dumps(usage)}\n\n"
        yield "data: [DONE]\n\n"

    def error(self, failure: Failure) -> dict[str, Any]:
        told = {"message": failure.message, "type": failure.code or "error", "param": failure.param}
        return {"error": told | {"code": failure.code or None}}

    def odd(self, oddity: Oddity) -> dict[str, Any]:
        call = {"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        bodies: Mapping[Oddity, dict[str, Any]] = {
            "no choices": self._answer([]),
            "null content": self._answer([_choice({"role": "assistant", "content": None}, "stop")]),
            "only a tool call": self._answer(
                [_choice({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")]
            ),
            "wrong types": {"id": 7, "choices": {"message": "hello"}, "usage": "many"},
        }
        return bodies[oddity]

    def _chunk(
        self, delta: dict[str, Any], finish: str | None = None, logprobs: dict[str, Any] | None = None
    ) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": logprobs}
        return f"data: {json.dumps(self._answer([choice]) | {'object': 'chat.completion.chunk'})}\n\n"

    def _answer(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}


def _finish(reply: ServedReply) -> str:
    return "tool_calls" if reply.calls and reply.finish == "end" else _FINISH[reply.finish]


def _call(reply: ServedReply, number: int) -> dict[str, Any]:
    call = reply.calls[number]
    plain = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    seal = {"extra_content": {"google": {"thought_signature": reply.seal}}} if reply.reasoning else {}
    return plain | seal


def _choice(message: dict[str, Any], finish: str) -> dict[str, Any]:
    return {"index": 0, "finish_reason": finish, "message": message}


def _turn(message: dict[str, Any]) -> Turn:
    content = message["content"]
    parts: list[dict[str, Any]] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    )
    return Turn(message["role"], tuple(_part(part) for part in parts))


def _part(part: dict[str, Any]) -> str | bytes:
    return part["text"] if part["type"] == "text" else picture_in(part["image_url"]["url"])


def picture_in(url: str) -> bytes:
    """The file in a data URL, decoded strictly."""
    return base64.b64decode(url.partition(";base64,")[2], validate=True)


def _logprob(token: str) -> dict[str, Any]:
    best = {"token": token, "logprob": -0.25, "bytes": None}
    return best | {"top_logprobs": [best, {"token": "?", "logprob": -2.0, "bytes": None}]}


def _usage(reply: ServedReply) -> dict[str, Any]:
    written = len(reply.tokens)
    return {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": written,
        "total_tokens": reply.input_tokens + written,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
    }
