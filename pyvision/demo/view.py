"""One question and its events as HTML that grows while they come; everything that anybody wrote is escaped.

Each event is rendered once, when it comes: highlighting a long cell takes tens of milliseconds, and a question has many
updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from pyvision.demo.blocks import (
    Address,
    Images,
    boxes_on,
    cell_line,
    download_link,
    error_message,
    figure,
    outcome_block,
    prose,
    reply_block,
    retry_button,
    why_none,
)
from pyvision.errors import FormatError
from pyvision.events import (
    CellOutput,
    CellRun,
    Event,
    ModelCall,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    TextDelta,
)
from pyvision.pages.markup import Markup, element, escape, highlight, join
from pyvision.runs.report.turns import event_block, evidence_block, reasoning_block
from pyvision.runs.run import Names, Turn, pair_figures, turns_of
from pyvision.text.native_tool_calls import render_reply
from pyvision.text.replies import find_code
from pyvision.text.sanitize import printable
from pyvision.trajectory import picture_file
from pyvision.types import Picture, Question

_LIVE_CHARS = 2_000  # of the output of the cell that is running: its end, as on a terminal
_MAX_HIGHLIGHTED_CHARS = 4_000  # of a cell that is still being written and is rendered again for each token
DOWNLOADS = {"report.html": "Report", "notebook.zip": "Notebook", "trajectory.zip": "Trajectory"}


@dataclass(frozen=True, slots=True)
class ChatStep:
    """A reply of the model with what followed. code: of its cell, if it can be edited."""

    html: Markup
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The HTML of a question in the parts that are sent apart: a finished step does not change any more."""

    head: Markup
    steps: tuple[ChatStep, ...]
    tail: Markup

    @property
    def html(self) -> Markup:
        return join(self.head, *(step.html for step in self.steps), self.tail)


class ChatView:
    """Takes the events of one question one by one; `parts` is what to show so far."""

    def __init__(  # noqa: PLR0913 - what a question continues is given one by one
        self,
        number: int,
        question: Question,
        address: Address,
        *,
        first_cell: int | None = None,
        earlier_steps: Sequence[ChatStep] | None = None,
        named: Sequence[tuple[str, Picture, str]] = (),
    ) -> None:
        """number: from 1. first_cell: the place of its first cell in the conversation; None if none can be edited.

        earlier_steps, named: with an edited cell, the steps before it, and the images of the question with their
        addresses.
        """
        self._number = number
        self._question = question
        self._images = Images(address)
        self._address = address
        self._first_cell = first_cell
        self._earlier_steps = tuple(earlier_steps or ())
        self._is_resumed = earlier_steps is not None
        self._named = tuple(named)
        self._events: list[Event] = []
        self._text = ""  # of the reply that is being streamed
        self._output = ""  # of the cell that is running
        self._notice: str | None = None  # about a model call that failed and is retried
        self._failure: str | None = None
        self._ended: RunEnded | None = None
        self._rendered: dict[int, tuple[Names, Markup | None]] = {}  # by the id of an event, which is kept
        self._highlight = lru_cache(maxsize=1)(highlight)  # a running cell is rendered again once it has run
        self._code = lru_cache(maxsize=64)(_find_code)
        self.waiting: int | None = None  # its place in the queue, from 1

    @property
    def first_cell(self) -> int | None:
        return self._first_cell

    def position_of(self, cell: int) -> int | None:
        """The position of the step with this cell of the conversation, if it is one of this question."""
        if self._first_cell is None:
            return None
        places = [position for position, step in enumerate(self.steps) if step.code is not None]
        index = cell - self._first_cell
        return places[index] if 0 <= index < len(places) else None

    @property
    def question(self) -> Question:
        return self._question

    @property
    def named_images(self) -> tuple[tuple[str, Picture, str], ...]:
        """The images of the question: name, image, address."""
        return self._named

    @property
    def has_ended(self) -> bool:
        return self._failure is not None or self._ended is not None

    @property
    def answer(self) -> str | None:
        return self._ended.outcome.answer if self._ended else None

    @property
    def status(self) -> str:
        """What a screen reader announces: a few words."""
        if self._failure is not None:
            return f"Error: {self._failure}"
        if self._ended is not None:
            outcome = self._ended.outcome
            return (
                f"Answer: {outcome.answer}"
                if outcome.answer is not None
                else f"No answer: {why_none(outcome)}"
            )
        if self.waiting is not None:
            return f"Number {self.waiting} in the queue"
        if self._text:
            return "Writing code" if "<code>" in self._text else "Writing"
        return "Running code" if self._is_running else self._notice or "Thinking"

    def take(self, event: Event) -> None:
        match event:
            case TextDelta(for_tool=True):
                pass  # what the tool makes of it is shown
            case TextDelta(text=text):
                self._text, self._notice = self._text + text, None
            case ReplyRestarted(notice=notice):
                self._text, self._notice = "", notice
            case CellOutput(text=text):
                self._output = (self._output + text)[-_LIVE_CHARS:]
            case RunStarted(question=question):
                self._begin(question)
            case RunEnded():
                self._ended = event
            case _:
                if isinstance(event, ModelCall):
                    self._text, self._notice = "", None
                if isinstance(event, ModelCall | CellRun):
                    self._output = ""
                self._events.append(event)

    def fail(self, why: str) -> None:
        """The question cannot be answered, for this reason (one line)."""
        self._failure = why

    @property
    def parts(self) -> Parts:
        return Parts(self._head(), self.steps, self._tail())

    @property
    def steps(self) -> tuple[ChatStep, ...]:
        cell = (
            None
            if self._first_cell is None
            else self._first_cell + sum(step.code is not None for step in self._earlier_steps)
        )
        steps = list(self._earlier_steps)
        for position, turn in enumerate(turns_of(self._events)):
            code = self._code_of(turn, is_edited=self._is_resumed and position == 0)
            is_cell = cell is not None and code is not None
            steps.append(ChatStep(self._turn(turn, cell if is_cell else None), code if is_cell else None))
            cell = cell + 1 if cell is not None and is_cell else cell
        return tuple(steps)

    @property
    def _is_running(self) -> bool:
        return bool(self._output or self._running_code)

    @property
    def _running_code(self) -> str | None:
        last = next(reversed(tuple(turns_of(self._events))), None)
        return self._code(render_reply(last.asked.reply)) if last and last.asked and not last.cells else None

    def _begin(self, question: Question) -> None:
        """Its images have addresses once the run has started and written their files."""
        self.waiting = None
        added = len(
            self._question.images
        )  # a strategy that reads no conversation is given the earlier ones again
        if question.images and added:
            self._named = tuple(
                (name, picture, self._address(picture_file(picture)))
                for name, picture in question.named_images[-added:]
            )
        if question.text:
            self._question = question

    def _code_of(self, turn: Turn, *, is_edited: bool) -> str | None:
        """The code by which a turn counts as a cell of the conversation."""
        if turn.asked:
            return self._code(render_reply(turn.asked.reply))
        return turn.cells[0].code if is_edited and turn.cells else None

    def _head(self) -> Markup:
        images = [figure(name, picture, url) for name, picture, url in self._named]
        return join(
            element("div", *images, class_="chat-pictures") if images else None,
            element("p", self._question.text, class_="chat-question"),
        )

    def _turn(self, turn: Turn, cell: int | None) -> Markup:
        names = {id(ran): pairs for ran, pairs in pair_figures(turn.events)}
        reply = self._block(turn.asked, (), None) if turn.asked else None
        blocks = [self._block(event, names.get(id(event), ()), cell) for event in turn.events]
        return join(reply, *blocks)

    def _block(self, event: Event, names: Names, cell: int | None) -> Markup | None:
        """An event, rendered once; a cell again when its figures get their names."""
        known = self._rendered.get(id(event))
        if known is None or known[0] != names:
            known = self._rendered[id(event)] = (names, self._render(event, names, cell))
        return known[1]

    def _render(self, event: Event, names: Names, cell: int | None) -> Markup | None:
        match event:
            case ModelCall():
                return join(reasoning_block(event), reply_block(event))
            case CellRun():
                return cell_line(event, names, self._images, self._highlight, cell)
        return event_block(event, names, self._images, self._events)

    def _tail(self) -> Markup:
        if not self.has_ended:
            return self._pending()
        if self._ended is None:
            return join(
                error_message(self._failure or ""),
                element("div", retry_button(self._number), class_="chat-actions"),
            )
        originals = {name: picture for name, picture, _ in self._named}
        urls = {name: url for name, _, url in self._named}
        evidence = evidence_block(self._ended.outcome, originals, partial(boxes_on, originals, urls))
        files = [download_link(self._address(name), label) for name, label in DOWNLOADS.items()]
        return outcome_block(self._ended, evidence, self._number, files)

    def _pending(self) -> Markup:
        """The reply that is being streamed, the cell that is running, or what is waited for."""
        if self._text:
            text, _, code = self._text.partition("<code>")
            written = (
                element("pre", element("code", _highlight_partial(code)), class_="code live")
                if code
                else None
            )
            return join(prose(text.strip()), written, _status_line(self.status))
        if self._is_running:
            code = self._running_code or ""
            return join(
                element("pre", element("code", self._highlight(code)), class_="code", tabindex=0)
                if code
                else None,
                element("pre", printable(self._output), class_="output stdout live", tabindex=0)
                if self._output
                else None,
                _status_line(self.status),
            )
        return _status_line(self.status)


def _status_line(text: str) -> Markup:
    return element("p", f"{text} …", class_="chat-pending")


def _highlight_partial(text: str) -> Markup:
    """As much of a cell as has been written."""
    code = text.replace("```python", "").strip("`\n ")
    return highlight(code) if len(code) <= _MAX_HIGHLIGHTED_CHARS else escape(code)


def _find_code(reply: str) -> str | None:
    try:
        return find_code(reply)
    except FormatError:
        return None
