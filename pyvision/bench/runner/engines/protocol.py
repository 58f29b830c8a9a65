"""What a runner asks of an engine: it takes jobs as it has room for them, and gives each back when it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from pyvision.bench.samples import Record, Sample
from pyvision.events import Event


@dataclass(frozen=True, slots=True)
class Job:
    """One sample to answer once more. attempt: from 1; more after an infrastructure failure."""

    sample: Sample
    repeat: int
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Finished:
    """A job that ended, with all that happened. fatal: why no other sample can fare better, if that is so."""

    job: Job
    record: Record
    events: tuple[Event, ...]
    fatal: Exception | None = None


class Engine(Protocol):
    """Answers samples, several at once. Writes nothing: what it gives back is the runner's to keep.

    Used by one thread, but for `drain` and `stop`, which a signal handler may call.
    """

    def answer(self, jobs: Iterator[Job]) -> Iterator[Finished]:
        """Every job that was taken, in the order in which they end. Takes no more jobs than it has room for."""
        ...

    def drain(self) -> None:
        """Take no more jobs."""
        ...

    def stop(self) -> None:
        """End the jobs that are running; they come back as interrupted, those that can be reached."""
        ...

    def close(self) -> None:
        """Give back what the engine holds. Does not wait for jobs."""
        ...
