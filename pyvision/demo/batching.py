"""Events in batches, so that a screen is not drawn more often than anybody can look."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def batches(
    events: Callable[[], Iterator[T]], stop: Callable[[], None], least_s: float
) -> Generator[tuple[T, ...]]:
    """All events, in order: the first at once, what comes within `least_s` of a batch with the next, the end at once.

    A thread reads them, so that whoever is slow to show a batch gets more in the next. Closing this iterator before
    their end calls `stop`, which has to bring it about, and waits for it. Raises what `events` raises, after what came
    before.
    """
    queue: SimpleQueue[T | _Over] = SimpleQueue()
    reader = threading.Thread(target=_read, args=(events, queue.put), name="events", daemon=True)
    reader.start()
    over, not_before = None, 0.0
    try:
        while over is None:
            batch, over = _gather(queue, not_before)
            not_before = time.monotonic() + least_s
            if batch:
                yield batch
    finally:
        if over is None:
            stop()
        reader.join()
    if over.error is not None:
        raise over.error


@dataclass(frozen=True, slots=True)
class _Over:
    """Nothing more comes; what reading failed with, if it did."""

    error: Exception | None = None


def _read(events: Callable[[], Iterator[T]], tell: Callable[[T | _Over], None]) -> None:
    try:
        for event in events():
            tell(event)
    except Exception as error:  # noqa: BLE001 - it is the showing thread's to raise
        tell(_Over(error))
    else:
        tell(_Over())


def _gather(queue: SimpleQueue[T | _Over], not_before: float) -> tuple[tuple[T, ...], _Over | None]:
    """What has come by `not_before`, one at least; without waiting for more once it is over."""
    batch: list[T] = []
    come = queue.get()
    while not isinstance(come, _Over):
        batch.append(come)
        try:
            come = queue.get(timeout=max(0.0, not_before - time.monotonic()))
        except Empty:
            return tuple(batch), None
    return tuple(batch), come
