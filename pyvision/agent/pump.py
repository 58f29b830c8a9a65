"""Run a producer of events in a thread, and read the events in another one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Pump(Generic[T]):
    """What `produce(put)` puts, in order, while it runs in a daemon thread. Items are never None."""

    def __init__(self, produce: Callable[[Callable[[T], None]], None]) -> None:
        self._produce = produce
        self._items: SimpleQueue[T | None] = SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)
        self._thread.start()

    def get(self, timeout_s: float | None = None) -> T | None:
        """The next item; None after the last one. Raises queue.Empty if none comes in time."""
        return self._items.get(timeout=timeout_s)

    def __iter__(self) -> Iterator[T]:
        while (item := self.get()) is not None:
            yield item

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until the producer has returned, at most this long."""
        self._thread.join(timeout_s)

    def check(self) -> None:
        """Raise what the producer raised, if it did; call it after the last item."""
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._produce(self._items.put)
        except BaseException as error:  # noqa: BLE001 - raised by `check` in the reading thread
            self._error = error
        finally:
            self._items.put(None)
