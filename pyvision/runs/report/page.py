"""A run as one HTML page that opens offline: question, answer, costs and a timeline, then every turn."""

from __future__ import annotations

from collections.abc import Iterator

from pyvision.events import ImageDefined, ModelCall
from pyvision.pages.markup import Markup, count, document, element, join, shorten
from pyvision.runs.report.crops import CropFinder
from pyvision.runs.report.figures import Figures, PageImages
from pyvision.runs.report.notes import search_path
from pyvision.runs.report.rounds import round_list
from pyvision.runs.report.turns import answer_block, error_block, evidence_block, format_tokens, turn_section
from pyvision.runs.run import Run, Turn, as_picture, ending, pair_figures
from pyvision.types import Picture

_TITLE_CHARS = 80
_FAULTS = {
    "nobody": "",
    "model": " Cause: the model.",
    "limit": " Cause: a limit of this run.",
    "endpoint": " Cause: the endpoint, not the model.",
    "machine": " Cause: this machine, not the model.",
    "caller": " Cause: the caller.",
    "program": " Cause: the program, not the model.",
}


def report(run: Run) -> str:
    """The page. It makes no request, runs no script, and holds nothing of the run but text and pixels."""
    figures = Figures(PageImages(pictures_of(run)), run.inputs, CropFinder(run.inputs), _find_sent_sizes(run))
    title, began = format_title(run), run.began
    models = [began.strategy, *sorted(set(began.models.values()))] if began else ["start not recorded"]
    facts = element("p", " · ".join([*models, run.folder.name]), class_="facts")
    overview, turns = (
        _overview(run, figures),
        _turns(run, figures),
    )  # in this order: images are shown in full once
    footer = "Written by PyVision. This page is a recording: it runs none of the code that it shows."
    return document(
        title,
        element("a", "Skip to the turns", class_="skip", href="#turns"),
        element("header", facts, element("h1", title)),
        element(
            "main",
            element("section", overview, aria_label="Overview"),
            element("div", turns, id="turns"),
        ),
        element("footer", element("p", footer, class_="facts")),
        figures.originals(),
    )


def pictures_of(run: Run) -> Iterator[Picture]:
    """Every image that the page shows in full."""
    yield from run.question.images
    for cell, names in pair_figures(run.events):
        for figure, named in zip(cell.result.figures, names, strict=True):
            yield named[1] if named else as_picture(figure)
    yield from (event.picture for event in run.events if isinstance(event, ImageDefined))


def format_title(run: Run) -> str:
    """The question on one line."""
    return shorten(run.question.text, _TITLE_CHARS) or "A run without a question"


def _turns(run: Run, figures: Figures) -> Markup:
    previous: dict[str, ModelCall] = {}  # by role
    sections = []
    for turn in run.turns:
        role = turn.asked.role if turn.asked else ""
        sections.append(turn_section(turn, previous.get(role), figures, run.events))
        if turn.asked:
            previous[role] = turn.asked
    return join(*sections) if sections else element("p", "Nothing happened in this run.", class_="facts")


def _overview(run: Run, figures: Figures) -> Markup:
    pictures = [figures.show(name, picture) for name, picture in run.inputs.items()]
    text = run.question.text
    return join(
        element("p", text, class_="question") if text.strip() != format_title(run) else None,
        _choices(run),
        element("div", *pictures, class_="pictures") if pictures else None,
        _outcome(run, figures),
        search_path(run.events),
        round_list(run.events),
        element("p", f"Problem with this recording: {run.note}.", class_="bad") if run.note else None,
        _budget(run),
        _timeline(run),
    )


def _choices(run: Run) -> Markup | None:
    """The choices under the letters by which the answer names them."""
    choices = [element("li", choice) for choice in run.question.choices]
    return element("ol", *choices, class_="choices") if choices else None


def _find_sent_sizes(run: Run) -> dict[str, tuple[int, int]]:
    """The width and height at which each image was first sent to a model, by name."""
    calls = [event for event in run.events if isinstance(event, ModelCall)]
    return {s.name: (s.width, s.height) for call in reversed(calls) for s in call.sent if s.name is not None}


def _outcome(run: Run, figures: Figures) -> Markup:
    outcome = run.ended.outcome if run.ended else None
    meaning = ending(outcome.end_reason if outcome else None)
    summary = f"{meaning.text[:1].upper()}{meaning.text[1:]}.{_FAULTS[meaning.fault]}"
    return element(
        "div",
        answer_block(outcome) if outcome else None,
        evidence_block(outcome, figures.inputs, figures.map) if outcome else None,
        element("p", summary, class_="facts" if outcome and outcome.answer else "bad"),
        error_block(outcome) if outcome else None,
        class_="outcome",
    )


def _budget(run: Run) -> Markup | None:
    rows = [
        element("div", element("dt", name), element("dd", _amount(used, limit), _meter(name, used, limit)))
        for name, used, limit in _usage(run)
    ]
    return element("dl", *rows, class_="budget") if rows else None


def _usage(run: Run) -> Iterator[tuple[str, float, object]]:
    """Name, amount used, and the limit if there is one."""
    ended = run.ended
    if ended is None:
        return
    limits = run.config.get("limits")
    limits = limits if isinstance(limits, dict) else {}
    yield "turns", ended.turns, limits.get("max_turns")
    yield "cells", ended.cells, None
    yield "seconds", round(ended.seconds, 1), limits.get("max_seconds")
    if ended.usage.total:
        yield "tokens", ended.usage.total, limits.get("max_tokens")
    calls = [event for event in run.events if isinstance(event, ModelCall)]
    if for_tools := sum(call.for_tool for call in calls):
        yield "model calls by tools", for_tools, None
    images = {sent.sha256 for call in calls for sent in call.sent}
    if images:
        yield "images sent", len(images), limits.get("max_pictures")
    if ended.cost is not None:
        yield "cost", round(ended.cost, 6), limits.get("max_cost")


def _amount(used: float, limit: object) -> str:
    return f"{used:,}" + (f" of {limit:,}" if isinstance(limit, int | float) else "")


def _meter(name: str, used: float, limit: object) -> Markup | None:
    if not isinstance(limit, int | float) or limit <= 0:
        return None
    return element("meter", min=0, max=limit, value=min(used, limit), aria_label=f"{name} used")


def _timeline(run: Run) -> Markup:
    turns = [turn for turn in run.turns if turn.asked or turn.events]
    longest = max((_seconds(turn) for turn in turns), default=0.0) or 1.0
    has_tokens = any(turn.asked and turn.asked.reply.usage.total for turn in turns)
    titles = ("Turn", "What happened", "Time", *(["Tokens"] if has_tokens else []))
    head = element("tr", *(element("th", title, scope="col") for title in titles))
    rows = [_row(turn, longest, _tokens(turn) if has_tokens else None) for turn in turns]
    return element(
        "div",
        element("p", _swatch("of-model"), " model · ", _swatch("of-cells"), " cells", class_="facts"),
        element("table", element("caption", "Timeline"), element("thead", head), element("tbody", *rows)),
        class_="timeline",
        tabindex=0,
        role="region",
        aria_label="timeline",
    )


def _row(turn: Turn, longest: float, tokens: Markup | None) -> Markup:
    number = str(turn.number) if turn.number else "–"
    link = element("a", number, href=f"#turn-{turn.number}", aria_label=f"turn {turn.number}")
    bar = _bar(_model_seconds(turn) / longest, _cells_seconds(turn) / longest)
    return element(
        "tr",
        element("th", link, scope="row"),
        element("td", _summary(turn)),
        element("td", f"{_seconds(turn):.1f} s", bar, class_="time"),
        tokens,
    )


def _summary(turn: Turn) -> str:
    cells = [f"cell: {cell.result.status}" for cell in turn.cells]
    figures = sum(len(cell.result.figures) for cell in turn.cells)
    notes = [event.label.replace("_", " ") for event in turn.events if event.kind == "noted"]
    by_tools = [f"{count(len(turn.calls_for_tools), 'model call')} by tools"] if turn.calls_for_tools else []
    figure_count = [count(figures, "figure")] if figures else []
    happened = ", ".join([*cells, *figure_count, *by_tools, *dict.fromkeys(notes)])
    return ": ".join(filter(None, [turn.asked.role if turn.asked else "", happened]))


def _tokens(turn: Turn) -> Markup:
    return element("td", format_tokens(turn.asked) if turn.asked else "", class_="number")


def _bar(model: float, cells: float) -> Markup:
    """The time of the model and of the cells side by side, as fractions of the longest turn."""
    start, width = round(model * 100, 2), round(cells * 100, 2)
    rects = (
        element("rect", x=0, y=0, width=start, height=6, class_="of-model"),
        element("rect", x=start, y=0, width=width, height=6, class_="of-cells"),
    )
    return element(
        "svg", *rects, viewBox="0 0 100 6", preserveAspectRatio="none", class_="bar", aria_hidden="true"
    )


def _swatch(name: str) -> Markup:
    """A small square in the colour of this part of a bar."""
    square = element("rect", x=0, y=0, width=10, height=10, class_=name)
    return element("svg", square, viewBox="0 0 10 10", class_="swatch", aria_hidden="true")


def _seconds(turn: Turn) -> float:
    return _model_seconds(turn) + _cells_seconds(turn)


def _model_seconds(turn: Turn) -> float:
    return turn.asked.seconds if turn.asked else 0.0


def _cells_seconds(turn: Turn) -> float:
    return sum(cell.result.seconds for cell in turn.cells)
