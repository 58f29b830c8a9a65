"""The calls of one cell to host functions: one at a time, each in a thread that can be abandoned."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any, TypeAlias

from sandbox.protocol.rpc import Bridge

Answer: TypeAlias = tuple[dict[str, Any], Sequence[bytes]]


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
