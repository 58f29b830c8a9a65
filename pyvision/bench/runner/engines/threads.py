"""Answer samples in threads of this process, over one sandbox and one set of models."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from pyvision.bench.runner.engines.protocol import Finished, Job
from pyvision.bench.runner.engines.worker_context import WorkerContext

_LAST_S = (
    5.0  # how long a job may take to end once it was stopped; a model that is thinking cannot be reached
)


class Threads:
    """So many workers at one station.

    The threads are daemons: one that waits for a model which does not answer cannot keep the process alive.
    """

    def __init__(self, context: WorkerContext, workers: int) -> None:
        self._context = context
        self._workers = workers
        self._todo: SimpleQueue[Job | None] = SimpleQueue()
        self._done: SimpleQueue[Finished | None] = SimpleQueue()
        self._is_draining = False
        self._stopped_at: float | None = None
        self._started = 0

    def answer(self, jobs: Iterator[Job]) -> Iterator[Finished]:
        """Every job that was taken, in the order in which they end."""
        running = self._take(jobs, self._workers)
        while running and (finished := self._next()) is not None:
            running += self._take(jobs, 1) - 1  # before the other is written down: nobody waits for that
            yield finished

    def drain(self) -> None:
        """Take no more jobs."""
        self._is_draining = True

    def stop(self) -> None:
        """End every running episode; its kernel goes at once, a model's reply is waited for a few seconds."""
        self._is_draining = True
        self._stopped_at = time.monotonic()
        self._done.put(None)  # wakes the one who waits without a limit
        self._context.stop()

    def close(self) -> None:
        """Let the threads go home when they are through with what they do."""
        for _ in range(self._started):
            self._todo.put(None)
        self._started = 0

    def _take(self, jobs: Iterator[Job], most: int) -> int:
        taken = 0
        while taken < most and not self._is_draining and (job := next(jobs, None)) is not None:
            self._todo.put(job)
            taken += 1
            if self._started < self._workers:
                self._started += 1
                threading.Thread(target=self._work, name=f"sample-{self._started}", daemon=True).start()
        return taken

    def _next(self) -> Finished | None:
        """The next job that ended; None when those that are left do not end after they were stopped."""
        while True:
            try:
                finished = self._done.get(timeout=self._seconds_left())
            except Empty:
                return None
            if finished is not None:
                return finished

    def _seconds_left(self) -> float | None:
        stopped_at = self._stopped_at
        return None if stopped_at is None else max(0.0, stopped_at + _LAST_S - time.monotonic())

    def _work(self) -> None:
        while (job := self._todo.get()) is not None:
            self._done.put(self._context.answer(job))
