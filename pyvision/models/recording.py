"""Record what a model replies, and answer from such a record."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError, ModelError, reason
from pyvision.models.streaming import close_model, in_one_piece, stream_of
from pyvision.types import (
    Message,
    Model,
    Opaque,
    Part,
    Picture,
    Reply,
    Restart,
    Sampling,
    Text,
    TokenLogprob,
    ToolCall,
    Usage,
)


class RecordingModel:
    """Passes every call on and appends its key and reply to a file of JSON lines that `ReplayModel` reads."""

    def __init__(self, model: Model, path: Path) -> None:
        self._model = model
        self._path = path
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The wrapped model's reply, once it is written down."""
        reply = self._model.complete(messages, sampling)
        self._write(messages, sampling, reply)
        return reply

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """The wrapped model's stream; only the whole reply is written down, before it is passed on."""
        for piece in stream_of(self._model, messages, sampling):
            if isinstance(piece, Reply):
                self._write(messages, sampling, piece)
            yield piece

    def close(self) -> None:
        """Close the wrapped model, if it holds connections."""
        close_model(self._model)

    def _write(self, messages: Sequence[Message], sampling: Sampling, reply: Reply) -> None:
        line = reply_line(request_key(messages, sampling), reply)
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class ReplayModel:
    """Answers from a recorded file by request key; a request recorded n times gets its n replies in turn."""

    def __init__(self, path: Path, name: str = "replayed") -> None:
        self._path = path
        self._name = name
        self._replies: dict[str, deque[Reply]] | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The recorded reply to exactly this request. Raises ModelError where there is none."""
        key = request_key(messages, sampling)
        with self._lock:
            self._replies = _read_replies(self._path) if self._replies is None else self._replies
            replies = self._replies.get(key)
            if not replies:
                raise ModelError(f"{self._path}: holds no reply to request {key[:12]}…; record it again")
            return replies.popleft() if len(replies) > 1 else replies[0]

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        """The recorded reply, its text in one piece."""
        return in_one_piece(self.complete(messages, sampling))

    def close(self) -> None:
        """Nothing is open."""


def request_key(messages: Sequence[Message], sampling: Sampling) -> str:
    """The same for the same roles, texts, pictures (by their bytes) and sampling, on every machine."""
    conversation = [_plain(message) for message in messages]
    sampled = shallow_fields(sampling)
    del sampled["seconds"]  # a reply is the same, however long it may take
    if not sampling.logprobs:
        del sampled["logprobs"]  # so that records from before they could be asked for are still found
    if not sampling.tools:
        del sampled["tools"], sampled["tool_choice"]  # as above
    canonical = json.dumps([conversation, sampled], sort_keys=True, default=shallow_fields)
    return hashlib.sha256(canonical.encode()).hexdigest()


def shallow_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; as `default` of `json.dumps` it writes what `asdict` does, without copies."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _plain(message: Message) -> list[Any]:
    result = [message.call_id] if message.role == "tool" else []
    return [message.role, [_part(part) for part in message.parts], *result]


def _part(part: Part) -> list[str]:
    match part:
        case ToolCall(id=call_id, name=name, arguments=arguments):
            return ["call", call_id, name, arguments]
        case Text(text=text):
            return ["text", text]
        case Picture(data=data, mime=mime):
            return [mime, hashlib.sha256(data).hexdigest()]


def _read_replies(path: Path) -> dict[str, deque[Reply]]:
    replies: dict[str, deque[Reply]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path}: recorded replies cannot be read ({reason(error)}); give a file that a run recorded"
        ) from error
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            replies.setdefault(entry["key"], deque()).append(read_reply(entry["reply"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path}: line {number} is not a recorded reply; remove it") from error
    return replies


def reply_line(key: str, reply: Reply) -> str:
    """A line of a file of replies, without its end."""
    return json.dumps({"key": key, "reply": reply}, default=shallow_fields)


def read_reply(entry: dict[str, Any]) -> Reply:
    """The reply that `reply_line` made these values of. Raises KeyError or TypeError for others."""
    reply = Reply(str(entry["text"]), Usage(**entry["usage"]), entry["finish"])
    logprobs = [
        TokenLogprob(each["token"], each["logprob"], tuple((token, value) for token, value in each["top"]))
        for each in entry.get("logprobs", ())
    ]
    opaque = entry.get("opaque")
    return replace(
        reply,
        reasoning=str(entry.get("reasoning", "")),
        logprobs=tuple(logprobs),
        calls=tuple(ToolCall(**call) for call in entry.get("calls", ())),
        opaque=Opaque(**opaque) if opaque else None,
    )
