"""Who sits at the study page: each browser tab with its pseudonym and its desk; what is on it goes with the tab."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, replace

from pyvision.errors import ConfigError
from pyvision.experiments.avis_study.annotation import AnnotationSession
from pyvision.experiments.avis_study.log import Log
from pyvision.experiments.avis_study.queue import Progress, TaskQueue
from pyvision.experiments.avis_study.toolbox import Toolbox

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
