"""Answer one sample: read its pictures, drive the strategy, sum up what happened as a record."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from pyvision.agent.episode import Sandbox
from pyvision.bench.runner.engines.failure_detector import FailureDetector
from pyvision.bench.runner.engines.protocol import Finished, Job
from pyvision.bench.samples import Record, Sample
from pyvision.errors import EndReason, ImageError
from pyvision.events import CellRun, Event, ModelCall, ReplyRestarted, RunEnded, TextDelta
from pyvision.images import read as image_reader
from pyvision.models.cancellation import Cancellation
from pyvision.solve import Task, solve
from pyvision.types import Picture, Question

_EXPLAINED = 300  # characters of a name in a record's error


def answer_job(
    task: Task, room: Callable[[Sample], Sandbox], job: Job, cancellation: Cancellation | None = None
) -> Finished:
    """The job, ended in whatever way; never raises but for KeyboardInterrupt and its like.

    room: the sandbox for a sample.
    """
    events: list[Event] = []
    failure_detector = FailureDetector()

    def watch(event: Event) -> None:
        if not isinstance(event, TextDelta | ReplyRestarted):  # they pass by
            events.append(event)

    try:
        question = question_of(job.sample)
        names = [_name(image) for image in job.sample.images]
        own = failure_detector.guarded(task.about(question, names))
        solve(own, watch, failure_detector.guarded_sandbox(room(job.sample)), cancellation=cancellation)
    except ImageError as error:  # this sample's own fault
        return Finished(job, _failed(job, str(error)), tuple(events))
    except Exception as error:  # noqa: BLE001 - a bug spoils its own sample; the runner decides about the others
        failure_detector.notice(error)
        if not _has_ended(events):
            return Finished(job, _failed(job, traceback.format_exc()), tuple(events), failure_detector.found)
    return Finished(job, record_of(job, events), tuple(events), failure_detector.found)


def question_of(sample: Sample) -> Question:
    """What is asked. Raises ImageError."""
    pictures = tuple(_picture(image, number) for number, image in enumerate(sample.images))
    return Question(sample.text, pictures, sample.choices, sample.context)


def record_of(job: Job, events: Sequence[Event]) -> Record:
    """The events of a job that ended, summed up."""
    ended = events[-1]
    if not isinstance(ended, RunEnded):
        raise ValueError(f"sample {job.sample.id!r}: its last event is {ended.kind!r}, not 'ended'")
    asked = [event for event in events if isinstance(event, ModelCall)]
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
        sent_pixels=sum(sent.width * sent.height for event in asked for sent in event.sent),
    )


def _failed(job: Job, why: str, end_reason: EndReason = "error") -> Record:
    sample = job.sample
    return Record(sample.id, job.repeat, sample.category, None, end_reason, error=why)


def _has_ended(events: Sequence[Event]) -> bool:
    return bool(events) and isinstance(events[-1], RunEnded)


def _picture(image: bytes | Path, number: int) -> Picture:
    return (
        image_reader.decode(image, f"number {number}")
        if isinstance(image, bytes)
        else image_reader.read(image)
    )


def _name(image: bytes | Path) -> str:
    return f"{len(image)} bytes" if isinstance(image, bytes) else str(image)[:_EXPLAINED]
