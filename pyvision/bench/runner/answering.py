"""Answer one sample: read its images, run the strategy, summarise what happened as a record.

`SampleEngine` is the interface between the runner and whatever answers several samples at once.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from pyvision.agent.episode import Sandbox
from pyvision.agent.task import Task
from pyvision.bench.runner.failures import FailureDetector
from pyvision.bench.runner.kept_replies import KeptReplies
from pyvision.bench.runner.plan import Around
from pyvision.bench.samples import Record, Sample
from pyvision.errors import ImageError
from pyvision.events import CellRun, Event, ModelCall, PassingEvent, RunEnded
from pyvision.images import read as image_reader
from pyvision.models.cancellation import Cancellation
from pyvision.solve import solve
from pyvision.types import Picture, Question

_NAME_CHARS = 300  # of an image in the error of a record


@dataclass(frozen=True, slots=True)
class Job:
    """One sample to answer. attempt: counted from 1; higher after an infrastructure failure."""

    sample: Sample
    repeat: int
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Finished:
    """A job that ended, with its events. fatal: the failure that every other sample would meet too, if any."""

    job: Job
    record: Record
    events: tuple[Event, ...]
    fatal: Exception | None = None


T = TypeVar("T")


class SampleEngine(Protocol):
    """Answers several samples at once. The runner records what an engine returns.

    Used by one thread, except that a signal handler may call `drain` and `stop`.
    """

    def answer(self, jobs: Iterator[Job], finish: Callable[[Finished], T]) -> Iterator[tuple[T, ...]]:
        """Yields what `finish` makes of the jobs that have ended, which may be several.

        finish: called once for each job, in any thread; an exception of it is raised here. A worker gets its next job
        only after the caller asks for the next jobs that ended: until then, the caller can record these.
        """
        ...

    def drain(self) -> None:
        """Take no more jobs."""
        ...

    def stop(self) -> None:
        """End the running jobs; those that can be reached are yielded as interrupted."""
        ...

    def close(self) -> None:
        """Release what the engine holds. Does not wait for jobs."""
        ...


@dataclass(frozen=True, slots=True)
class Hooks:
    """What jobs reach outside of themselves. keep: opens what was kept of a job's replies.

    watch: gets the passing events of all jobs, in their threads.
    """

    keep: Callable[[Job], KeptReplies | None] = lambda job: None
    watch: Callable[[PassingEvent], None] = lambda event: None


NO_HOOKS = Hooks()


def answer_job(
    task: Task,
    open_sandbox: Callable[[Sample], Sandbox],
    job: Job,
    cancellation: Cancellation | None = None,
    hooks: Hooks = NO_HOOKS,
) -> Finished:
    """Answer the job's sample. Every failure ends up in the record; only KeyboardInterrupt and its like are raised.

    open_sandbox: returns the sandbox for a sample.
    """
    events: list[Event] = []
    detector = FailureDetector()

    def watch(event: Event) -> None:
        if isinstance(event, PassingEvent):
            hooks.watch(event)
        else:
            events.append(event)

    try:
        names = [_format_name(image) for image in job.sample.images]
        own = task.about(_read_question(job.sample), names)
        if (stored := hooks.keep(job)) is not None:
            own = replace(own, models=stored.around(own.models))
        own = detector.watch_models(own)
        solve(own, watch, detector.watch_sandbox(open_sandbox(job.sample)), cancellation=cancellation)
    except ImageError as error:  # only this sample is affected
        return Finished(job, _error_record(job, str(error)), tuple(events))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a bug fails its own sample; the runner decides about others
        if isinstance(error, Exception):
            detector.notice(error)
        if not (events and isinstance(events[-1], RunEnded)):
            return Finished(job, _error_record(job, traceback.format_exc()), tuple(events), detector.found)
    return Finished(job, summarise(job, events), tuple(events), detector.found)


def _read_question(sample: Sample) -> Question:
    """The sample's question with its images. Raises ImageError."""
    pictures = tuple(_picture(image, number) for number, image in enumerate(sample.images))
    return Question(sample.text, pictures, sample.choices, sample.context)


def summarise(job: Job, events: Sequence[Event]) -> Record:
    """The record of a job with these events, of which the last is RunEnded."""
    ended = events[-1]
    if not isinstance(ended, RunEnded):
        raise ValueError(f"sample {job.sample.id!r}: its last event is {ended.kind!r}, not 'ended'")
    calls = [event for event in events if isinstance(event, ModelCall)]
    cells = [event for event in events if isinstance(event, CellRun)]
    return Record(
        sample_id=job.sample.id,
        repeat=job.repeat,
        category=job.sample.category,
        answer=ended.outcome.answer,
        end_reason=ended.outcome.end_reason,
        error=ended.outcome.error,
        input_tokens=ended.usage.input_tokens,
        output_tokens=ended.usage.output_tokens,
        cached_tokens=ended.usage.cached_tokens,
        cost=ended.cost,
        seconds=ended.seconds,
        turns=ended.turns,
        cells=ended.cells,
        figures=sum(len(event.result.figures) for event in cells),
        sent_pixels=sum(sent.width * sent.height for event in calls for sent in event.sent),
    )


def _error_record(job: Job, why: str) -> Record:
    return Record(job.sample.id, job.repeat, job.sample.category, None, "error", error=why)


def _picture(image: bytes | Path, number: int) -> Picture:
    return (
        image_reader.decode(image, f"number {number}")
        if isinstance(image, bytes)
        else image_reader.read(image)
    )


def _format_name(image: bytes | Path) -> str:
    return f"{len(image)} bytes" if isinstance(image, bytes) else str(image)[:_NAME_CHARS]


class WorkerContext:
    """What one process needs to answer jobs, in any number of threads. The caller closes `task` and `sandbox`."""

    def __init__(
        self,
        task: Task,
        sandbox: Sandbox,
        around: Around = lambda sandbox, sample: sandbox,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self._task = task
        self._hooks = hooks
        self._sandbox = sandbox
        self._around = around
        self._cancellation = Cancellation()

    def answer(self, job: Job) -> Finished:
        """Answer the job's sample; failures end up in its record."""
        return answer_job(
            self._task,
            lambda sample: self._around(self._sandbox, sample),
            job,
            self._cancellation,
            self._hooks,
        )

    def stop(self) -> None:
        """End every running episode, and each one that starts later; their kernels are killed at once."""
        self._cancellation.cancel()
