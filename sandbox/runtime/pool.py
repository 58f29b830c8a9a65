"""Limits how many sessions run at once, and queues callers first-in, first-out."""

from __future__ import annotations

import threading
from collections import deque

from sandbox.errors import SandboxBusy, SandboxError
from sandbox.runtime.engine import Engine
from sandbox.runtime.kernel import Kernel

_FIRST_CELL_S = 0.05  # left to the first cell of the kernel just taken: starting another one needs a core


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


class WarmPool:
    """Keeps `count` kernels ready, started one after the other by a private thread. Thread-safe."""

    def __init__(self, engine: Engine, count: int) -> None:
        self._engine = engine
        self._count = count
        self._ready: deque[Kernel] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._keep_filled, name="sandbox-warm_pool", daemon=True)
        self._thread.start()

    def take(self) -> Kernel | None:
        """A running kernel, or None if none is ready."""
        while True:
            with self._changed:
                kernel = self._ready.popleft() if self._ready else None
                self._changed.notify()
            if kernel is None or kernel.is_alive():
                return kernel
            kernel.close()

    def close(self) -> None:
        """End the remaining kernels. May be called twice."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        while self._ready:
            self._ready.popleft().close()

    def _keep_filled(self) -> None:
        while self._wait_for_demand():
            try:
                kernel = self._engine.start(self._engine.images_folder())
                kernel.warm_up()
            except SandboxError:  # the next `open` fails with it too, and reports it
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, timeout=1.0)
                continue
            with self._changed:
                self._ready.append(kernel)

    def _wait_for_demand(self) -> bool:
        """Wait until a kernel is missing, and a moment longer; False once the pool is closed."""
        with self._changed:
            if len(self._ready) == self._count:
                self._changed.wait_for(lambda: self._closed or len(self._ready) < self._count)
                self._changed.wait_for(lambda: self._closed, timeout=_FIRST_CELL_S)
            return not self._closed
