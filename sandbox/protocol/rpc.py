"""Answer the calls that a cell makes to host functions.

Covered: everything that a guest sends is checked, counted and answered; nothing that it sends raises here.
Not covered: what a function does with its arguments. It runs with all rights of the host, and must not trust
them. The message of an exception that it raises is shown to the cell, so it must not contain a secret.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sandbox.policy import HostFunction, Policy
from sandbox.protocol.figures import FigureReader
from sandbox.protocol.values import Decoder, NotPlain, encode

Answer: TypeAlias = tuple[dict[str, Any], list[bytes]]
_ERROR_CHARS = 500
_NAME_CHARS = 200
_INFLATED_BYTES_PER_BYTE = 16  # what the images of a cell may inflate to, per byte of Policy.host_bytes


class _Refused(Exception):  # noqa: N818 - it names the outcome
    """A call that was refused, or whose result cannot be returned. The message is one line."""


@dataclass(frozen=True, slots=True)
class _Request:
    function: str
    arguments: list[Any]
    options: dict[str, Any]


class Bridge:
    """The functions that one cell may call, and the rest of its budget. One call at a time.

    A function takes and returns None, bool, int, float, str, bytes, lists, dictionaries with text keys, and Figures.
    Tuples arrive as lists; a Figure, or the bytes of a PNG or JPEG file, arrives in the cell as a PIL image.
    """

    def __init__(self, functions: Mapping[str, HostFunction], policy: Policy) -> None:
        self._functions = dict(functions)
        self._policy = policy
        self._reader = FigureReader(policy, _INFLATED_BYTES_PER_BYTE * policy.host_bytes)
        self._calls = 0
        self._bytes = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions, which the guest's `host` lists."""
        return tuple(self._functions)

    def answer(self, content: object, buffers: Sequence[bytes]) -> Answer:
        """The reply to a request. Never raises."""
        returned: list[bytes] = []
        try:
            value = self._result(content, buffers, returned)
        except _Refused as reason:
            return _error(content, str(reason)), []
        return {"call": _call(content), "value": value}, returned

    def timeout_reply(self, content: object) -> Answer:
        """The reply to a request whose function took too long."""
        limit = f"{self._policy.host_call_timeout_s:g} s"
        return _error(content, f"{_function(content)} took longer than {limit} and was given up"), []

    def _result(self, content: object, buffers: Sequence[bytes], returned: list[bytes]) -> Any:
        self._spend_call()
        self._spend_bytes(sum(map(len, buffers)))
        name = _function(content)
        function = self._functions.get(name)
        if function is None:
            known = ", ".join(self._functions) or "none"
            raise _Refused(f"the host has no function {name!r}; it has: {known}")
        value = _run(function, self._read(name, content, buffers))
        try:
            encoded = encode(value, returned)
        except NotPlain as reason:
            raise _Refused(f"{name} returned {reason}, which cannot go to the cell") from None
        self._check_size(name, len(json.dumps(encoded)) + sum(map(len, returned)))
        return encoded

    def _read(self, name: str, content: object, buffers: Sequence[bytes]) -> _Request:
        decoder = Decoder(buffers, self._reader)
        try:
            request = _request(name, content, decoder)
        except NotPlain as reason:
            raise _Refused(f"{name} was not called, it got {reason}") from None
        self._spend_bytes(decoder.chars)
        return request

    def _spend_call(self) -> None:
        self._calls += 1
        if self._calls > self._policy.host_calls:
            raise _Refused(
                f"a cell may call host functions {self._policy.host_calls} times, and this one has used them up"
            )

    def _spend_bytes(self, count: int) -> None:
        self._bytes += count
        if self._bytes > self._policy.host_bytes:
            limit = self._policy.host_bytes
            raise _Refused(
                f"a cell may request {limit} bytes with host functions, and this one has used them up"
            )

    def _check_size(self, name: str, count: int) -> None:
        if count > self._policy.figure_bytes:
            raise _Refused(f"{name} returned {count} bytes: the limit is {self._policy.figure_bytes}")
        self._spend_bytes(count)


def _run(function: HostFunction, request: _Request) -> Any:
    try:
        return function(*request.arguments, **request.options)
    except BaseException as error:  # noqa: BLE001 - the cell learns of it; SystemExit would only end this thread
        raise _Refused(f"{request.function} failed: {_describe_error(error)}") from None


def _describe_error(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the text of an exception is made by its own code
        message = "its message cannot be read"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _request(name: str, content: Any, decoder: Decoder) -> _Request:
    arguments, options = content.get("args"), content.get("kwargs")
    if not (isinstance(arguments, list) and isinstance(options, dict)):
        raise NotPlain("a malformed request")
    return _Request(
        name,
        [decoder.decode(each) for each in arguments],
        {str(key): decoder.decode(each) for key, each in options.items()},
    )


def _function(content: object) -> str:
    name = content.get("function") if isinstance(content, dict) else None
    return name[:_NAME_CHARS] if isinstance(name, str) else "?"


def _call(content: object) -> str:
    """The id by which the guest recognizes its reply."""
    call = content.get("call") if isinstance(content, dict) else None
    return call[:_NAME_CHARS] if isinstance(call, str) else ""


def _error(content: object, message: str) -> dict[str, Any]:
    line = " ".join(message.split())
    text = line.encode(errors="backslashreplace").decode()
    return {"call": _call(content), "error": text[:_ERROR_CHARS]}


class Calls:
    """The calls of one cell. Not thread-safe. The time that host functions take does not count as the cell's."""

    def __init__(self, bridge: Bridge, limit_s: float) -> None:
        self._bridge = bridge
        self._limit_s = limit_s
        self._spent_s = 0.0
        self._call: _Call | None = None

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that may be called."""
        return self._bridge.names

    @property
    def done(self) -> socket.socket | None:
        """Readable once the current call has its answer; None without a current call."""
        return self._call.done if self._call else None

    @property
    def spent_s(self) -> float:
        return self._spent_s + (time.monotonic() - self._call.started if self._call else 0.0)

    @property
    def deadline(self) -> float:
        """When the current call times out (monotonic); never, if there is none."""
        return self._call.started + self._limit_s if self._call else float("inf")

    def begin(self, content: object, buffers: Sequence[bytes]) -> None:
        """Start to answer a call. No other call may be running."""
        self._call = _Call(self._bridge, content, buffers)

    def end(self) -> Answer:
        """The answer; after a timeout an error, while the thread of the call keeps running unobserved."""
        assert self._call is not None
        self._spent_s = self.spent_s
        call, self._call = self._call, None
        call.close()
        return call.answer or self._bridge.timeout_reply(call.content)

    def close(self) -> None:
        """Ignore the answer of the current call, if any."""
        if self._call is not None:
            self._call.close()


class _Call:
    def __init__(self, bridge: Bridge, content: object, buffers: Sequence[bytes]) -> None:
        self.started = time.monotonic()
        self.content = content
        self.answer: Answer | None = None
        self.done, self._finish = socket.socketpair()
        threading.Thread(target=self._run, args=(bridge, buffers), name="host-call", daemon=True).start()

    def close(self) -> None:
        self.done.close()
        self._finish.close()

    def _run(self, bridge: Bridge, buffers: Sequence[bytes]) -> None:
        self.answer = bridge.answer(self.content, list(buffers))
        with contextlib.suppress(OSError):  # the call was abandoned
            self._finish.send(b"\0")
