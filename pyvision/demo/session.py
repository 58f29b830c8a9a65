"""One visitor's conversation and what is to be seen of it; and all visitors, who know nothing of each other."""

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
from pyvision.runs.export.formats import export
from pyvision.runs.report import read_run, report
from pyvision.runs.report.markup import Markup
from pyvision.runs.report.run import write_file
from pyvision.solve import Task
from pyvision.trajectory import picture_file
from pyvision.types import Picture, Question
from sandbox import Sandbox, SandboxError

_SETTLE_S = 3.0  # a question that has just ended may take so long to leave
_LEAST_S = 0.1  # between two updates

Pieces = tuple[
    Markup, ...
]  # a conversation as HTML, to be joined; most parts stay as they are from update to update


class ChatSession:
    """Where one visitor sits. One question at a time; `stop` and `leave` come from other threads."""

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

    def announced(self, text: str) -> Pieces:
        """The conversation with a question that has yet to be taken up: its pictures are still being read."""
        return (*self.pieces, *announced(text, self._count + 1))

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
        """What is to be seen, each time that it changes."""
        question = Question(text, tuple(pictures))
        return self._render(task, question, lambda: self._conversation.ask(text, pictures))

    def go_on(self, task: Task, code: str, cell: int) -> Iterator[Pieces]:
        """As `ask`, from a cell that was edited."""
        return self._render(task, Question(""), lambda: self._conversation.go_on(code, cell))

    def stop(self) -> None:
        self._conversation.stop()

    def leave(self) -> None:
        """End the conversation and its kernel."""
        self._conversation.close()

    def _render(
        self, task: Task, question: Question, events: Callable[[], Iterator[Event]]
    ) -> Iterator[Pieces]:
        if not self._busy.acquire(timeout=_SETTLE_S):
            yield self.pieces  # sent past the page, which allows one question at a time: the first one goes on
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
        folder = self._out / str(len(self._conversation.runs))  # of the question that comes
        return lambda picture: self._address(folder / picture_file(picture))

    def _watch(self, view: View, events: Callable[[], Iterator[Event]]) -> Iterator[Pieces]:
        try:
            with closing(batches(events, self._conversation.stop, _LEAST_S)) as come:
                for batch in come:
                    for event in batch:
                        view.take(event)
                    yield self.pieces
        except (PyVisionError, SandboxError) as error:
            view.fail(str(error))
            yield self.pieces


def announced(text: str, number: int = 1) -> Pieces:
    """A question of which nothing is known but its text."""
    return View(number, Question(text), str).pieces


class SessionRegistry:
    """A desk for each visitor, by the key of their browser's session; who is silent for `idle_s` has left."""

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
        """The desk of this visitor; a new one for who is new."""
        with self._lock:
            if visitor not in self._sessions:
                folder = self._out / secrets.token_hex(16)  # nobody guesses where another one's pictures lie
                self._sessions[visitor] = ChatSession(self._sandbox, task, folder, self._address)
            session = self._sessions[visitor]
            session.seen_at = time.monotonic()
            return session

    def find(self, visitor: str) -> ChatSession | None:
        return self._sessions.get(visitor)

    def leave(self, visitor: str) -> None:
        """The visitor's kernel ends; their run folders stay."""
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


# ---- What a visitor takes home of a question: its report, its notebook, and its whole record.


def downloads(run_dir: Path) -> tuple[Path, ...]:
    """A report, a notebook with its pictures, and the record itself; written beside the run folder."""
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
