"""The participants of a study: each browser tab with its pseudonym and question, and the queue of open questions."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, ImageError
from pyvision.experiments.avis_study.annotation import AnnotationSession, StudyTask
from pyvision.experiments.avis_study.log import Log
from pyvision.experiments.avis_study.toolbox import StudyToolbox
from pyvision.images.read import decode, read
from pyvision.types import Question

_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class Tab:
    """One browser tab. session: None when no question is left."""

    user: str
    session: AnnotationSession | None = None


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The state of a study for one participant: `done` of `total` questions are closed.

    broken: the questions that cannot be shown, and why; they do not count.
    """

    done: int
    total: int
    broken: tuple[str, ...] = ()


class TabRegistry:
    """The open tabs; thread-safe. Raises RunFolderError if the log cannot be written."""

    def __init__(self, queue: TaskQueue, toolbox: StudyToolbox, log: Log) -> None:
        self.toolbox = toolbox
        self._queue = queue
        self._log = log
        self._tabs: dict[str, Tab] = {}
        self._lock = threading.Lock()

    def join(self, tab_id: str, name: str) -> Tab:
        """Register a tab under this pseudonym, or a generated one, and give it a question."""
        user = "".join(letter for letter in name if letter.isprintable()).strip()[:_NAME_CHARS]
        return self._assign(tab_id, Tab(user or f"p-{secrets.token_hex(3)}"))

    def tab(self, tab_id: str) -> Tab:
        """Raises ConfigError for an unknown tab, for example after a restart of the server."""
        with self._lock:
            tab = self._tabs.get(tab_id)
        if tab is None:
            raise ConfigError("this page has expired; reload it")
        return tab

    def session(self, tab_id: str) -> AnnotationSession:
        """Raises ConfigError if the tab has no question."""
        session = self.tab(tab_id).session
        if session is None:
            raise ConfigError("there are no more questions; the study is over")
        return session

    def close(self, tab_id: str, answer: str | None) -> Tab:
        """Close the tab's question and assign the next one. answer: None if the participant gives up."""
        tab = self.tab(tab_id)
        session = self.session(tab_id)
        session.close(answer)
        self._queue.end(session.user, session.task.id)
        return self._assign(tab_id, tab)

    def progress(self, user: str) -> StudyProgress:
        return self._queue.progress(user)

    def leave(self, tab_id: str) -> None:
        """The tab was closed; its question becomes available to others."""
        with self._lock:
            self._tabs.pop(tab_id, None)
        self._queue.leave(tab_id)

    def _assign(self, tab_id: str, tab: Tab) -> Tab:
        task = self._queue.next(tab.user, tab_id)
        session = AnnotationSession(task, tab.user, self.toolbox, self._log) if task else None
        tab = replace(tab, session=session)
        with self._lock:
            self._tabs[tab_id] = tab
        return tab


class TaskQueue:
    """The open questions of a study; thread-safe. everyone: each participant gets every question, not a share."""

    def __init__(
        self, samples: Sequence[Sample], closed: Iterable[tuple[str, str]], *, everyone: bool = False
    ) -> None:
        """closed: (user, question id) of the questions that were closed before."""
        self._samples = {sample.id: sample for sample in samples}
        self._broken: tuple[str, ...] = ()
        self._everyone = everyone
        self._closed = {self._key(user, question) for user, question in closed if question in self._samples}
        self._assigned: dict[tuple[str, str], str] = {}  # key -> tab
        self._lock = threading.Lock()

    def next(self, user: str, tab_id: str) -> StudyTask | None:
        """Assign this participant's next question to the tab; None when all are closed or assigned."""
        with self._lock:
            self._release(tab_id)
            for sample in tuple(self._samples.values()):
                key = self._key(user, sample.id)
                if key in self._closed or key in self._assigned:
                    continue
                if task := self._read(sample):
                    self._assigned[key] = tab_id
                    return task
        return None

    def end(self, user: str, question: str) -> None:
        """The question was closed."""
        with self._lock:
            self._closed.add(self._key(user, question))

    def leave(self, tab_id: str) -> None:
        """Make the tab's question available to others."""
        with self._lock:
            self._release(tab_id)

    def progress(self, user: str) -> StudyProgress:
        with self._lock:
            done = sum(self._key(user, question) in self._closed for question in self._samples)
            return StudyProgress(done, len(self._samples), self._broken)

    def _read(self, sample: Sample) -> StudyTask | None:
        """None if an image cannot be used: the question is then removed from the study."""
        try:
            return read_task(sample)
        except ImageError as error:
            self._broken = (*self._broken, f"{sample.id}: {error}")
            del self._samples[sample.id]
            return None

    def _release(self, tab_id: str) -> None:
        self._assigned = {key: tab for key, tab in self._assigned.items() if tab != tab_id}

    def _key(self, user: str, question: str) -> tuple[str, str]:
        return (user if self._everyone else "", question)


def read_task(sample: Sample) -> StudyTask:
    """The question as a participant sees it, with its images. Raises ImageError."""
    images = [
        read(image) if isinstance(image, Path) else decode(image, f"of {sample.id}")
        for image in sample.images
    ]
    return StudyTask(sample.id, Question(sample.text, tuple(images), sample.choices, sample.context))
