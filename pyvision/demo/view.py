"""One question and what follows from it, as HTML that grows with its events; whatever anybody said is text.

What an event looks like is drawn once, when it comes: colouring a long cell takes tens of milliseconds, and a question
has many updates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from pyvision.errors import FormatError
from pyvision.events import (
    CellRun,
    Event,
    ModelCall,
    Note,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    TextDelta,
    ToolRun,
)
from pyvision.runs.report.crops import Crop
from pyvision.runs.report.markup import Markup, element, escape, highlight, join
from pyvision.runs.report.notes import note
from pyvision.runs.report.run import Turn, ending, pair_figures, turns_of
from pyvision.runs.report.turns import cell_block, tool_block
from pyvision.text.replies import find_code, thought
from pyvision.types import Outcome, Picture, Question

Address = Callable[[Picture], str]  # where a browser finds a picture
Names = tuple[tuple[str, Picture] | None, ...]  # of the figures of a cell

_SEAM = "\0"  # where the steps come in: no text on a page holds it, `escape` leaves no control character
_COLOURED_CHARS = 4_000  # of a cell that is still being written, which is drawn anew with each word


class View:
    """Takes the events of one question, one by one; `pieces` are what is to be seen by now."""

    def __init__(self, number: int, question: Question, address: Address) -> None:
        self._number = number
        self._question = question
        self._pictures = _Pictures(address)
        self._events: list[Event] = []
        self._text = ""  # of a reply that is on its way
        self._notice: str | None = None  # of a call that failed and is made again
        self._has_begun = False
        self._failure: str | None = None
        self._drawn: dict[int, tuple[Names, Markup | None]] = {}  # by the id of an event, which is kept
        self._coloured = lru_cache(maxsize=1)(highlight)  # a cell that runs is drawn again when it has run
        self._code = lru_cache(maxsize=1)(_code)

    @property
    def has_ended(self) -> bool:
        return self._failure is not None or any(isinstance(event, RunEnded) for event in self._events)

    def take(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._text, self._notice = self._text + text, None
            case ReplyRestarted(notice=notice):
                self._text, self._notice = "", notice
            case RunStarted(question=question):
                self._question, self._has_begun = question, True
            case _:
                if isinstance(event, ModelCall):
                    self._text, self._notice = "", None
                self._events.append(event)

    def fail(self, why: str) -> None:
        """The question cannot be answered, and why: one line."""
        self._failure = why

    @property
    def pieces(self) -> tuple[Markup, ...]:
        """HTML in parts, to be joined: a step that is over stays as it is, so that only the end has to be sent."""
        turns = tuple(turns_of(self._events))
        before, _, after = self._frame(turns).partition(_SEAM)
        return (Markup(before), *map(self._turn, turns), Markup(after))

    @property
    def html(self) -> Markup:
        return join(*self.pieces)

    def _frame(self, turns: Sequence[Turn]) -> Markup:
        """All but the steps, whose place it marks."""
        reply = element("div", Markup(_SEAM), self._coming(turns), self._end(), class_="reply")
        return element(
            "article",
            _ask(self._question, self._render_inputs()),
            reply,
            id=f"question-{self._number}",
            class_="exchange" if self.has_ended else "exchange under-way",
        )

    def _render_inputs(self) -> list[Markup]:
        """They have an address once the question has begun."""
        named = self._question.named_images if self._has_begun else ()
        return [self._pictures.located(name, picture) for name, picture in named]

    def _turn(self, turn: Turn) -> Markup:
        names = {id(ran): given for ran, given in pair_figures(turn.events)}
        said = self._block(turn.asked, ()) if turn.asked else None
        blocks = [self._block(event, names.get(id(event), ())) for event in turn.events]
        return element("section", said, *blocks, class_="step", aria_label=f"step {turn.number}")

    def _block(self, event: Event, names: Names) -> Markup | None:
        """An event, drawn once; a cell again when its figures have got their names."""
        known = self._drawn.get(id(event))
        if known is None or known[0] != names:
            known = self._drawn[id(event)] = (names, self._draw(event, names))
        return known[1]

    def _draw(self, event: Event, names: Names) -> Markup | None:
        match event:
            case ModelCall():
                return _prose(event)
            case CellRun():
                return cell_block(event, names, self._pictures, self._coloured)
            case ToolRun():
                return tool_block(event, self._pictures)
            case Note():
                return note(event, self._events)
        return None

    def _coming(self, turns: Sequence[Turn]) -> Markup | None:
        """What is under way: the reply that is being said, the cell that runs, or the wait for either."""
        if self.has_ended:
            return None
        if self._text:
            said, _, code = self._text.partition("<code>")
            return join(
                element("p", said.strip(), class_="said") if said.strip() else None,
                _pending("writing a cell", _write(code)) if code else None,
            )
        last = turns[-1] if turns else None
        running = self._code(last.asked.reply.text) if last and last.asked and not last.cells else None
        if running:
            return _pending("running", self._coloured(running))
        return element("p", f"{self._notice or 'thinking'} …", class_="status pending")

    def _end(self) -> Markup | None:
        if self._failure is not None:
            return element("p", self._failure, class_="bad", role="alert")
        ended = next((event for event in self._events if isinstance(event, RunEnded)), None)
        if ended is None:
            return None
        outcome = ended.outcome
        facts = f"{ended.turns} turns, {ended.cells} cells, {ended.seconds:.1f} s"
        tokens = f", {ended.usage.total:,} tokens" if ended.usage.total else ""
        if outcome.answer is None:
            return join(
                element("p", f"No answer: {_why_none(outcome)}.", class_="bad"),
                element("pre", outcome.error, class_="output bad", tabindex=0)
                if outcome.error and outcome.end_reason != "interrupted"
                else None,
                element("p", facts, tokens, class_="facts"),
            )
        label = "Answer (all of the last reply)" if outcome.is_last_resort else "Answer"
        answer = element("p", element("small", label), element("strong", outcome.answer), class_="answer")
        return element(
            "div", answer, element("p", facts, tokens, class_="facts"), class_="outcome", role="status"
        )


def _why_none(outcome: Outcome) -> str:
    """The reason that there is no answer; of an interrupt, what it came in the midst of as well."""
    words = ending(outcome.end_reason).words
    return outcome.error or words if outcome.end_reason == "interrupted" else words


class _Pictures:
    """Puts pictures on the page by their addresses; one opens large by click or key."""

    def __init__(self, address: Address) -> None:
        self.inputs: Mapping[str, Picture] = {}  # where a crop lies in them is for the report to find
        self._address = address

    def located(self, name: str, picture: Picture) -> Markup:
        size = f"{picture.width} × {picture.height} px"
        image = element("img", src=self._address(picture), alt=f"{name}, {size}", loading="lazy")
        zoom = element("details", element("summary", image), class_="zoom")
        return element("figure", zoom, element("figcaption", element("b", name), f" {size}"))

    def glimpse(self, name: str, picture: Picture) -> Markup:
        return self.located(name, picture)

    def boxes(self, crops: Sequence[Crop]) -> Markup | None:
        return None


def _ask(question: Question, shown: Sequence[Markup]) -> Markup:
    return element(
        "div",
        element("div", *shown, class_="pictures") if shown else None,
        element("p", question.text or "Go on from the cell as it was edited.", class_="question"),
        class_="asked",
    )


def _prose(asked: ModelCall) -> Markup:
    reply, said = asked.reply, thought(asked.reply.text)
    folded = element("details", element("summary", "Reasoning"), element("p", reply.reasoning, class_="said"))
    return join(folded if reply.reasoning else None, element("p", said, class_="said") if said else None)


def _pending(what: str, code: Markup) -> Markup:
    return element(
        "div",
        element("pre", element("code", code), class_="code", tabindex=0),
        element("p", f"{what} …", class_="status pending"),
        class_="cell",
    )


def _write(said: str) -> Markup:
    """As much of a cell as there is."""
    code = said.replace("```python", "").strip("`\n ")
    return highlight(code) if len(code) <= _COLOURED_CHARS else escape(code)


def _code(reply: str) -> str | None:
    try:
        return find_code(reply)
    except FormatError:
        return None
