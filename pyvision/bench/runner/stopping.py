"""Ctrl-C and SIGTERM during a run: the first ends it in good order, the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from pyvision.bench.runner.engines import Engine

GRACE_S = 24.0  # for running samples; with the seconds that an engine takes to stop them, under 30
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """While it is entered, a signal lets the engine take no more samples, and ends the running ones after a while.

    The second signal raises KeyboardInterrupt. Signals are taken in the main thread only; elsewhere it does nothing.
    A signal that was ignored before stays ignored.
    """

    def __init__(self, engine: Engine, tell: Callable[[str], None], grace_s: float = GRACE_S) -> None:
        self.seen = False
        self._engine = engine
        self._tell = tell
        self._timer = threading.Timer(grace_s, engine.stop)
        self._timer.daemon = True
        self._timed = False
        self._before: dict[signal.Signals, Any] = {}

    def drain(self) -> None:
        """No more samples; the running ones have the grace period."""
        self._engine.drain()
        if not self._timed:
            self._timed = True
            self._timer.start()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
        self.drain()
        self._tell("no new samples; running ones have half a minute to end, a second signal stops at once")
