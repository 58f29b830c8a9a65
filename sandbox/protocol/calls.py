"""The calls of one cell to functions of the host, one at a time, each in a thread that can be left behind."""

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
    """Used by one thread. The time that functions of the host take is not the cell's."""

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
        """Readable once the call under way has its answer; None while there is none under way."""
        return self._call.done if self._call else None

    @property
    def spent_s(self) -> float:
        return self._spent_s + (time.monotonic() - self._call.began if self._call else 0.0)

    @property
    def late_at(self) -> float:
        """When the call under way is late (monotonic); never, if there is none."""
        return self._call.began + self._limit_s if self._call else float("inf")

    def begin(self, content: object, buffers: Sequence[bytes]) -> None:
        """Start to answer a call; no other one is under way."""
        self._call = _Call(self._bridge, content, buffers)

    def end(self) -> Answer:
        """The answer, or that there is none in time: then its thread goes on, and nobody listens to it."""
        assert self._call is not None
        self._spent_s = self.spent_s
        call, self._call = self._call, None
        call.close()
        return call.answer or self._bridge.late(call.content)

    def close(self) -> None:
        """Listen to no answer any more."""
        if self._call is not None:
            self._call.close()


class _Call:
    def __init__(self, bridge: Bridge, content: object, buffers: Sequence[bytes]) -> None:
        self.began = time.monotonic()
        self.content = content
        self.answer: Answer | None = None
        self.done, self._finish = socket.socketpair()
        threading.Thread(target=self._run, args=(bridge, buffers), name="host-call", daemon=True).start()

    def close(self) -> None:
        self.done.close()
        self._finish.close()

    def _run(self, bridge: Bridge, buffers: Sequence[bytes]) -> None:
        self.answer = bridge.answer(self.content, list(buffers))
        with contextlib.suppress(OSError):  # nobody listens any more
            self._finish.send(b"\0")
