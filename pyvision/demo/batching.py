"""Groups events into batches, so that the page is not updated more often than a person can follow."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from queue import Empty
from typing import TypeVar

from pyvision.agent.pump import Pump

T = TypeVar("T")


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
