"""Run a producer of events in a thread, and read the events in another one, singly or in batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from queue import Empty, SimpleQueue
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


def batches(
    events: Callable[[], Iterator[T]], stop: Callable[[], None], interval_s: float
) -> Generator[tuple[T, ...]]:
    """All events in order: the first and the last at once, the others at most every `interval_s`.

    A thread reads them, so that a slow consumer gets larger batches. Closing this iterator early calls `stop`, which
    must end the events, and waits until it has. Raises what `events` raises, after the events before it.
    """

    def produce(put: Callable[[T], None]) -> None:
        for event in events():
            put(event)

    pump = Pump(produce)
    is_over, not_before = False, 0.0
    try:
        while not is_over:
            batch, is_over = _gather(pump, not_before)
            not_before = time.monotonic() + interval_s
            if batch:
                yield batch
    finally:
        if not is_over:
            stop()
        pump.join()
    pump.check()


def _gather(pump: Pump[T], not_before: float) -> tuple[tuple[T, ...], bool]:
    """The events that came until `not_before`, at least one, and whether they were the last; returns early then."""
    batch: list[T] = []
    event = pump.get()
    while event is not None:
        batch.append(event)
        try:
            event = pump.get(max(0.0, not_before - time.monotonic()))
        except Empty:
            return tuple(batch), False
    return tuple(batch), True
