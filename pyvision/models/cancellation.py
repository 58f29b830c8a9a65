"""Ending a run from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyvision.errors import LimitReached


class Cancellation:
    """A token that the caller of a run keeps and may cancel, from any thread, also before the run begins.

    One token may be passed to many runs: `cancel` ends all of them. It stays cancelled.
    """

    def __init__(self) -> None:
        self._is_cancelled = False
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.RLock()

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def cancel(self) -> None:
        """End every run that has this token: its cell and its model request at once, all else at its next step."""
        with self._lock:
            if self._is_cancelled:
                return
            self._is_cancelled = True
            for callback in tuple(self._callbacks):
                callback()

    def check(self) -> None:
        """Raises LimitReached once it is cancelled."""
        if self._is_cancelled:
            raise LimitReached("interrupted", "stopped by the caller")

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call back, on the cancelling thread, if it is cancelled in this block; never after the block.

        Raises LimitReached if it is cancelled already.
        """
        with self._lock:
            self.check()
            self._callbacks.append(callback)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)
