"""A limit on a whole answer: httpx bounds each silence, so an endpoint that trickles bytes could go on for ever.

Covered: the body of every answer, errors too. Not covered: header lines that trickle, of which an answer may hold
100 kB before the connection is given up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from httpx2 import ReadTimeout, Response, SyncByteStream

_UNTIL: ContextVar[float] = ContextVar(
    "until"
)  # of time.monotonic(): when the answer asked for is to be there


@contextmanager
def deadline(until: float) -> Iterator[None]:
    """Every answer that begins in this block, on this thread, ends by then or raises ReadTimeout."""
    token = _UNTIL.set(until)
    try:
        yield
    finally:
        _UNTIL.reset(token)


def bound(response: Response) -> None:
    """Hold the body of an answer to the deadline; an event hook of a client."""
    response.stream = _Bounded(response.stream, _UNTIL.get(float("inf")))


class _Bounded(SyncByteStream):
    def __init__(self, stream: object, until: float) -> None:
        assert isinstance(stream, SyncByteStream)
        self._stream = stream
        self._until = until

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            if time.monotonic() > self._until:
                raise ReadTimeout("the answer did not end in time")
            yield piece

    def close(self) -> None:
        self._stream.close()
