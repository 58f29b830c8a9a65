"""Which question comes next for whom; questions that were brought to an end do not come again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyvision.bench.samples import Sample
from pyvision.errors import ImageError
from pyvision.experiments.avis_study.annotation import Task
from pyvision.images.read import decode, read
from pyvision.types import Question


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a study is, as one person sees it: of `total` questions, `done` are over.

    broken: those that cannot be shown, and why; they do not count.
    """

    done: int
    total: int
    broken: tuple[str, ...] = ()


class TaskQueue:
    """The questions of a study; thread-safe. everyone: each person gets every question, not a share of them."""

    def __init__(
        self, samples: Sequence[Sample], ended: Iterable[tuple[str, str]], *, everyone: bool = False
    ) -> None:
        """ended: (user, question id) of what was brought to an end before."""
        self._samples = {sample.id: sample for sample in samples}
        self._broken: tuple[str, ...] = ()
        self._everyone = everyone
        self._ended = {self._key(user, question) for user, question in ended if question in self._samples}
        self._taken: dict[tuple[str, str], str] = {}  # what lies on somebody's desk
        self._lock = threading.Lock()

    def next(self, user: str, visitor: str) -> Task | None:
        """The next question for this person, which lies on the visitor's desk from now on; None when all are done."""
        with self._lock:
            self._leave(visitor)
            for sample in tuple(self._samples.values()):
                key = self._key(user, sample.id)
                if key in self._ended or key in self._taken:
                    continue
                if task := self._task(sample):
                    self._taken[key] = visitor
                    return task
        return None

    def end(self, user: str, question: str) -> None:
        """It was brought to an end."""
        with self._lock:
            self._ended.add(self._key(user, question))

    def leave(self, visitor: str) -> None:
        """What lies on this visitor's desk may go to another one."""
        with self._lock:
            self._leave(visitor)

    def progress(self, user: str) -> Progress:
        with self._lock:
            done = sum(self._key(user, question) in self._ended for question in self._samples)
            return Progress(done, len(self._samples), self._broken)

    def _task(self, sample: Sample) -> Task | None:
        """None for one whose picture cannot be used: it is left out from now on."""
        try:
            return task_of(sample)
        except ImageError as error:
            self._broken = (*self._broken, f"{sample.id}: {error}")
            del self._samples[sample.id]
            return None

    def _leave(self, visitor: str) -> None:
        self._taken = {key: by for key, by in self._taken.items() if by != visitor}

    def _key(self, user: str, question: str) -> tuple[str, str]:
        return (user if self._everyone else "", question)


def task_of(sample: Sample) -> Task:
    """The question as a person sees it, with its pictures read. Raises ImageError."""
    pictures = [
        read(image) if isinstance(image, Path) else decode(image, f"of {sample.id}")
        for image in sample.images
    ]
    return Task(sample.id, Question(sample.text, tuple(pictures), sample.choices, sample.context))
