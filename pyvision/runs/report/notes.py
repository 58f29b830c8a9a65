"""What a strategy noted about its own course, as HTML: a table of renderers by label, and a plain one for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyvision.events import Event, Note
from pyvision.runs.report.debates import graph_note, round_note
from pyvision.runs.report.markup import Markup, element, join

Renderer = Callable[[Note, Sequence[Event]], Markup]  # of a note, and of the run's events with it among them
_LONG = 120  # characters of a value that stands in a block of its own


def note(event: Note, events: Sequence[Event]) -> Markup:
    """The note as its label's renderer draws it, else its data as a list of names and values.

    A record may come from anybody: what a renderer cannot read is shown plainly.
    """
    renderer = RENDERERS.get(event.label)
    if renderer is None:
        return plain(event)
    try:
        return renderer(event, events)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return plain(event)


def plain(event: Note) -> Markup:
    """Any note: label, then every value under its name."""
    rows = [
        part
        for name, value in event.data.items()
        for part in (element("dt", name), element("dd", _value(value)))
    ]
    heading = element("b", event.label.replace("_", " "))
    return element("div", heading, element("dl", *rows) if rows else None, class_="note")


def _value(value: Any) -> Markup:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _LONG and "\n" not in text:
        return element("span", text)
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return element("pre", text, tabindex=0)


# ---- Visual programs in a report: each as it ran, and as a critic marked it, with the verdict and its score.


_WORDS = {"right": "right", "wrong": "wrong", "unclear": "no verdict"}


def program_note(event: Note, events: Sequence[Event]) -> Markup:
    """A program that was run: what it was asked, what it returned, and its trace to unfold."""
    data = event.data
    ended = f"error: {data['error']}" if data["error"] else f"-> {data['result']}"
    trace = data["trace"]
    return element(
        "div",
        element("p", element("b", f"Program {data['round']}"), f" · {data['question']}"),
        _code(data["program"]),
        element("p", ended, class_="facts"),
        element("details", element("summary", "trace"), element("pre", trace, tabindex=0)) if trace else None,
        class_="note",
    )


def verdict_note(event: Note, events: Sequence[Event]) -> Markup:
    """What the critic said of the program that ran before it, the marked spans highlighted."""
    data = event.data
    program = _judge(event, events)
    return element(
        "div",
        element(
            "p", element("b", f"Verdict {data['round']}: {_WORDS[data['verdict']]}"), f" · {_format(data)}"
        ),
        None if data["accepted"] or program is None else _code(_highlight(program, data["spans"])),
        class_="note",
    )


def refinement_note(event: Note, events: Sequence[Event]) -> Markup:
    """The program that a refiner wrote; what it did is told where it ran."""
    told = "the same as an earlier one: the search ends" if event.data["repeated"] else "to be run next"
    heading = element("p", element("b", f"Refinement {event.data['round']}"), f" · {told}")
    return element("div", heading, _code(event.data["program"].strip("\n")), class_="note")


def _judge(event: Note, events: Sequence[Event]) -> str | None:
    place = next((at for at, other in enumerate(events) if other is event), len(events))
    before = (
        other for other in reversed(events[:place]) if isinstance(other, Note) and other.label == "program"
    )
    latest = next(before, None)
    return None if latest is None else str(latest.data["program"])


def _format(data: Mapping[str, Any]) -> str:
    parts = ["accepted" if data["accepted"] else "rejected"]
    if data["score"] is not None:
        parts.append(f"score {data['score']:.3f}")
    if data["fault"]:
        parts.append(data["fault"])
    return "; ".join(parts)


def _highlight(program: str, spans: Sequence[Mapping[str, Any]]) -> Markup:
    parts: list[object] = []
    at = 0
    for span in sorted(spans, key=lambda each: int(each["start"])):
        start, end = max(at, span["start"]), min(span["end"], len(program))
        parts += [program[at:start], element("mark", program[start:end])]
        at = max(at, end)
    return join(*parts, program[at:])


def _code(program: object) -> Markup:
    return element("pre", element("code", program), tabindex=0)


# ---- The path of a walk through its graph of tools, as a picture and a list of sources: one row a step, indented by depth.
# ----
# ---- A step that brought nothing is red and dashed, one that brought it nearer orange, one that answered green, each with a
# ---- sign of its own too; a row of its own says where the walk went back.


_INK = {"not informative": "#b3261e", "informative": "#b35c00", "answerable": "#1b7a3d"}
_FILL = {"not informative": "#fdecea", "informative": "#fff1dc", "answerable": "#e6f5ea"}
_SIGN = {"not informative": "✗", "informative": "→", "answerable": "✓"}
_ROW, _INDENT, _HEIGHT, _WIDTH, _CHARACTER = 34, 44, 24, 190, 7.0  # pixels
_LONGEST = 90  # characters of what a step brought
_PLAIN, _PAPER = "#444444", "#f6f6f6"


@dataclass(frozen=True, slots=True)
class Stop:
    """One row: a state or a step. parent: the row from which it was reached. ruling: None for START and going back."""

    name: str
    depth: int
    parent: int | None
    ruling: str | None
    told: str


def path_note(event: Note, events: Sequence[Event]) -> Markup:
    """The note `forced` or `answer` with the path that led there. A forced answer's path stands with `forced`."""
    before = list(_before(event, events))
    is_shown = event.label == "answer" and any(note.label == "forced" for note in before)
    figure = None if is_shown else _figure(list(stops(before)))
    return element("div", figure, _forced(event.data) if event.label == "forced" else _answer(event.data))


def stops(notes: Sequence[Note]) -> Iterator[Stop]:
    """The rows of a walk's notes, in order."""
    yield Stop("START", 0, None, None, "")
    stack, row, verdict = [0], 0, dict[str, Any]()
    for note in notes:
        match note.label:
            case "verdict":
                verdict = note.data
            case "transition":
                row += 1
                yield _step(note.data, verdict, len(stack), stack[-1])
                if note.data["to"] == note.data["action"]:
                    stack.append(row)
            case "backtrack" if len(stack) > 1:
                stack.pop()
                row += 1
                yield Stop(f"back to {note.data['to']}", len(stack) - 1, stack[-1], None, "")


def _step(transition: Mapping[str, Any], verdict: Mapping[str, Any], depth: int, parent: int) -> Stop:
    ruling = str(verdict["verdict"])
    told = str(verdict["answer"] or verdict["why"] or "")
    return Stop(str(transition["action"]), depth, parent, ruling if ruling in _INK else None, told)


def _figure(rows: Sequence[Stop]) -> Markup | None:
    if len(rows) < 2:
        return None
    width = max(_left(row) + _WIDTH + 12 + len(_short(row.told)) * _CHARACTER for row in rows) + 8
    height = len(rows) * _ROW + 8
    drawing = element(
        "svg",
        element("title", "; ".join(_spoken(row) for row in rows)),
        *(_line(row, place, rows) for place, row in enumerate(rows)),
        *(_box(row, place) for place, row in enumerate(rows)),
        viewBox=f"0 0 {width:.0f} {height}",
        width=f"{width:.0f}",
        height=height,
        role="img",
        font_family="monospace",
        font_size=12,
    )
    caption = element(
        "figcaption", "The path through the graph of tools: ✓ answers, → informs, ✗ brings nothing"
    )
    return element("figure", drawing, caption, class_="graph")


def _line(row: Stop, place: int, rows: Sequence[Stop]) -> Markup | None:
    """An elbow from the parent's box down and right to this one."""
    if row.parent is None:
        return None
    x, y = _left(rows[row.parent]) + 14, row.parent * _ROW + 4 + _HEIGHT
    end_y = place * _ROW + 4 + _HEIGHT / 2
    return element(
        "path", d=f"M{x} {y}V{end_y:.0f}H{_left(row)}", fill="none", stroke=_INK.get(row.ruling or "", _PLAIN)
    )


def _box(row: Stop, place: int) -> Markup:
    top, ink = place * _ROW + 4, _INK.get(row.ruling or "", _PLAIN)
    dashes = "5 3" if row.ruling in (None, "not informative") and place else None
    frame = element(
        "rect",
        x=_left(row),
        y=top,
        width=_WIDTH,
        height=_HEIGHT,
        rx=5,
        fill=_FILL.get(row.ruling or "", _PAPER),
        stroke=ink,
        stroke_dasharray=dashes,
    )
    name = f"{_SIGN.get(row.ruling or '', '')} {row.name}".strip()
    label = element("text", name, x=_left(row) + 8, y=top + 16, fill=ink)
    told = element("text", _short(row.told), x=_left(row) + _WIDTH + 12, y=top + 16, fill=_PLAIN)
    return join(frame, label, told if row.told else None)


def _left(row: Stop) -> int:
    return 8 + row.depth * _INDENT


def _spoken(row: Stop) -> str:
    return ", ".join(part for part in (row.name, row.ruling, _short(row.told)) if part)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def _forced(data: Mapping[str, Any]) -> Markup:
    return element("p", f"The search had to end: {data['why']}", class_="facts")


def _answer(data: Mapping[str, Any]) -> Markup:
    """The answer and its numbered sources; an address is shown, never linked: it may come from anybody."""
    told = "Best answer" if data["forced"] else "Answer"
    head = element("p", element("b", f"{told}: "), str(data["answer"]))
    sources = [
        element(
            "li",
            str(source["title"]),
            " ",
            element("code", str(source["address"])),
            value=int(source["number"]),
        )
        for source in data["sources"]
    ]
    rests = element("p", "It rests on:" if sources else "It rests on no source.", class_="facts")
    return join(head, rests, element("ol", *sources) if sources else None)


def _before(event: Note, events: Sequence[Event]) -> Iterator[Note]:
    for other in events:
        if other is event:
            return
        if isinstance(other, Note):
            yield other


# A strategy with something of its own to show (a graph, a marked program, a path) gets a row here.
RENDERERS: Mapping[str, Renderer] = {
    "graph": graph_note,
    "difference": round_note,
    "forced": path_note,
    "answer": path_note,
    "program": program_note,
    "verdict": verdict_note,
    "refinement": refinement_note,
}
