"""Models that wrap a model: retry it to a deadline, record what it says, play a record back."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError, ModelError, reason
from pyvision.models.streams import in_one_piece, stream_of
from pyvision.types import (
    Message,
    Model,
    Part,
    Picture,
    Reply,
    Restart,
    Sampling,
    Text,
    TokenLogprob,
    Usage,
)

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0


class Retried:
    """Repeats calls whose ModelError is worth it, with growing waits, until `budget_s` would be exceeded.

    `Sampling.seconds` is a budget as well. The endpoint's own wish (`retry_after_s`) goes before ours; one that is too
    long ends it at once, so that nobody sleeps for hours.
    """

    def __init__(
        self,
        model: Model,
        budget_s: float = 600.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._budget_s = budget_s
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The reply of the first call that does not fail. Raises the last ModelError, with their count."""
        attempts = self._attempts(sampling)
        while True:
            try:
                return self._model.complete(messages, attempts.sampling())
            except ModelError as error:
                _, wait_s = attempts.next(error)
                self._sleep(wait_s)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """As `complete`, in pieces; a Restart comes after each call that failed, before the wait for the next."""
        attempts = self._attempts(sampling)
        while True:
            try:
                yield from stream_of(self._model, messages, attempts.sampling())
                return
            except ModelError as error:
                restart = Restart(error.brief, *attempts.next(error))
            yield restart
            self._sleep(restart.wait_s)

    def close(self) -> None:
        """Close the wrapped model, where there is something to close."""
        close_model(self._model)

    def _attempts(self, sampling: Sampling) -> _Attempts:
        budget_s = self._budget_s if sampling.seconds is None else min(self._budget_s, sampling.seconds)
        return _Attempts(sampling, budget_s, self._clock, self._jitter)


class _Attempts:
    """The failed calls of one reply."""

    def __init__(
        self,
        sampling: Sampling,
        budget_s: float,
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        self._sampling = sampling
        self._budget_s = budget_s
        self._clock = clock
        self._jitter = jitter
        self._began = clock()
        self._failed = 0

    def sampling(self) -> Sampling:
        """That of the next call: with the time that is left."""
        if self._sampling.seconds is None or self._failed == 0:
            return self._sampling
        return replace(self._sampling, seconds=max(0.0, self._sampling.seconds - self._spent_s()))

    def next(self, error: ModelError) -> tuple[int, float]:
        """The number of the call after this failure, and how long to wait for it. Raises it where none is worth it."""
        self._failed += 1
        spent_s, wait_s = self._spent_s(), self._wait_s(error)
        if not error.retry:
            raise error
        if spent_s + wait_s > self._budget_s:
            raise _gave_up(error, self._failed, spent_s) from None
        return self._failed + 1, wait_s

    def _spent_s(self) -> float:
        return self._clock() - self._began

    def _wait_s(self, error: ModelError) -> float:
        """Part of it is chance, so that many that failed together do not come back together."""
        grown_s = min(_FIRST_WAIT_S * 2.0 ** min(self._failed - 1, 10), _LONGEST_WAIT_S)
        if error.retry_after_s is not None:
            return error.retry_after_s * (1 + 0.25 * self._jitter())
        return grown_s * (0.5 + 0.5 * self._jitter())


class Recorded:
    """Passes every call on and appends its key and reply to a file of JSON lines that `Replayed` reads."""

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
        """Close the wrapped model, where there is something to close."""
        close_model(self._model)

    def _write(self, messages: Sequence[Message], sampling: Sampling, reply: Reply) -> None:
        line = json.dumps({"key": request_key(messages, sampling), "reply": asdict(reply)})
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Replayed:
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
            self._replies = _recorded(self._path) if self._replies is None else self._replies
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
    talk = [[message.role, [_part(part) for part in message.parts]] for message in messages]
    sampled = asdict(sampling)
    del sampled["seconds"]  # a reply is the same, however long it may take
    if not sampling.logprobs:
        del sampled["logprobs"]  # so that records from before they could be asked for are still found
    canonical = json.dumps([talk, sampled], sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def close_model(model: Model) -> None:
    """Close a model that holds connections; the others have nothing to close."""
    close = getattr(model, "close", None)
    if close is not None:
        close()


def _gave_up(error: ModelError, attempts: int, spent_s: float) -> ModelError:
    told = f"{error} (gave up after {attempts} attempts in {spent_s:.0f} s)" if attempts > 1 else str(error)
    return ModelError(told, retry=True, retry_after_s=error.retry_after_s, kind=error.kind, brief=error.brief)


def _part(part: Part) -> list[str]:
    match part:
        case Text(text=text):
            return ["text", text]
        case Picture(data=data, mime=mime):
            return [mime, hashlib.sha256(data).hexdigest()]


def _recorded(path: Path) -> dict[str, deque[Reply]]:
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
            replies.setdefault(entry["key"], deque()).append(_reply(entry["reply"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path}: line {number} is no recorded reply; remove it") from error
    return replies


def _reply(entry: dict[str, Any]) -> Reply:
    reply = Reply(str(entry["text"]), Usage(**entry["usage"]), entry["finish"])
    logprobs = [
        TokenLogprob(each["token"], each["logprob"], tuple((token, value) for token, value in each["top"]))
        for each in entry.get("logprobs", ())
    ]
    return replace(reply, reasoning=str(entry.get("reasoning", "")), logprobs=tuple(logprobs))
