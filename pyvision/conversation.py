"""Consecutive questions about the same images, in one conversation with one kernel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from queue import Empty

from pyvision.agent.episode import Sandbox, Session, find_libraries
from pyvision.agent.pump import Pump
from pyvision.agent.question_kernel import SessionProxy
from pyvision.agent.task import Task
from pyvision.errors import ConfigError, FormatError
from pyvision.events import CellRun, Event, ImageDefined, ModelCall, RunEnded, RunStarted
from pyvision.models.cancellation import Cancellation
from pyvision.solve import open_recorder, solve
from pyvision.text.native_tool_calls import text_of
from pyvision.text.replies import find_code, reply_message
from pyvision.types import ConversationState, Message, Outcome, Picture, Question, Text, Usage
from sandbox import SessionClosed, View

_STOP_S = 1.5  # after which a question that was stopped is over, even if a tool still works for it
_LOOK_S = 0.1


class Conversation:
    """Asks with the models and the strategy of `task`, which may be replaced between two questions.

    One thread may ask at a time; any thread may call `stop` and `close`. The kernel starts with the first cell and
    keeps its variables. The caller closes the models. out: a folder in which each question gets its own run folder.
    """

    def __init__(self, task: Task, sandbox: Sandbox, out: Path | None = None) -> None:
        self.task = task
        self.out = out
        self.runs: tuple[Path, ...] = ()
        self._shared = _SharedSession(sandbox)
        self._earlier = ConversationState()
        self._pictures: tuple[Picture, ...] = ()
        self._before: list[tuple[ConversationState, tuple[Picture, ...]]] = []  # what each question continued
        self._cancellation = Cancellation()  # of the current question

    @property
    def cells(self) -> tuple[str, ...]:
        """The code of every cell in the conversation, in order."""
        codes = (_code(message) for message in self._earlier.messages if message.role == "assistant")
        return tuple(code for code in codes if code is not None)

    @property
    def questions(self) -> int:
        """How many questions were asked and not forgotten; each can be rewound."""
        return len(self._before)

    @property
    def named_images(self) -> int:
        """How many images have names: image_clue_0 and so on."""
        return self._earlier.named if self.task.strategy.continues else len(self._pictures)

    def ask(self, text: str, images: Sequence[Picture] = ()) -> Iterator[Event]:
        """The events of the next question, which may add images. Closing the iterator stops it."""
        self._before.append((self._earlier, self._pictures))
        self._pictures += tuple(images)
        if self.task.strategy.continues:
            yield from self._answer(Question(text, tuple(images), earlier=self._earlier))
            return
        earlier = self._earlier
        try:  # it reads no conversation, so it gets every image again, and leaves no messages to the next question
            yield from self._answer(Question(text, self._pictures))
        finally:
            self._earlier = replace(earlier, named=max(earlier.named, self._earlier.named))

    def go_on(self, code: str, cell: int = -1) -> Iterator[Event]:
        """The events that follow if this code runs in place of one of `cells`; everything after that cell is dropped.

        Variables keep their current values. Raises ConfigError if the conversation has no such cell.
        """
        messages = self._earlier.messages
        places = [at for at, message in enumerate(messages) if message.role == "assistant" and _code(message)]
        if not -len(places) <= cell < len(places):
            raise ConfigError("this conversation has no such cell to continue from; ask a question first")
        message = Message("assistant", (Text(f"<code>\n```python\n{code.strip()}\n```\n</code>"),))
        earlier, at = self._earlier, places[cell]
        self._forget_after(at)
        opened = ConversationState((*messages[:at], message), earlier.named, earlier.originals, pending=True)
        yield from self._answer(Question("", earlier=opened))

    def restore(self, events: Sequence[Event]) -> None:
        """Continue after the events of a recorded question: its messages, its images, and its cells, run again.

        Call it for each question of a recorded conversation, in order, before the first `ask`. A cell that used tools
        fails in the new kernel. Raises sandbox.SandboxError if no cell can run.
        """
        for event in events:
            match event:
                case RunStarted(question=question):
                    self._before.append((self._earlier, self._pictures))
                    self._pictures += question.images
                    earlier, named = question.earlier, question.named_images
                    self._earlier = ConversationState(
                        earlier.messages, earlier.named + len(named), question.originals
                    )
                    self._shared.add({name: picture.data for name, picture in named})
                case CellRun(code=code):
                    self._shared.open({}).run(code)
                case ImageDefined(name=name, picture=picture):
                    self._shared.add({name: picture.data})
                    self._remember(event)
                case _:
                    self._remember(event)

    def rewind(self, question: int) -> None:
        """Forget this question, counted from 0, and all after it. Variables of the kernel keep their values."""
        self._earlier, self._pictures = self._before[question]
        del self._before[question:]

    def stop(self) -> None:
        """End the current question and its cell. The kernel keeps its variables if the cell can be interrupted."""
        self._cancellation.cancel()

    def release(self) -> None:
        """End the current question and the kernel. The next cell starts another kernel, which gets all images."""
        self.stop()
        self._shared.release()

    def close(self) -> None:
        """End the current question and the kernel for good."""
        self.stop()
        self._shared.end()

    def _forget_after(self, message: int) -> None:
        """Forget the questions that were asked after this message."""
        later = [state for state in self._before if len(state[0].messages) > message]
        if later:
            self._pictures = later[0][1]
            del self._before[-len(later) :]

    def _answer(self, question: Question) -> Iterator[Event]:
        self._earlier = ConversationState(
            question.earlier.messages, question.earlier.named + len(question.images), question.originals
        )
        self._cancellation = cancellation = Cancellation()
        task = self.task.about(question)
        folder = self.out / str(len(self.runs)) if self.out else None
        began = time.monotonic()
        with open_recorder(task, folder) as keep:
            if folder is not None:
                self.runs = (*self.runs, folder)
            over = threading.Event()

            def produce(put: Callable[[Event], None]) -> None:
                def watch(event: Event) -> None:
                    if not over.is_set():
                        keep(event)
                        put(event)

                solve(task, watch, self._shared, cancellation=cancellation)

            pump = Pump(produce)
            try:
                yield from self._events_of(pump, began, cancellation)
            finally:
                cancellation.cancel()
                pump.join(_STOP_S)
                over.set()

    def _events_of(self, pump: Pump[Event], began: float, cancellation: Cancellation) -> Iterator[Event]:
        """Each event; soon after a stop, and in any case, an end. Raises what `solve` does."""
        stopped_at: float | None = None
        while True:
            if stopped_at is None and cancellation.is_cancelled:
                stopped_at = time.monotonic()
            try:
                event = pump.get(_LOOK_S)
            except Empty:
                if stopped_at is None or time.monotonic() < stopped_at + _STOP_S:
                    continue
                outcome = Outcome(None, "interrupted", "stopped")
                event = RunEnded(outcome, Usage(), 0, 0, time.monotonic() - began)
            if event is None:
                pump.check()
                return
            self._remember(event)
            yield event
            if isinstance(event, RunEnded) and stopped_at is not None:
                return

    def _remember(self, event: Event) -> None:
        earlier = self._earlier
        match event:
            case ModelCall(messages=messages, reply=reply, for_tool=False):
                messages = (*messages, reply_message(reply))
                self._earlier = ConversationState(messages, earlier.named, earlier.originals)
            case ImageDefined():
                self._earlier = ConversationState(earlier.messages, earlier.named + 1, earlier.originals)


class _SharedSession:
    """A sandbox with one session, which stays open between episodes and keeps their images."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._session: Session | None = None
        self._images: dict[str, bytes] = {}  # all that the session holds
        self._lease: _Lease | None = None
        self._ended = False
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    @property
    def libraries(self) -> tuple[str, ...]:
        return find_libraries(self._sandbox)

    def open(self, images: Mapping[str, bytes]) -> _Lease:
        with self._lock:
            if self._ended:
                raise SessionClosed("the conversation is closed; start a new one")
            self._images |= images
            if self._session is None:
                self._session = self._sandbox.open(self._images)
            elif images:
                self._session.define(images)
            self._lease = _Lease(self._session, self)
            return self._lease

    def interrupt(self, lease: _Lease) -> None:
        """End the cell that runs, unless another episode has opened the session since."""
        with self._lock:
            if self._lease is lease and self._session is not None:
                self._session.interrupt()

    def keep(self, images: Mapping[str, bytes]) -> None:
        """Note images that an episode defined, for a kernel that is started later."""
        with self._lock:
            self._images |= images

    def add(self, images: Mapping[str, bytes]) -> None:
        """Define images now, if there is a kernel, and in every kernel that is started later."""
        self.keep(images)
        if self._session is not None:
            self._session.define(images)

    def release(self) -> None:
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def end(self) -> None:
        with self._lock:
            self._ended = True
        self.release()


class _Lease(SessionProxy):
    """The session as one episode uses it. Closing it ends its cell, and never a cell of the next question."""

    def __init__(self, session: Session, shared: _SharedSession) -> None:
        super().__init__(session)
        self._shared = shared

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None:
        self._shared.keep(images)
        super().define(images, views)

    def interrupt(self) -> None:
        self._shared.interrupt(self)

    def close(self) -> None:
        """End the cell of the episode, and leave the kernel open."""
        self.interrupt()


def _code(message: Message) -> str | None:
    try:
        return find_code("\n".join(text_of(part) for part in message.parts if not isinstance(part, Picture)))
    except FormatError:
        return None
