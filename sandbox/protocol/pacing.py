"""Share this process among its sessions: one that is always busy costs a session with a short cell now and then little.

A session has a credit of running time. Once it is spent, its cells get a small share of the processors, and the host
reads their output one session at a time, with pauses: all of them need the interpreter of this process.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_MAX_CREDIT_S, _CREDIT_PER_S = 0.5, 0.1
_SHORT_S = 0.0001  # less time of the interpreter than this is not worth a pause
_PAUSE_FACTOR, _MAX_PAUSE_S = 20, 0.2
_SWITCH_S = 0.001  # Python's default of 5 ms is half of what a short cell takes


class Credit:
    """How long the cells of a session may still run before those of others; it grows back slowly in pauses."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left_s = _MAX_CREDIT_S
        self._at = clock()

    def remaining_s(self) -> float:
        """What is left now, at the start of a cell."""
        now = self._clock()
        self._left_s = min(self._left_s + (now - self._at) * _CREDIT_PER_S, _MAX_CREDIT_S)
        self._at = now
        return self._left_s

    def spend(self) -> None:
        """Subtract the time since the cell started."""
        now = self._clock()
        self._left_s = max(self._left_s - (now - self._at), 0.0)
        self._at = now


class Pacing:
    """The requests that wait for their kernels in this process. Thread-safe."""

    def __init__(self) -> None:
        self._count = self._paced = 0
        self._usual_switch_s = 0.0
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a request while it waits."""
        with self._lock:
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1

    @contextmanager
    def switching(self) -> Iterator[None]:
        """While sessions without credit run, let the threads of this process take turns at the interpreter often."""
        with self._lock:
            if not self._paced:
                self._usual_switch_s = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual_switch_s, _SWITCH_S))
            self._paced += 1
        try:
            yield
        finally:
            with self._lock:
                self._paced -= 1
                if not self._paced:
                    sys.setswitchinterval(self._usual_switch_s)

    def read(self, read: Callable[[], bool]) -> bool:
        """Read output of a session without credit, in its turn, and pause. True also if the turn did not come."""
        if not self._turn.acquire(timeout=_MAX_PAUSE_S):
            return True  # nothing is lost: the kernel waits meanwhile
        try:
            started = time.monotonic()
            received = read()
            if received and self._count > 1:
                _pause(time.monotonic() - started)
            return received
        finally:
            self._turn.release()

    def repay(self, spent_s: float) -> None:
        """Pause after a cell of a session without credit, for which this thread used the interpreter so long."""
        if self._count:
            _pause(spent_s)


def _pause(spent_s: float) -> None:
    if spent_s > _SHORT_S:
        time.sleep(min(spent_s * _PAUSE_FACTOR, _MAX_PAUSE_S))


PACING = Pacing()
