"""Who sits at the study page: each browser tab with its pseudonym and its desk; what is on it goes with the tab."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, ImageError
from pyvision.experiments.avis_study.annotation import AnnotationSession, Task
from pyvision.experiments.avis_study.log import Log
from pyvision.experiments.avis_study.toolbox import Toolbox
from pyvision.images.read import decode, read
from pyvision.types import Question

_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab. desk: None when there is no question left."""

    user: str
    session: AnnotationSession | None = None


class SessionRegistry:
    """Thread-safe. Raises RunFolderError when the log takes no line."""

    def __init__(self, queue: TaskQueue, toolbox: Toolbox, log: Log) -> None:
        self.toolbox = toolbox
        self._queue = queue
        self._log = log
        self._seats: dict[str, Tab] = {}
        self._lock = threading.Lock()

    def sit(self, visitor: str, name: str) -> Tab:
        """A seat under this pseudonym, or one of our own making, with a question on it."""
        user = "".join(letter for letter in name if letter.isprintable()).strip()[:_NAME_CHARS]
        return self._seated(visitor, Tab(user or f"p-{secrets.token_hex(3)}"))

    def tab(self, visitor: str) -> Tab:
        """Raises ConfigError for somebody who has none, as after a restart of the server."""
        with self._lock:
            tab = self._seats.get(visitor)
        if tab is None:
            raise ConfigError("this page has no question any more; load it again")
        return tab

    def session(self, visitor: str) -> AnnotationSession:
        """Raises ConfigError where no question lies."""
        session = self.tab(visitor).session
        if session is None:
            raise ConfigError("there is no question left; the study is over")
        return session

    def close(self, visitor: str, answer: str | None) -> Tab:
        """End what lies there, and put the next question on it. answer: None of somebody who gives up."""
        tab = self.tab(visitor)
        session = self.session(visitor)
        session.close(answer)
        self._queue.end(session.user, session.task.id)
        return self._seated(visitor, tab)

    def progress(self, user: str) -> Progress:
        return self._queue.progress(user)

    def leave(self, visitor: str) -> None:
        """The tab was closed; its question may go to somebody else."""
        with self._lock:
            self._seats.pop(visitor, None)
        self._queue.leave(visitor)

    def _seated(self, visitor: str, tab: Tab) -> Tab:
        task = self._queue.next(tab.user, visitor)
        session = AnnotationSession(task, tab.user, self.toolbox, self._log) if task else None
        tab = replace(tab, session=session)
        with self._lock:
            self._seats[visitor] = tab
        return tab


# ---- Which question comes next for whom; questions that were brought to an end do not come again.


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
