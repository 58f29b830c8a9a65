"""One visitor's conversation as HTML with its downloads, and the registry of all visitors, who are kept apart."""

from __future__ import annotations

import secrets
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pyvision.conversation import Conversation
from pyvision.demo.batching import batches
from pyvision.demo.view import View
from pyvision.errors import PyVisionError
from pyvision.events import Event
from pyvision.runs.export import export
from pyvision.runs.report import read_run, report
from pyvision.runs.report.markup import Markup
from pyvision.runs.report.run import write_file
from pyvision.solve import Task
from pyvision.trajectory import picture_file
from pyvision.types import Picture, Question
from sandbox import Sandbox, SandboxError

_SETTLE_S = 3.0  # how long the next question waits for one that is just ending
_UPDATE_INTERVAL_S = 0.1

Pieces = tuple[Markup, ...]  # a conversation as HTML, to be joined; most parts do not change between updates


class ChatSession:
    """The conversation of one visitor, one question at a time; `stop` and `leave` come from other threads."""

    def __init__(self, sandbox: Sandbox, task: Task, out: Path, address: Callable[[Path], str]) -> None:
        """out: the folder of the conversation. address: where a browser finds a file in it."""
        self._conversation = Conversation(task, sandbox, out)
        self._out = out
        self._address = address
        self._past: Pieces = ()  # all questions but the last
        self._view: View | None = None
        self._count = 0  # of questions
        self._busy = threading.Lock()
        self.seen_at = time.monotonic()

    @property
    def pieces(self) -> Pieces:
        """The whole conversation."""
        view = self._view
        return (*self._past, *view.pieces) if view else self._past

    def preview(self, text: str) -> Pieces:
        """The conversation with a new question whose images are still being read."""
        return (*self.pieces, *preview(text, self._count + 1))

    @property
    def cells(self) -> tuple[str, ...]:
        return self._conversation.cells

    @property
    def last_run(self) -> Path | None:
        return self._conversation.runs[-1] if self._conversation.runs else None

    @property
    def is_busy(self) -> bool:
        return self._busy.locked()

    def ask(self, task: Task, text: str, pictures: Sequence[Picture]) -> Iterator[Pieces]:
        """The whole conversation, each time it changes."""
        question = Question(text, tuple(pictures))
        return self._answer(task, question, lambda: self._conversation.ask(text, pictures))

    def resume(self, task: Task, code: str, cell: int) -> Iterator[Pieces]:
        """Like `ask`, but from a cell that was edited."""
        return self._answer(task, Question(""), lambda: self._conversation.go_on(code, cell))

    def stop(self) -> None:
        self._conversation.stop()

    def leave(self) -> None:
        """End the conversation and its kernel."""
        self._conversation.close()

    def _answer(
        self, task: Task, question: Question, events: Callable[[], Iterator[Event]]
    ) -> Iterator[Pieces]:
        if not self._busy.acquire(timeout=_SETTLE_S):
            yield self.pieces  # a second question at a time, which the page does not send, changes nothing
            return
        try:
            self._conversation.task = task
            self._past, self._count = self.pieces, self._count + 1
            self._view = view = View(self._count, question, self._addresses())
            yield self.pieces
            yield from self._watch(view, events)
        finally:
            self.seen_at = time.monotonic()
            self._busy.release()

    def _addresses(self) -> Callable[[Picture], str]:
        folder = self._out / str(len(self._conversation.runs))  # of the question that is being asked
        return lambda picture: self._address(folder / picture_file(picture))

    def _watch(self, view: View, events: Callable[[], Iterator[Event]]) -> Iterator[Pieces]:
        try:
            with closing(batches(events, self._conversation.stop, _UPDATE_INTERVAL_S)) as updates:
                for batch in updates:
                    for event in batch:
                        view.take(event)
                    yield self.pieces
        except (PyVisionError, SandboxError) as error:
            view.fail(str(error))
            yield self.pieces


class SessionRegistry:
    """A session for each visitor, by the key of their browser session; it expires after `idle_s` without a question."""

    def __init__(self, sandbox: Sandbox, out: Path, address: Callable[[Path], str], idle_s: float) -> None:
        self._sandbox = sandbox
        self._out = out
        self._address = address
        self._idle_s = idle_s
        self._sessions: dict[str, ChatSession] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        threading.Thread(target=self._expire_idle, name="idle-visitors", daemon=True).start()

    def __len__(self) -> int:
        return len(self._sessions)

    def session(self, visitor: str, task: Task) -> ChatSession:
        """The session of this visitor; a new one for a new visitor."""
        with self._lock:
            if visitor not in self._sessions:
                folder = self._out / secrets.token_hex(16)  # no visitor can guess the folder of another
                self._sessions[visitor] = ChatSession(self._sandbox, task, folder, self._address)
            session = self._sessions[visitor]
            session.seen_at = time.monotonic()
            return session

    def find(self, visitor: str) -> ChatSession | None:
        return self._sessions.get(visitor)

    def leave(self, visitor: str) -> None:
        """End the visitor's kernel; their run folders stay."""
        with self._lock:
            session = self._sessions.pop(visitor, None)
        if session is not None:
            session.leave()

    def close(self) -> None:
        self._closing.set()
        for visitor in tuple(self._sessions):
            self.leave(visitor)

    def _expire_idle(self) -> None:
        while not self._closing.wait(min(self._idle_s / 4, 30.0)):
            now = time.monotonic()
            for visitor, session in tuple(self._sessions.items()):
                if not session.is_busy and now > session.seen_at + self._idle_s:
                    self.leave(visitor)


def preview(text: str, number: int = 1) -> Pieces:
    """A question of which only the text is known."""
    return View(number, Question(text), str).pieces


def write_downloads(run_dir: Path) -> tuple[Path, ...]:
    """A report, a notebook with its images, and the trajectory, written beside the run folder."""
    run = read_run(run_dir)
    beside = run_dir.with_name(f"{run_dir.name}-files")
    write_file(beside / "report.html", report(run).encode())
    export(run, "ipynb", beside / "notebook")
    return (
        beside / "report.html",
        _archive(beside / "notebook", beside / "notebook.zip"),
        _archive(run_dir, beside / "trajectory.zip"),
    )


def _archive(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(path.stem) / file.relative_to(folder))
    return path
