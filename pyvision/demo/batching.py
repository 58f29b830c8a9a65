"""Groups events into batches, so that the page is not updated more often than a person can follow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def batches(
    events: Callable[[], Iterator[T]], stop: Callable[[], None], interval_s: float
) -> Generator[tuple[T, ...]]:
    """All events in order: the first and the last at once, the others at most every `interval_s`.

    A thread reads them, so that a slow consumer gets larger batches. Closing this iterator early calls `stop`, which
    must end the events, and waits until it has. Raises what `events` raises, after the events before it.
    """
    queue: SimpleQueue[T | _End] = SimpleQueue()
    reader = threading.Thread(target=_read, args=(events, queue.put), name="events", daemon=True)
    reader.start()
    end, not_before = None, 0.0
    try:
        while end is None:
            batch, end = _gather(queue, not_before)
            not_before = time.monotonic() + interval_s
            if batch:
                yield batch
    finally:
        if end is None:
            stop()
        reader.join()
    if end.error is not None:
        raise end.error


@dataclass(frozen=True, slots=True)
class _End:
    """No more events; the error that ended them, if one did."""

    error: Exception | None = None


def _read(events: Callable[[], Iterator[T]], put: Callable[[T | _End], None]) -> None:
    try:
        for event in events():
            put(event)
    except Exception as error:  # noqa: BLE001 - raised in the consuming thread
        put(_End(error))
    else:
        put(_End())


def _gather(queue: SimpleQueue[T | _End], not_before: float) -> tuple[tuple[T, ...], _End | None]:
    """The events that came until `not_before`, at least one; returns early at the end."""
    batch: list[T] = []
    item = queue.get()
    while not isinstance(item, _End):
        batch.append(item)
        try:
            item = queue.get(timeout=max(0.0, not_before - time.monotonic()))
        except Empty:
            return tuple(batch), None
    return tuple(batch), item
