"""The Gemini API: as strict about fields, roles and parts as the real one."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.conversation import Failure, Oddity, ServedReply, Turn

_FINISH = {"end": "STOP", "stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class Gemini:
    """POST …/models/MODEL:generateContent and :streamGenerateContent."""

    path = ":generateContent"

    def read(self, body: dict[str, Any]) -> Mapping[str, Any]:
        system = body.get("systemInstruction")
        settings = body.get("generationConfig", {})
        return {
            "turns": (
                *((_turn("system", system),) if system else ()),
                *(_turn(_ROLES.get(turn["role"], turn["role"]), turn) for turn in body["contents"]),
            ),
            "stop": tuple(settings.get("stopSequences") or ()),
            "limit": settings.get("maxOutputTokens"),
        }

    def whole(self, reply: ServedReply) -> dict[str, Any]:
        return _answer(_parts(reply), reply, ends=True)

    def events(self, reply: ServedReply, body: dict[str, Any]) -> Iterator[str]:
        if reply.reasoning:
            yield _event(_answer([_thought(reply)], reply, ends=False))
        for token in reply.tokens:
            yield _event(_answer([{"text": token}], reply, ends=False))
        for call in _calls(reply):
            yield _event(_answer([call], reply, ends=False))
        yield _event(_answer([_last_text(reply)], reply, ends=True))

    def error(self, failure: Failure) -> dict[str, Any]:
        status = _STATUS.get(failure.status, "INTERNAL")
        return {"error": {"code": failure.status, "message": failure.message, "status": status}}

    def odd(self, oddity: Oddity) -> dict[str, Any]:
        call = {"functionCall": {"name": "look", "args": {}}}
        bodies: Mapping[Oddity, dict[str, Any]] = {
            "no choices": _answer([], ServedReply(""), ends=True) | {"candidates": []},
            "null content": _answer([{"text": ""}], ServedReply(""), ends=True),
            "only a tool call": _answer([call], ServedReply(""), ends=True),
            "wrong types": {"candidates": "hello", "usageMetadata": "many"},
        }
        return bodies[oddity]


_ROLES = {"model": "assistant"}


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\r\n\r\n"


def _parts(reply: ServedReply) -> list[dict[str, Any]]:
    thought = [_thought(reply)] if reply.reasoning else []
    text = [{"text": reply.text}] if reply.text else []
    return [*thought, *text, *_calls(reply), *([_last_text(reply)] if reply.reasoning else [])]


def _thought(reply: ServedReply) -> dict[str, Any]:
    return {"text": reply.reasoning, "thought": True}


def _calls(reply: ServedReply) -> list[dict[str, Any]]:
    """The calls whose arguments are an object; the first one carries the signature of the turn."""
    parts: list[dict[str, Any]] = [
        {"functionCall": {"name": call.name, "id": call.id, "args": args}}
        for call in reply.calls
        if (args := _object(call.arguments)) is not None
    ]
    if parts and reply.reasoning:
        parts[0]["thoughtSignature"] = reply.seal
    return parts


def _last_text(reply: ServedReply) -> dict[str, Any]:
    """The empty text at the end, with the signature of a turn that calls nothing."""
    is_signed = reply.reasoning and not _calls(reply)
    return {"text": ""} | ({"thoughtSignature": reply.seal} if is_signed else {})


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        value = json.loads(arguments)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _finish(reply: ServedReply) -> str:
    """A call that is no object is dropped, and the reason says so."""
    is_malformed = reply.finish == "end" and len(_calls(reply)) < len(reply.calls)
    return "MALFORMED_FUNCTION_CALL" if is_malformed else _FINISH[reply.finish]


def _answer(parts: list[dict[str, Any]], reply: ServedReply, *, ends: bool) -> dict[str, Any]:
    """A chunk, or the whole: usage and the finish reason come with the last one."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    answer: dict[str, Any] = {"candidates": [candidate], "modelVersion": "m", "responseId": "r"}
    if ends:
        candidate["finishReason"] = _finish(reply)
        candidate |= {"logprobsResult": _logprobs(reply)} if reply.logprobs else {}
        answer["usageMetadata"] = {
            "promptTokenCount": reply.input_tokens,
            "cachedContentTokenCount": reply.cached_tokens,
            "candidatesTokenCount": len(reply.tokens),
            "totalTokenCount": reply.input_tokens + len(reply.tokens),
        }
    return answer


def _logprobs(reply: ServedReply) -> dict[str, Any]:
    chosen = [{"token": token, "logProbability": -0.25, "tokenId": 1} for token in reply.tokens]
    return {"chosenCandidates": chosen, "topCandidates": [{"candidates": [each]} for each in chosen]}


def _turn(role: str, turn: Mapping[str, Any]) -> Turn:
    """Of a result, what it holds is seen; a call is not."""
    results = [part["functionResponse"] for part in turn["parts"] if "functionResponse" in part]
    held = [part for result in results for part in ({"text": _output(result)}, *result.get("parts", ()))]
    shown = [part for part in turn["parts"] if "text" in part or "inlineData" in part]
    return Turn("tool" if results else role, tuple(map(_part, (*held, *shown))))


def _output(result: Mapping[str, Any]) -> str:
    response = result["response"]
    return str(response.get("output", response.get("error", "")))


def _part(part: Mapping[str, Any]) -> str | bytes:
    if "text" in part:
        return str(part["text"])
    return base64.b64decode(part["inlineData"]["data"], validate=True)
