"""The engines that answer samples: threads of this process, or a Ray cluster (`pyvision.bench.runner.ray`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from pyvision.agent.task import Task
from pyvision.bench.runner.answering import Finished, Hooks, Job, SampleEngine, T, WorkerContext
from pyvision.bench.runner.failures import check_sandbox
from pyvision.bench.runner.plan import Plan
from pyvision.errors import ConfigError
from sandbox import Sandbox

_STOP_S = 5.0  # how long a job may take to end after `stop`; a pending reply of a model cannot be interrupted


Opener: TypeAlias = Callable[[Plan, Task, Hooks], AbstractContextManager[SampleEngine]]


def find_engine(name: str) -> Opener:
    """Opens the engine of that name, after its sandbox has run one cell; raises sandbox.SandboxError if it cannot.

    Raises ConfigError for an unknown engine.
    """
    if name not in ENGINES:
        raise ConfigError(f"unknown engine {name!r}; known engines are {', '.join(ENGINES)}")
    return ENGINES[name]


@contextmanager
def _open_threads(plan: Plan, task: Task, hooks: Hooks) -> Iterator[SampleEngine]:
    with Sandbox(task.policy, max_sessions=plan.workers) as sandbox:
        check_sandbox(task, sandbox)
        context = WorkerContext(task, sandbox, plan.around(), hooks)
        with closing(Threads(context, plan.workers)) as engine:
            yield engine


@contextmanager
def _open_ray(plan: Plan, task: Task, _: Hooks) -> Iterator[SampleEngine]:
    from pyvision.bench.runner.ray import open_ray

    with open_ray(plan) as engine:
        yield engine


ENGINES: Mapping[str, Opener] = {"threads": _open_threads, "ray": _open_ray}


class Threads:
    """`workers` threads over one sandbox and one set of models.

    They are daemon threads: waiting for a model that does not answer cannot keep the process alive.
    """

    def __init__(self, context: WorkerContext, workers: int) -> None:
        self._context = context
        self._workers = workers
        self._todo: SimpleQueue[Job | None] = SimpleQueue()
        self._done: SimpleQueue[Any] = SimpleQueue()  # what `finish` returned, _Failed, or _WAKE
        self._is_draining = False
        self._stopped_at: float | None = None
        self._thread_count = 0

    def answer(self, jobs: Iterator[Job], finish: Callable[[Finished], T]) -> Iterator[tuple[T, ...]]:
        """Yields what `finish`, which runs in the worker threads, makes of the jobs that have ended."""
        running = self._take(jobs, self._workers, finish)
        while running and (ended := self._next()):
            yield ended
            running += self._take(jobs, len(ended), finish) - len(ended)

    def drain(self) -> None:
        """Take no more jobs."""
        self._is_draining = True

    def stop(self) -> None:
        """End every running episode: kernels are killed at once, pending replies get a few seconds."""
        self._is_draining = True
        self._stopped_at = time.monotonic()
        self._done.put(_WAKE)  # for `answer`, which waits without a timeout
        self._context.stop()

    def close(self) -> None:
        """Let each thread exit after its current job."""
        for _ in range(self._thread_count):
            self._todo.put(None)
        self._thread_count = 0

    def _take(self, jobs: Iterator[Job], most: int, finish: Callable[[Finished], Any]) -> int:
        taken = 0
        while taken < most and not self._is_draining and (job := next(jobs, None)) is not None:
            self._todo.put(job)
            taken += 1
            if self._thread_count < self._workers:
                self._thread_count += 1
                name = f"sample-{self._thread_count}"
                threading.Thread(target=self._work, args=(finish,), name=name, daemon=True).start()
        return taken

    def _next(self) -> tuple[Any, ...]:
        """All jobs that have ended, at least one; none when the remaining ones do not end after `stop`."""
        ended: list[Any] = []
        try:
            while not ended:
                self._add_ended(ended, self._done.get(timeout=self._seconds_left()))
            while True:
                self._add_ended(ended, self._done.get_nowait())
        except Empty:
            return tuple(ended)

    @staticmethod
    def _add_ended(ended: list[Any], found: Any) -> None:
        if isinstance(found, _Failed):
            raise found.error
        if found is not _WAKE:
            ended.append(found)

    def _seconds_left(self) -> float | None:
        stopped_at = self._stopped_at
        return None if stopped_at is None else max(0.0, stopped_at + _STOP_S - time.monotonic())

    def _work(self, finish: Callable[[Finished], Any]) -> None:
        while (job := self._todo.get()) is not None:
            try:
                self._done.put(finish(self._context.answer(job)))
            except BaseException as error:  # noqa: BLE001 - raised in the thread that waits for this job
                self._done.put(_Failed(error))


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


_WAKE = object()
