"""A run as one HTML page that opens offline: no request, no script, nothing of the run's data but text and pixels."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from pyvision.events import ImageDefined, ModelCall
from pyvision.runs.report.crops import CropFinder
from pyvision.runs.report.figures import Figures, Gallery
from pyvision.runs.report.markup import Markup, element, highlight_styles, join, render
from pyvision.runs.report.run import Run, Turn, as_picture, ending, pair_figures
from pyvision.runs.report.turns import tokens, turn_section
from pyvision.types import Picture

_HERE = Path(__file__).parent


def report(run: Run) -> str:
    """The page. Its own style sheet is named by its hash in the policy; any other style or script is refused."""
    figures = Figures(Gallery(pictures_of(run)), run.inputs, CropFinder(run.inputs))
    head, turns = overview(run, figures), _turns(run, figures)
    styles = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "blocks.css"))
    style = "".join(styles) + highlight_styles()
    began = run.began
    return render(
        (_HERE / "template.html").read_text(encoding="utf-8"),
        policy=_policy(style),
        style=Markup(style),
        title=title_of(run),
        strategy=" · ".join([began.strategy, *sorted(set(began.models.values()))])
        if began
        else "no beginning on record",
        folder=run.folder.name,
        overview=head,
        turns=turns,
        originals=figures.originals(),
    )


def pictures_of(run: Run) -> Iterator[Picture]:
    """Every picture that the page shows at full size."""
    yield from run.question.images
    for ran, names in pair_figures(run.events):
        for figure, named in zip(ran.result.figures, names, strict=True):
            yield named[1] if named else as_picture(figure)
    yield from (event.picture for event in run.events if isinstance(event, ImageDefined))


def _turns(run: Run, figures: Figures) -> Markup:
    before: dict[str, ModelCall] = {}
    sections = []
    for turn in run.turns:
        role = turn.asked.role if turn.asked else ""
        sections.append(turn_section(turn, before.get(role), figures, run.events))
        if turn.asked:
            before[role] = turn.asked
    return join(*sections) if sections else element("p", "Nothing happened in this run.", class_="facts")


def _policy(style: str) -> str:
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


# ---- The top of the page: question, pictures, answer, how it ended, what it cost, and a line for every turn.


_FAULTS = {
    "nobody": "",
    "model": "the model's",
    "limit": "a limit that was set",
    "endpoint": "the endpoint's, not the model's",
    "machine": "this machine's, not the model's",
    "caller": "the caller's",
    "program": "the program's, not the model's",
}


def overview(run: Run, figures: Figures) -> Markup:
    """Everything above the turns."""
    pictures = [figures.show(name, picture) for name, picture in run.inputs.items()]
    text = run.question.text
    return join(
        element("p", text, class_="question") if text.strip() != title_of(run) else None,
        element("div", *pictures, class_="pictures") if pictures else None,
        _outcome(run),
        element("p", f"Of this record: {run.note}.", class_="bad") if run.note else None,
        _budget(run),
        _timeline(run),
    )


def title_of(run: Run) -> str:
    """The question in one line."""
    text = " ".join(run.question.text.split()) or "A run without a question"
    return text if len(text) <= 80 else f"{text[:79]}…"


def _outcome(run: Run) -> Markup:
    ended = run.ended
    meaning = ending(ended.outcome.end_reason if ended else None)
    answer = ended.outcome.answer if ended else None
    label = "Answer (all of the last reply)" if ended and ended.outcome.is_last_resort else "Answer"
    fault = f" Whose fault: {_FAULTS[meaning.fault]}." if _FAULTS[meaning.fault] else ""
    return element(
        "div",
        element("p", element("small", label), element("strong", answer), class_="answer")
        if answer is not None
        else None,
        element(
            "p",
            f"{meaning.words[:1].upper()}{meaning.words[1:]}.{fault}",
            class_="facts" if answer else "bad",
        ),
        element("pre", ended.outcome.error, class_="output bad" if answer is None else "output", tabindex=0)
        if ended and ended.outcome.error
        else None,
        class_="outcome",
    )


def _budget(run: Run) -> Markup | None:
    rows = [
        element(
            "div", element("dt", name), element("dd", _amount(used, limit, unit), _meter(name, used, limit))
        )
        for name, used, limit, unit in _spent(run)
    ]
    return element("dl", *rows, class_="budget") if rows else None


def _spent(run: Run) -> Iterator[tuple[str, float, float | None, str]]:
    """Name, what was used, the limit if there is one, unit."""
    ended = run.ended
    if ended is None:
        return
    limits = run.config.get("limits")
    limits = limits if isinstance(limits, dict) else {}
    yield "turns", ended.turns, limits.get("max_turns"), ""
    yield "cells", ended.cells, None, ""
    yield "seconds", round(ended.seconds, 1), limits.get("max_seconds"), ""
    if ended.usage.total:
        yield "tokens", ended.usage.total, limits.get("max_tokens"), ""
    pictures = {sent.sha256 for turn in run.turns if turn.asked for sent in turn.asked.sent}
    if pictures:
        yield "pictures sent", len(pictures), limits.get("max_pictures"), ""
    if ended.cost is not None:
        yield "cost", round(ended.cost, 6), limits.get("max_cost"), ""


def _amount(used: float, limit: object, unit: str) -> str:
    of = f" of {limit:,}" if isinstance(limit, int | float) else ""
    return f"{used:,}{of}{unit}"


def _meter(name: str, used: float, limit: object) -> Markup | None:
    if not isinstance(limit, int | float) or limit <= 0:
        return None
    return element("meter", min=0, max=limit, value=min(used, limit), aria_label=f"{name} used")


def _timeline(run: Run) -> Markup:
    turns = [turn for turn in run.turns if turn.asked or turn.events]
    longest = max((_seconds(turn) for turn in turns), default=0.0) or 1.0
    counted = any(turn.asked and turn.asked.reply.usage.total for turn in turns)
    titles = ("Turn", "What happened", "Time", *(["Tokens"] if counted else []))
    head = element("tr", *(element("th", title, scope="col") for title in titles))
    rows = [_row(turn, longest, _tokens(turn) if counted else None) for turn in turns]
    return element(
        "div",
        element("p", swatch("of-model"), " the model  ", swatch("of-cells"), " its cells", class_="facts"),
        element("table", element("caption", "Timeline"), element("thead", head), element("tbody", *rows)),
        class_="timeline",
        tabindex=0,
        role="region",
        aria_label="timeline",
    )


def _row(turn: Turn, longest: float, counted: Markup | None) -> Markup:
    link = element(
        "a",
        str(turn.number) if turn.number else "–",
        href=f"#turn-{turn.number}",
        aria_label=f"turn {turn.number}",
    )
    model = turn.asked.seconds if turn.asked else 0.0
    return element(
        "tr",
        element("th", link, scope="row"),
        element("td", _happened(turn)),
        element(
            "td",
            f"{_seconds(turn):.1f} s",
            _bar(model / longest, _cells_seconds(turn) / longest),
            class_="time",
        ),
        counted,
    )


def _tokens(turn: Turn) -> Markup:
    return element("td", tokens(turn.asked) if turn.asked else "", class_="number")


def _happened(turn: Turn) -> str:
    cells = [f"cell: {ran.result.status}" for ran in turn.cells]
    figures = sum(len(ran.result.figures) for ran in turn.cells)
    notes = [event.label.replace("_", " ") for event in turn.events if event.kind == "noted"]
    shown = [f"{figures} figure{'s'[: figures != 1]}"] if figures else []
    return ", ".join([*cells, *shown, *notes]) or (turn.asked.role if turn.asked else "")


def _bar(model: float, cells: float) -> Markup:
    """Time of the model and of the cells beside each other, as shares of the longest turn."""
    rects = [
        element("rect", x=0, y=0, width=round(model * 100, 2), height=6, class_="of-model"),
        element(
            "rect", x=round(model * 100, 2), y=0, width=round(cells * 100, 2), height=6, class_="of-cells"
        ),
    ]
    return element(
        "svg", *rects, viewBox="0 0 100 6", preserveAspectRatio="none", class_="bar", aria_hidden="true"
    )


def swatch(name: str) -> Markup:
    """A small square in the colour of this part of a bar."""
    square = element("rect", x=0, y=0, width=10, height=10, class_=name)
    return element("svg", square, viewBox="0 0 10 10", class_="swatch", aria_hidden="true")


def _seconds(turn: Turn) -> float:
    return (turn.asked.seconds if turn.asked else 0.0) + _cells_seconds(turn)


def _cells_seconds(turn: Turn) -> float:
    return sum(ran.result.seconds for ran in turn.cells)
