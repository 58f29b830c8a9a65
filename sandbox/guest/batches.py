"""Send the events of a trace while the cell runs, within limits, so that a killed cell keeps its trace so far."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Send: TypeAlias = Callable[[dict[str, Any]], None]
_BATCH_EVENTS = 200
_BATCH_S, _LATER_BATCH_S = 0.05, 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """events, chars: the size of a trace. value_chars: of one value. steps: events after which tracing stops."""

    events: int
    chars: int
    value_chars: int
    steps: int


class Batches:
    """Sends the first half of the events as they come; then, every half second, the latest ones.

    Between `start` and `stop` a thread sends events that a long statement would delay.
    """

    def __init__(self, send: Send, limits: Limits) -> None:
        self._send = send
        self._half_events, self._half_chars = limits.events // 2, limits.chars // 2
        self._head_events, self._head_chars = self._half_events, self._half_chars
        self._waiting: deque[tuple[dict[str, Any], int]] = deque()
        self._waiting_chars = 0
        self._omitted = 0
        self._sent_s = 0.0
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self.stopped = False

    def start(self) -> None:
        threading.Thread(target=self._keep_flushing, name="trace", daemon=True).start()

    def stop(self) -> None:
        """Send the remaining events."""
        self._stopping.set()
        self.flush()

    def put(self, event: dict[str, Any]) -> None:
        with self._lock:
            self._put(event)

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _keep_flushing(self) -> None:
        while not self._stopping.wait(_BATCH_S):
            with self._lock:
                if self._waiting:
                    self._flush_if_due(in_head=self._head_events > 0)

    def _put(self, event: dict[str, Any]) -> None:
        size = _size(event)
        in_head = self._head_events > 0 and self._head_chars >= size
        if not in_head and self._head_events > 0:
            self._head_events = 0
            self.flush()  # the waiting events belong to the head, and must not be dropped for the tail
        self._waiting.append((event, size))
        self._waiting_chars += size
        if in_head:
            self._head_events -= 1
            self._head_chars -= size
        else:
            self._drop_oldest()
        self._flush_if_due(in_head=in_head)

    def _flush(self) -> None:
        events = [event for event, _ in self._waiting]
        if events or self.stopped:
            self._send({"events": events, "omitted": self._omitted, "stopped": self.stopped})
        self._waiting.clear()
        self._waiting_chars = self._omitted = 0
        self._sent_s = time.monotonic()

    def _drop_oldest(self) -> None:
        while len(self._waiting) > self._half_events or self._waiting_chars > self._half_chars:
            self._waiting_chars -= self._waiting.popleft()[1]
            self._omitted += 1

    def _flush_if_due(self, *, in_head: bool) -> None:
        wait = _BATCH_S if in_head else _LATER_BATCH_S
        full = in_head and (len(self._waiting) >= _BATCH_EVENTS or self._head_events == 0)
        if full or time.monotonic() - self._sent_s >= wait:
            self.flush()


def _size(event: dict[str, Any]) -> int:
    changes = sum(len(name) + len(text) for name, text, _ in event["changes"])
    return len(event["source"]) + len(event["value"] or "") + changes
