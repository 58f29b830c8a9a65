"""Kernels that are started before they are needed."""

from __future__ import annotations

import threading
from collections import deque

from sandbox.errors import SandboxError
from sandbox.runtime.engine import Engine
from sandbox.runtime.kernel import Kernel

_FIRST_CELL_S = 0.05  # left to the first cell of the kernel just taken: starting another one needs a core


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
