"""One conversation of a visitor: its questions run in a private thread, and pages show its state as plain data."""

from __future__ import annotations

import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyvision.agent.pump import batches
from pyvision.agent.task import Task
from pyvision.config.files import write_file
from pyvision.conversation import Conversation
from pyvision.demo.view import DOWNLOADS, ChatView, Parts
from pyvision.errors import ConfigError, PyVisionError
from pyvision.events import Event, RunEnded
from pyvision.pages.markup import shorten
from pyvision.runs.export import export
from pyvision.runs.report import report
from pyvision.runs.run import read_run
from pyvision.text.prompts import render
from pyvision.types import Outcome, Picture, Question, Usage
from sandbox import Sandbox, SandboxError

_SETTLE_S = 5.0  # how long an action waits for a question that is just ending
_UPDATE_INTERVAL_S = 0.1
_TITLE_CHARS = 60
_MAX_WAITING = 200
_LOOK_S = 0.2


class AnswerQueue:
    """Admits a number of questions at a time, first come first served."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: list[object] = []
        self._changed = threading.Condition()

    def enter(self, is_stopped: Callable[[], bool], report: Callable[[int], None]) -> bool:
        """Wait for a place; False if it was stopped before. report: gets the place in the queue, from 1.

        Raises ConfigError if too many wait. The caller that was admitted calls `leave`.
        """
        ticket = object()
        with self._changed:
            if len(self._waiting) >= _MAX_WAITING:
                raise ConfigError(f"{_MAX_WAITING} questions are waiting already; try again later")
            self._waiting.append(ticket)
            try:
                while self._waiting[0] is not ticket or not self._free:
                    if is_stopped():
                        return False
                    report(self._waiting.index(ticket) + 1)
                    self._changed.wait(_LOOK_S)
                self._free -= 1
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()
        return True

    def leave(self) -> None:
        with self._changed:
            self._free += 1
            self._changed.notify_all()


@dataclass(frozen=True, slots=True)
class MarkedBox:
    """A box that the visitor marked. image: its name, or the number of the attached image it is on, from 0."""

    image: str | int
    box: tuple[int, int, int, int]  # left, top, right, bottom, in pixels


@dataclass(slots=True)
class _Exchange:
    """A question with what came of it. at: its place in the conversation; None if it never got there.

    attached: the images that came with the question.
    """

    view: ChatView
    at: int | None
    attached: tuple[Picture, ...] = ()
    parts: Parts | None = None  # once it has ended


class ChatSession:
    """A conversation, one question at a time. Any thread may call any method; a question is answered in its own thread.

    out: the folder of the conversation. address: where a browser finds a file in it, by its path there.
    """

    def __init__(  # noqa: PLR0913 - each is one thing that a conversation works with
        self,
        name: str,
        *,
        sandbox: Sandbox,
        task: Task,
        out: Path,
        address: Callable[[str], str],
        queue: AnswerQueue,
    ) -> None:
        self.name = name
        self.out = out
        self.seen_at = time.monotonic()
        self._conversation = Conversation(task, sandbox, out)
        self._address = address
        self._queue = queue
        self._exchanges: list[_Exchange] = []
        self._worker: threading.Thread | None = None
        self._stopped = threading.Event()
        self._lock = threading.RLock()  # of the actions; never held by the thread that answers
        self._rendering = threading.Lock()
        self._revision = 0
        self._is_released = False
        self.state: dict[str, Any] = {}
        self._render()

    @property
    def is_busy(self) -> bool:
        return self._worker is not None and self._worker.is_alive()

    @property
    def title(self) -> str:
        return shorten(self._exchanges[0].view.question.text, _TITLE_CHARS) if self._exchanges else "New chat"

    def ask(
        self,
        task: Task,
        text: str,
        pictures: Sequence[Picture] = (),
        regions: Sequence[MarkedBox] = (),
        replaces: int | None = None,
    ) -> None:
        """Begin to answer a question. replaces: the number of the question that it is asked instead of, from 1.

        Raises ConfigError if a question is being answered, or if there is none to replace.
        """
        with self._lock:
            self._settle()
            if replaces is not None:
                pictures = (*self._find(replaces).attached, *pictures)
                self._rewind(replaces)
            text = "\n\n".join([text, *(self._describe(region) for region in regions)])
            question = Question(text, tuple(pictures))
            at = self._conversation.questions
            self._begin(
                task,
                ChatView(self._next_number, question, self._file_address(), first_cell=self._next_cell(task)),
                partial(self._conversation.ask, text, pictures),
                at,
                tuple(pictures),
            )

    def retry(self, task: Task, number: int) -> None:
        """Ask a question again; what came after it is forgotten. Raises ConfigError."""
        with self._lock:
            self.ask(task, self._find(number).view.question.text, replaces=number)

    def resume(self, task: Task, code: str, cell: int) -> None:
        """Run this code in place of a cell of the conversation; what came after that is forgotten.

        Raises ConfigError if there is no such cell, or if a question is being answered.
        """
        with self._lock:
            self._settle()
            if not (task.strategy.continues and task.strategy.runs_code):
                raise ConfigError(f"{task.strategy_name} cannot continue from a cell; choose code_loop")
            number, position = self._find_cell(cell)
            exchange = self._exchanges[number - 1]
            del self._exchanges[number - 1 :]
            view = ChatView(
                number,
                exchange.view.question,
                self._file_address(),
                first_cell=exchange.view.first_cell,
                earlier_steps=exchange.view.steps[:position],
                named=exchange.view.named_images,
            )
            events = partial(self._conversation.go_on, code, cell)
            self._begin(task, view, events, exchange.at, exchange.attached)

    def code_of(self, cell: int) -> str:
        """The code of a cell of the conversation. Raises ConfigError."""
        with self._lock:
            self._find_cell(cell)
            return self._conversation.cells[cell]

    def stop(self) -> None:
        """Interrupt the question; the kernel keeps its variables."""
        self._stopped.set()
        self._conversation.stop()

    def release(self) -> None:
        """End the question and the kernel; the next cell starts another one."""
        if not self._is_released:
            self._is_released = True
            self._stopped.set()
            self._conversation.release()

    def close(self) -> None:
        """End the conversation and its kernel."""
        self._stopped.set()
        self._conversation.close()
        if self._worker is not None:
            self._worker.join(_SETTLE_S)

    def file(self, path: str) -> Path | None:
        """A file of a run by its path in the folder of the conversation: an image, or a download, which is made."""
        file = (self.out / path).resolve()
        if not file.is_relative_to(self.out.resolve()):
            return None
        if file.name in DOWNLOADS and len(Path(path).parts) == 2 and file.parent in self._ended_runs:
            return write_download(file.parent, file.name)
        return file if file.suffix in (".png", ".jpg") and file.is_file() else None

    @property
    def _ended_runs(self) -> tuple[Path, ...]:
        runs = tuple(run.resolve() for run in self._conversation.runs)
        return runs[:-1] if self.is_busy else runs

    @property
    def _next_number(self) -> int:
        return len(self._exchanges) + 1

    def _next_cell(self, task: Task) -> int | None:
        """The place of the next cell; None if the strategy leaves none that could be edited."""
        return len(self._conversation.cells) if task.strategy.continues else None

    def _file_address(self) -> Callable[[str], str]:
        run = len(self._conversation.runs)  # the number of the run that comes next
        return lambda file: self._address(f"{run}/{file}")

    def _describe(self, region: MarkedBox) -> str:
        name = region.image
        if isinstance(name, int):
            name = f"image_clue_{self._conversation.named_images + name}"
        left, top, right, bottom = region.box
        return render("demo/region.md", image=name, left=left, top=top, right=right, bottom=bottom)

    def _settle(self) -> None:
        """Wait for a question that was stopped. Raises ConfigError if one is being answered."""
        if self._worker is not None and (self._stopped.is_set() or not self.state["running"]):
            self._worker.join(_SETTLE_S)
        if self.is_busy:
            raise ConfigError("a question is being answered; stop it first")

    def _find(self, number: int) -> _Exchange:
        if not 1 <= number <= len(self._exchanges):
            raise ConfigError(f"this conversation has no question {number}; reload the page")
        return self._exchanges[number - 1]

    def _find_cell(self, cell: int) -> tuple[int, int]:
        """The number of the question and the position of the step of this cell."""
        cells = self._conversation.cells
        for number, exchange in enumerate(self._exchanges, start=1):
            position = exchange.view.position_of(cell)
            if position is not None and cell < len(cells):
                return number, position
        raise ConfigError("this cell can no longer be edited; ask the question again")

    def _rewind(self, number: int) -> None:
        forgotten = self._exchanges[number - 1 :]
        del self._exchanges[number - 1 :]
        asked = [exchange.at for exchange in forgotten if exchange.at is not None]
        if asked and asked[0] < self._conversation.questions:
            self._conversation.rewind(asked[0])

    def _begin(
        self,
        task: Task,
        view: ChatView,
        events: Callable[[], Iterator[Event]],
        at: int | None,
        attached: tuple[Picture, ...],
    ) -> None:
        self._conversation.task = task
        self._exchanges.append(exchange := _Exchange(view, at, attached))
        self._stopped.clear()
        self._is_released = False
        self._worker = threading.Thread(
            target=self._answer, args=(exchange, events), name="question", daemon=True
        )
        self._render(is_running=True)
        self._worker.start()

    def _answer(self, exchange: _Exchange, events: Callable[[], Iterator[Event]]) -> None:
        view = exchange.view
        try:
            if self._queue.enter(self._stopped.is_set, partial(self._wait, view)):
                try:
                    self._watch(view, events)
                finally:
                    self._queue.leave()
            else:
                exchange.at = None
                view.take(_never_asked())
        except (PyVisionError, SandboxError) as error:
            view.fail(str(error))
        except Exception as error:  # a bug must not leave the page waiting; it is raised for the log
            view.fail(f"the program failed ({type(error).__name__}); the server's log says more")
            raise
        finally:
            self.seen_at = time.monotonic()
            exchange.parts = view.parts
            self._render()

    def _wait(self, view: ChatView, place: int) -> None:
        if view.waiting != place:
            view.waiting = place
            self._render(is_running=True)

    def _watch(self, view: ChatView, events: Callable[[], Iterator[Event]]) -> None:
        view.waiting = None
        stop = self._conversation.stop
        with closing(batches(partial(self._until_stopped, events), stop, _UPDATE_INTERVAL_S)) as updates:
            for batch in updates:
                for event in batch:
                    view.take(event)
                if not view.has_ended:
                    self._render(is_running=True)

    def _until_stopped(self, events: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        """The events; a stop that came before the question began is repeated once it has."""
        for event in events():
            yield event
            if self._stopped.is_set():
                self._conversation.stop()

    def _render(self, *, is_running: bool = False) -> None:
        """Rebuild the state. It is replaced as a whole, so that it may be read at any time."""
        with self._rendering:
            self._revision += 1
            exchanges = list(self._exchanges)
            last = exchanges[-1].view if exchanges else None
            self.state = {
                "id": self.name,
                "revision": self._revision,
                "title": self.title,
                "running": is_running,
                "status": last.status if last else "",
                "exchanges": [_plain(number, each) for number, each in enumerate(exchanges, start=1)],
            }


def _plain(number: int, exchange: _Exchange) -> dict[str, Any]:
    parts = exchange.parts or exchange.view.parts
    return {
        "number": number,
        "text": exchange.view.question.text,
        "head": parts.head,
        "steps": [step.html for step in parts.steps],
        "tail": parts.tail,
        "answer": exchange.view.answer,
    }


def _never_asked() -> RunEnded:
    return RunEnded(Outcome(None, "interrupted", "stopped before it began"), Usage(), 0, 0, 0.0)


def write_download(run_dir: Path, name: str) -> Path:
    """A file to download about a run, written beside its folder: one of DOWNLOADS."""
    path = run_dir.with_name(f"{run_dir.name}-files") / name
    match name:
        case "report.html":
            write_file(path, report(read_run(run_dir)).encode())
        case "notebook.zip":
            export(read_run(run_dir), "ipynb", path.with_suffix(""))
            _archive(path.with_suffix(""), path)
        case _:
            path.parent.mkdir(parents=True, exist_ok=True)
            _archive(run_dir, path)
    return path


def _archive(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(path.stem) / file.relative_to(folder))
