"""One question and what follows from it, as HTML that grows with its events; whatever anybody said is text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyvision.errors import FormatError
from pyvision.events import Asked, Began, Ended, Event, Noted, Ran, Restarted, Spoke, Used
from pyvision.replies import find_code, thought
from pyvision.report.code import highlighted
from pyvision.report.crops import Crop
from pyvision.report.endings import ending
from pyvision.report.markup import Markup, element, join
from pyvision.report.notes import note
from pyvision.report.run import Turn, named_figures, turns_of
from pyvision.report.steps import cell_block
from pyvision.report.tools import tool_block
from pyvision.types import Picture, Question

Address = Callable[[Picture], str]  # where a browser finds a picture


class View:
    """Takes the events of one question, one by one; `html` is what is to be seen by now."""

    def __init__(self, number: int, question: Question, address: Address) -> None:
        self._number = number
        self._question = question
        self._pictures = _Pictures(address)
        self._events: list[Event] = []
        self._heard = ""  # of a reply that is on its way
        self._has_begun = False
        self._failure: str | None = None

    @property
    def code(self) -> str | None:
        """The last cell that ran, if one did."""
        return next((event.code for event in reversed(self._events) if isinstance(event, Ran)), None)

    @property
    def has_ended(self) -> bool:
        return self._failure is not None or any(isinstance(event, Ended) for event in self._events)

    def take(self, event: Event) -> None:
        match event:
            case Spoke(text=text):
                self._heard += text
            case Restarted():
                self._heard = ""
            case Began(question=question):
                self._question, self._has_begun = question, True
            case _:
                self._heard = "" if isinstance(event, Asked) else self._heard
                self._events.append(event)

    def fail(self, why: str) -> None:
        """The question cannot be answered, and why: one line."""
        self._failure = why

    @property
    def html(self) -> Markup:
        turns = tuple(turns_of(self._events))
        return element(
            "article",
            _asked(self._question, self._shown_inputs()),
            element("div", *map(self._turn, turns), self._coming(turns), self._end(), class_="reply"),
            id=f"question-{self._number}",
            class_="exchange" if self.has_ended else "exchange under-way",
        )

    def _shown_inputs(self) -> list[Markup]:
        """They have an address once the question has begun."""
        named = self._question.named_images if self._has_begun else ()
        return [self._pictures.located(name, picture) for name, picture in named]

    def _turn(self, turn: Turn) -> Markup:
        names = {id(ran): given for ran, given in named_figures(turn.events)}
        blocks = [self._block(event, names) for event in turn.events]
        return element(
            "section", _prose(turn.asked), *blocks, class_="step", aria_label=f"step {turn.number}"
        )

    def _block(
        self, event: Event, names: Mapping[int, tuple[tuple[str, Picture] | None, ...]]
    ) -> Markup | None:
        match event:
            case Ran():
                return cell_block(event, names[id(event)], self._pictures)
            case Used():
                return tool_block(event, self._pictures)
            case Noted():
                return note(event, self._events)
        return None

    def _coming(self, turns: Sequence[Turn]) -> Markup | None:
        """What is under way: the reply that is being said, the cell that runs, or the wait for either."""
        if self.has_ended:
            return None
        if self._heard:
            said, _, code = self._heard.partition("<code>")
            return join(
                element("p", said.strip(), class_="said") if said.strip() else None,
                _pending("writing a cell", code.replace("```python", "").strip("`\n ")) if code else None,
            )
        last = turns[-1] if turns else None
        running = _code(last.asked) if last and last.asked and not last.cells else None
        return (
            _pending("running", running) if running else element("p", "thinking …", class_="status pending")
        )

    def _end(self) -> Markup | None:
        if self._failure is not None:
            return element("p", self._failure, class_="bad", role="alert")
        ended = next((event for event in self._events if isinstance(event, Ended)), None)
        if ended is None:
            return None
        outcome = ended.outcome
        facts = f"{ended.turns} turns, {ended.cells} cells, {ended.seconds:.1f} s"
        tokens = f", {ended.usage.total:,} tokens" if ended.usage.total else ""
        if outcome.answer is None:
            return join(
                element("p", f"No answer: {ending(outcome.end_reason).words}.", class_="bad"),
                element("pre", outcome.error, class_="output bad", tabindex=0)
                if outcome.error and outcome.end_reason != "interrupted"
                else None,
                element("p", facts, tokens, class_="facts"),
            )
        answer = element("p", element("small", "Answer"), element("strong", outcome.answer), class_="answer")
        return element(
            "div", answer, element("p", facts, tokens, class_="facts"), class_="outcome", role="status"
        )


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


def _asked(question: Question, shown: Sequence[Markup]) -> Markup:
    return element(
        "div",
        element("div", *shown, class_="pictures") if shown else None,
        element("p", question.text or "Go on from the cell as it was edited.", class_="question"),
        class_="asked",
    )


def _prose(asked: Asked | None) -> Markup | None:
    if asked is None:
        return None
    reply, said = asked.reply, thought(asked.reply.text)
    folded = element("details", element("summary", "Reasoning"), element("p", reply.reasoning, class_="said"))
    return join(folded if reply.reasoning else None, element("p", said, class_="said") if said else None)


def _pending(what: str, code: str) -> Markup:
    return element(
        "div",
        element("pre", element("code", highlighted(code)), class_="code", tabindex=0),
        element("p", f"{what} …", class_="status pending"),
        class_="cell",
    )


def _code(asked: Asked | None) -> str | None:
    try:
        return find_code(asked.reply.text) if asked else None
    except FormatError:
        return None
