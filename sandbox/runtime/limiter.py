"""Limits how many sessions run at once, and queues callers first-in, first-out."""

from __future__ import annotations

import threading
from collections import deque

from sandbox.errors import SandboxBusy


class SessionLimiter:
    """A first-in, first-out semaphore. Thread-safe."""

    def __init__(self, max_sessions: int) -> None:
        self._max_sessions = max_sessions
        self._free = max_sessions
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def acquire(self, acquire_timeout_s: float | None) -> None:
        """Wait for a free session, at most this long; None waits forever. Raises SandboxBusy."""
        with self._lock:
            if self._free > 0:  # then the queue is empty
                self._free -= 1
                return
            turn = threading.Event()
            self._waiting.append(turn)
        try:
            if turn.wait(acquire_timeout_s):
                return
        except BaseException:  # Ctrl-C: nothing else would release what was acquired
            if not self._stop_waiting(turn):
                self.release()
            raise
        if self._stop_waiting(turn):
            raise SandboxBusy(
                f"all {self._max_sessions} sessions of this sandbox are open, and none was closed in "
                f"{acquire_timeout_s:g} s; close some, or raise max_sessions or acquire_timeout_s"
            )

    def release(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    def _stop_waiting(self, turn: threading.Event) -> bool:
        """Leave the queue; False if a session was granted in the last moment."""
        with self._lock:
            if turn.is_set():
                return False
            self._waiting.remove(turn)
            return True
