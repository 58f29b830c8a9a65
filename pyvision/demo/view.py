"""One question and its events as HTML that grows while they come; everything that anybody wrote is shown as text.

Each event is rendered once, when it comes: highlighting a long cell takes tens of milliseconds, and a question has many
updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

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
from pyvision.runs.report.crops import Crop
from pyvision.runs.report.figures import draw_map, zoomable
from pyvision.runs.report.markup import Markup, count, element, escape, highlight, join
from pyvision.runs.report.run import Names, Turn, ending, pair_figures, turns_of
from pyvision.runs.report.turns import (
    answer_block,
    error_block,
    event_block,
    evidence_block,
    prose_block,
    reasoning_block,
)
from pyvision.text.replies import find_code, thought
from pyvision.text.sanitize import printable
from pyvision.types import Outcome, Picture, Question

Address = Callable[[Picture], str]  # where a browser finds an image

_STEPS_HERE = "\0"  # marks where the steps go; `escape` removes control characters, so no text can contain it
_LIVE_CHARS = 2_000  # of the output of the cell that is running: its end, as on a terminal
_MAX_HIGHLIGHTED_CHARS = 4_000  # of a cell that is still being written and is rendered again for each token


class View:
    """Takes the events of one question one by one; `pieces` is what to show so far."""

    def __init__(self, number: int, question: Question, address: Address) -> None:
        self._number = number
        self._question = question
        self._images = _Images(address)
        self._events: list[Event] = []
        self._text = ""  # of the reply that is being streamed
        self._output = ""  # of the cell that is running
        self._notice: str | None = None  # about a model call that failed and is retried
        self._has_begun = False
        self._failure: str | None = None
        self._rendered: dict[int, tuple[Names, Markup | None]] = {}  # by the id of an event, which is kept
        self._highlight = lru_cache(maxsize=1)(highlight)  # a running cell is rendered again once it has run
        self._code = lru_cache(maxsize=1)(_find_code)

    @property
    def has_ended(self) -> bool:
        return self._failure is not None or self._ended is not None

    def take(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._text, self._notice = self._text + text, None
            case ReplyRestarted(notice=notice):
                self._text, self._notice = "", notice
            case CellOutput(text=text):
                self._output = (self._output + text)[-_LIVE_CHARS:]
            case RunStarted(question=question):
                self._question, self._has_begun = question, True
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
    def pieces(self) -> tuple[Markup, ...]:
        """HTML in parts, to be joined. A finished step does not change any more, so that only the end must be sent."""
        turns = tuple(turns_of(self._events))
        before, _, after = self._frame(turns).partition(_STEPS_HERE)
        return (Markup(before), *map(self._step, turns), Markup(after))

    @property
    def html(self) -> Markup:
        return join(*self.pieces)

    @property
    def _ended(self) -> RunEnded | None:
        return next((event for event in self._events if isinstance(event, RunEnded)), None)

    def _frame(self, turns: Sequence[Turn]) -> Markup:
        """Everything but the steps."""
        reply = element("div", Markup(_STEPS_HERE), self._pending(turns), self._end(), class_="reply")
        return element(
            "article",
            self._question_block(),
            reply,
            id=f"question-{self._number}",
            class_="exchange" if self.has_ended else "exchange under-way",
        )

    def _question_block(self) -> Markup:
        named = self._question.named_images if self._has_begun else ()  # before, the files are not there
        images = [self._images.figure(name, picture) for name, picture in named]
        return element(
            "div",
            element("div", *images, class_="pictures") if images else None,
            element("p", self._question.text or "Continue from the edited cell.", class_="question"),
            class_="asked",
        )

    def _step(self, turn: Turn) -> Markup:
        names = {id(cell): pairs for cell, pairs in pair_figures(turn.events)}
        reply = self._block(turn.asked, ()) if turn.asked else None
        blocks = [self._block(event, names.get(id(event), ())) for event in turn.events]
        return element("section", reply, *blocks, class_="step", aria_label=f"step {turn.number}")

    def _block(self, event: Event, names: Names) -> Markup | None:
        """An event, rendered once; a cell again when its figures get their names."""
        known = self._rendered.get(id(event))
        if known is None or known[0] != names:
            known = self._rendered[id(event)] = (names, self._render(event, names))
        return known[1]

    def _render(self, event: Event, names: Names) -> Markup | None:
        if isinstance(event, ModelCall):
            return join(reasoning_block(event), prose_block(thought(event.reply.text)))
        return event_block(event, names, self._images, self._events, self._highlight)

    def _pending(self, turns: Sequence[Turn]) -> Markup | None:
        """The reply that is being streamed, the cell that is running, or that the model has not replied yet."""
        if self.has_ended:
            return None
        if self._text:
            prose, _, code = self._text.partition("<code>")
            return join(
                prose_block(prose.strip()),
                _pending_cell("Writing code", _highlight_partial(code)) if code else None,
            )
        last = turns[-1] if turns else None
        running = self._code(last.asked.reply.text) if last and last.asked and not last.cells else None
        if running or self._output:
            return _pending_cell("Running", self._highlight(running or ""), self._output)
        return element("p", f"{self._notice or 'Thinking'} …", class_="status pending")

    def _end(self) -> Markup | None:
        if self._failure is not None:
            return error_message(self._failure)
        if self._ended is None:
            return None
        originals = dict(self._question.named_images)
        evidence = evidence_block(self._ended.outcome, originals, partial(self._images.map, originals))
        return join(*_outcome_blocks(self._ended, evidence))


def error_message(text: str) -> Markup:
    """An error, which a screen reader announces."""
    return element("p", f"Error: {text}", class_="bad", role="alert")


class _Images:
    """Shows images by address. A crop is not located in its original: the report does that."""

    inputs: Mapping[str, Picture] = {}

    def __init__(self, address: Address) -> None:
        self._address = address

    def figure(self, name: str, picture: Picture) -> Markup:
        return zoomable(name, picture, self._address(picture), loading="lazy")

    def thumbnail(self, name: str, picture: Picture) -> Markup:
        return self.figure(name, picture)

    def boxes(self, crops: Sequence[Crop]) -> Markup | None:
        return None

    def map(self, originals: Mapping[str, Picture], name: str, crops: Sequence[Crop]) -> Markup:
        """Boxes on an image of the question."""
        original = originals[name]
        size = {"width": original.width, "height": original.height}
        return draw_map(name, original, element("image", href=self._address(original), **size), crops)


def _outcome_blocks(ended: RunEnded, evidence: Markup | None) -> Iterator[Markup | None]:
    outcome = ended.outcome
    parts = [count(ended.turns, "turn"), count(ended.cells, "cell"), f"{ended.seconds:.1f} s"]
    tokens = [f"{ended.usage.total:,} tokens"] if ended.usage.total else []
    facts = element("p", ", ".join([*parts, *tokens]), class_="facts")
    if outcome.answer is not None:
        yield element("div", answer_block(outcome), evidence, facts, class_="outcome", role="status")
        return
    yield element("p", f"No answer: {_why_none(outcome)}.", class_="bad")
    yield error_block(outcome) if outcome.end_reason != "interrupted" else None
    yield facts


def _why_none(outcome: Outcome) -> str:
    """The reason that there is no answer; an interrupt also says what it interrupted."""
    text = ending(outcome.end_reason).text
    return outcome.error or text if outcome.end_reason == "interrupted" else text


def _pending_cell(status: str, code: Markup, output: str = "") -> Markup:
    return element(
        "div",
        element("pre", element("code", code), class_="code", tabindex=0) if code else None,
        element("pre", printable(output), class_="output stdout", tabindex=0) if output else None,
        element("p", f"{status} …", class_="status pending"),
        class_="cell",
    )


def _highlight_partial(text: str) -> Markup:
    """As much of a cell as has been written."""
    code = text.replace("```python", "").strip("`\n ")
    return highlight(code) if len(code) <= _MAX_HIGHLIGHTED_CHARS else escape(code)


def _find_code(reply: str) -> str | None:
    try:
        return find_code(reply)
    except FormatError:
        return None
