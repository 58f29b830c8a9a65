"""What a request says and what a model says back, in the same words for every wire."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias

WireName: TypeAlias = Literal["completions", "responses", "messages", "gemini", "interactions"]
Oddity: TypeAlias = Literal["no choices", "null content", "only a tool call", "wrong types"]

_TOKEN_CHARS = 4
_PICTURE_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a request: texts and decoded picture files, in the order in which they were sent."""

    role: str
    parts: tuple[str | bytes, ...]

    @property
    def text(self) -> str:
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> tuple[bytes, ...]:
        return tuple(part for part in self.parts if isinstance(part, bytes))

    @property
    def tokens(self) -> int:
        return len(tokens_of(self.text)) + _PICTURE_TOKENS * len(self.pictures)


@dataclass(frozen=True, slots=True)
class Request:
    """One POST as it came in; header names are in lower case, `size` is the bytes of its body."""

    wire: WireName
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    size: int
    turns: tuple[Turn, ...]
    stop: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True or ":streamGenerateContent" in self.path

    @property
    def wants_logprobs(self) -> bool:
        return bool(
            self.body.get("logprobs")
            or "message.output_text.logprobs" in self.body.get("include", ())
            or self.body.get("generationConfig", {}).get("responseLogprobs")
        )

    @property
    def pictures(self) -> tuple[bytes, ...]:
        return tuple(picture for turn in self.turns for picture in turn.pictures)

    @property
    def key(self) -> str:
        """The key it was sent with, whichever header holds it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        named = (self.headers.get(name, "") for name in ("x-api-key", "api-key", "x-goog-api-key"))
        return bearer or next((key for key in named if key), "")


@dataclass(frozen=True, slots=True)
class ServedCall:
    """A tool call of the model behind the server; its arguments may be cut or malformed."""

    id: str
    arguments: str
    name: str = "run_python"
    is_free_form: bool = False


@dataclass(frozen=True, slots=True)
class ServedReply:
    """What the model behind the server says, before a wire words it. seal: of its reasoning."""

    text: str
    finish: Literal["end", "stop", "length", "refusal"] = "end"
    stopped_by: str | None = None
    reasoning: str = ""
    logprobs: bool = False
    input_tokens: int = 0
    cached_tokens: int = 0
    calls: tuple[ServedCall, ...] = ()
    seal: str = "sealed"

    @property
    def tokens(self) -> list[str]:
        return tokens_of(self.text)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error before a wire words it."""

    status: int
    message: str
    code: str = ""
    param: str | None = None


class Wire(Protocol):
    """How one protocol words requests, replies and errors."""

    @property
    def path(self) -> str: ...

    def read(self, body: dict[str, Any]) -> Mapping[str, Any]:
        """The fields of a Request that only this wire knows how to find."""
        ...

    def whole(self, reply: ServedReply) -> dict[str, Any]: ...

    def events(self, reply: ServedReply, body: dict[str, Any]) -> Iterator[str]:
        """The lines of a stream, event by event."""
        ...

    def error(self, failure: Failure) -> dict[str, Any]: ...

    def odd(self, oddity: Oddity) -> dict[str, Any]:
        """A 200 that holds no reply."""
        ...


Brain: TypeAlias = Callable[[Request], str | ServedReply]


def tokens_of(text: str) -> list[str]:
    """The text in pieces of the size of a usual token."""
    return re.findall(rf"[\s\S]{{1,{_TOKEN_CHARS}}}", text)


@dataclass(slots=True)
class Script:
    """A Brain that says its texts in turn; a request past the last one gets `rest`, or a complaint."""

    texts: list[str | ServedReply]
    rest: str = "(the script is used up)"
    asked: int = field(default=0)

    def __call__(self, request: Request) -> str | ServedReply:
        self.asked += 1
        return self.texts[self.asked - 1] if self.asked <= len(self.texts) else self.rest


def end_reply(
    reply: ServedReply, request: Request, *, stops: bool, keeps_stop: bool, limits: bool
) -> ServedReply:
    """What is reply, cut as the request wishes: at the first stop string and at the token limit."""
    found = [(reply.text.find(stop), stop) for stop in request.stop if stop in reply.text] if stops else []
    if found:
        start, stop = min(found)
        text = reply.text[: start + len(stop) * keeps_stop]
        reply = replace(reply, text=text, finish="stop", stopped_by=stop)
    if limits and request.limit is not None and len(reply.tokens) > request.limit:
        reply = replace(reply, text="".join(reply.tokens[: request.limit]), finish="length", stopped_by=None)
    return replace(reply, logprobs=request.wants_logprobs)
