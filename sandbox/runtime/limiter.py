"""A bound on how many sessions run at once: who comes first is served first."""

from __future__ import annotations

import threading
from collections import deque

from sandbox.errors import SandboxBusy


class SessionLimiter:
    """So many places, taken and given back. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free = most
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    def acquire(self, acquire_timeout_s: float | None) -> None:
        """Wait for a place, at most so long. Raises SandboxBusy."""
        with self._lock:
            if self._free > 0:  # then nobody waits
                self._free -= 1
                return
            turn = threading.Event()
            self._waiting.append(turn)
        try:
            if turn.wait(acquire_timeout_s):
                return
        except BaseException:  # Ctrl-C: nobody would give the place back
            if not self._leave(turn):
                self.release()
            raise
        if self._leave(turn):
            raise SandboxBusy(
                f"all {self._most} sessions of this sandbox are open, and none was closed in {acquire_timeout_s:g} s; "
                "close some, or raise max_sessions or acquire_timeout_s"
            )

    def release(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    def _leave(self, turn: threading.Event) -> bool:
        """Stop waiting; False if a place was given in the last moment."""
        with self._lock:
            if turn.is_set():
                return False
            self._waiting.remove(turn)
            return True
