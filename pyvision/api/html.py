"""A run as HTML for a notebook, complete or in progress.

Everything that a model, a cell or a tool wrote is escaped; the HTML holds no script and no style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyvision.errors import FormatError
from pyvision.events import CellRun, Event, RunEnded, RunStarted
from pyvision.images.fit import FitLimits, fit
from pyvision.pages.markup import Markup, count, element, join
from pyvision.runs.report.figures import data_url
from pyvision.runs.run import Turn, as_picture, turns_of
from pyvision.text.replies import find_code, find_thought
from pyvision.types import Outcome, Picture, Question

_SHOWN = FitLimits(side_px=640, least_px=1, aspect=10_000, file_bytes=300_000)
_TEXT_CHARS = 4000
_OUTPUT = "border-left: 3px solid #888; padding-left: 0.6em; white-space: pre-wrap; overflow-wrap: anywhere"


def run_html(events: Sequence[Event], folder: Path | None) -> Markup:
    """The question, the answer, and the steps, folded once the run has ended."""
    question = next((event.question for event in events if isinstance(event, RunStarted)), Question(""))
    ended = next((event for event in events if isinstance(event, RunEnded)), None)
    turns = [turn for turn in turns_of(events) if turn.asked or turn.events]
    steps = [element("details", element("summary", _summary(turn)), _step(turn)) for turn in turns]
    cells = sum(isinstance(event, CellRun) for event in events)
    time = f", {ended.seconds:.1f} s" if ended else ""
    replies = sum(turn.asked is not None for turn in turns)
    facts = f"{count(replies, 'turn')}, {count(cells, 'cell')}{time}"
    return element(
        "div",
        element("p", element("b", question.text)),
        element("div", *(_image(picture, 160) for picture in question.images)),
        _ending(ended.outcome) if ended else element("p", "working …"),
        element("details", element("summary", facts), *steps, open=not ended),
        element("p", element("small", str(folder))) if folder else None,
    )


def _ending(outcome: Outcome) -> Markup:
    if outcome.answer is None:
        return element("p", f"{outcome.end_reason}: {outcome.error or 'no answer'}")
    return element("div", outcome.answer, style="font-size: 1.25em; white-space: pre-wrap")


def _summary(turn: Turn) -> str:
    seconds = (turn.asked.seconds if turn.asked else 0) + sum(cell.result.seconds for cell in turn.cells)
    cells = "".join(f" · cell: {cell.result.status}" for cell in turn.cells)
    title = f"turn {turn.number}" if turn.number else "before the first reply"
    return f"{title}{cells} · {seconds:.1f} s"


def _step(turn: Turn) -> Markup:
    reply = turn.asked.reply.text if turn.asked else ""
    parts = [element("p", _cut(find_thought(reply)), style="white-space: pre-wrap")]
    for cell in turn.cells:
        error = cell.result.error
        output = cell.result.text + (error.traceback or error.message if error else "")
        parts.append(element("pre", element("code", cell.code)))
        parts += [element("pre", _cut(output), style=_OUTPUT)] if output else []
        parts += [_image(as_picture(figure), 480) for figure in cell.result.figures]
    if not turn.cells and (code := _find_code(reply)):
        parts.append(element("pre", element("code", code)))
    return join(*parts)


def _image(picture: Picture, width: int) -> Markup:
    thumbnail = fit(picture, _SHOWN).picture
    return element(
        "img", src=data_url(thumbnail), alt="image", style=f"max-width: {width}px; max-height: 480px"
    )


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARS else f"{text[:_TEXT_CHARS]} …"


def _find_code(reply: str) -> str | None:
    try:
        return find_code(reply)
    except FormatError:
        return None
