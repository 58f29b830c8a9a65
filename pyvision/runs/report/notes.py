"""What a strategy noted during a run, as HTML: a renderer for each known label, names and values for the rest.

The programs of VDebugger are in `programs`, the graphs of BDoG in `debates`. AVIS notes its search: what was asked of
which tool and how the result was judged, and a picture of the path: one row per step, indented by depth; a step that
was not informative is red and dashed, an informative one orange, one that answered green, each with its own sign, and a
backtrack is a row as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyvision.events import Event, Note
from pyvision.pages.markup import Markup, count, element, fold, join, shorten
from pyvision.runs.report.debates import graph_note, round_note
from pyvision.runs.report.programs import program_note, refinement_note, verdict_note

Renderer = Callable[
    [Note, Sequence[Event]], Markup
]  # takes a note, and the events of the run that contain it
_INLINE_CHARS = 120  # a longer value gets a block

_SENTENCE_CHARS = 400
_SENTENCES: Mapping[str, tuple[str, str]] = {  # label -> a title, and a text with values of the note
    "form": ("Form of the program: {form}", "{why}"),
    "malformed": ("A reply that cannot be used", "{role}: {why}"),
    "visual_answer": ("What is seen: {answer}", "next question: {query}"),
    "backtrack": ("Back to {to}", "from {from}: {why}"),
    "skipped": ("Not asked: {role}", "{why}"),
    "debugging_ended": ("Debugging ended", "round {round}: {ending}"),
    "debate_ended": ("Debate ended", "round {round}: {ending}"),
    "tentative_answer": ("Answer after round {round}", "{answer}"),
}
DEBATE_ENDINGS = {
    "accepted": "the program is accepted",
    "rounds": "no round was left",
    "repeated": "the new program was tried before",
    "unclear": "the critic gave no verdict",
    "no_program": "no new program was written",
    "limit": "a budget is spent",
    "agreed": "a round that changed nothing",
    "no_graph": "nobody wrote a graph",
}

# Of a search path.
_INK = {"not informative": "#b3261e", "informative": "#b35c00", "answerable": "#1b7a3d"}
_FILL = {"not informative": "#fdecea", "informative": "#fff1dc", "answerable": "#e6f5ea"}
_SIGN = {"not informative": "✗", "informative": "→", "answerable": "✓"}
_ROW, _INDENT, _HEIGHT, _WIDTH, _CHARACTER = 34, 44, 24, 240, 7.4  # pixels
_RESULT_CHARS = 90
_PLAIN, _PAPER = "#444444", "#f6f6f6"


@dataclass(frozen=True, slots=True)
class PathRow:
    """One row of a search path: a state or an action. parent: the row it was reached from.

    ruling: how the result was judged; None for START and a backtrack.
    """

    name: str
    depth: int
    parent: int | None
    ruling: str | None
    result: str


def render_note(event: Note, events: Sequence[Event]) -> Markup:
    """The note as the renderer of its label draws it, else as a list of names and values.

    A recording may come from anybody: data that a renderer cannot read is listed.
    """
    renderer = RENDERERS.get(event.label)
    try:
        if event.label in _SENTENCES:
            return _sentence_note(event)
        return plain_note(event) if renderer is None else renderer(event, events)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return plain_note(event)


def plain_note(event: Note) -> Markup:
    """Any note: its label, then each value under its name."""
    rows = [
        part
        for name, value in event.data.items()
        if value not in (None, "", [], {})
        for part in (element("dt", name), element("dd", _value(value)))
    ]
    heading = element("b", event.label.replace("_", " "))
    return element("div", heading, element("dl", *rows) if rows else None, class_="note")


def _sentence_note(event: Note) -> Markup:
    """A note of one sentence."""
    title, text = _SENTENCES[event.label]
    data = {**event.data, "ending": DEBATE_ENDINGS.get(str(event.data.get("why")), event.data.get("why"))}
    heading, sentence = (shorten(part.format_map(data), _SENTENCE_CHARS) for part in (title, text))
    return element("div", element("p", element("b", heading), f" · {sentence}"), class_="note")


def search_steps(notes: Sequence[Note]) -> Iterator[PathRow]:
    """The rows of the search that these notes tell about, in order."""
    yield PathRow("START", 0, None, None, "")
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
                yield PathRow(f"back to {note.data['to']}", len(stack) - 1, stack[-1], None, "")


def _value(value: Any) -> Markup:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _INLINE_CHARS and "\n" not in text:
        return element("span", text)
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return element("pre", text, tabindex=0)


def _verdict_note(event: Note, events: Sequence[Event]) -> Markup:
    """A reasoner's verdict on what a tool found (avis), or a critic's on a program (vdebugger)."""
    data = event.data
    if "action" not in data:
        return verdict_note(event, events)
    ruling = str(data["verdict"])
    sign = element("b", f"{_SIGN[ruling]} {ruling}")
    answer = join(": ", element("b", str(data["answer"]))) if data["answer"] else None
    why = element("p", str(data["why"]), class_="said") if data["why"] else None
    return element(
        "div", element("p", f"Step {data['step']}, {data['action']}: ", sign, answer), why, class_="note"
    )


def _plan_note(event: Note, events: Sequence[Event]) -> Markup:
    """What the planner chose, out of what, and what it asks."""
    data = event.data
    others = ", ".join(str(name) for name in data["feasible"] if name != data["action"])
    by = {
        "planner": "",
        "repair": "after being asked again",
        "no choice": "the only step left",
        "first step": "the usual first step, without a planner",
    }
    remarks = [
        by.get(str(data["by"]), "the graph's preference, as no reply named a step"),
        f"instead of {others}" if others else "",
    ]
    return element(
        "div",
        element(
            "p", element("b", f"Next: {data['action']}"), f" · {data['query']}" if data["query"] else None
        ),
        element("p", "; ".join(filter(None, remarks)), class_="facts"),
        class_="note",
    )


def _parts_note(event: Note, events: Sequence[Event]) -> Markup:
    """The question in its two parts."""
    data = event.data
    knowledge = data["knowledge"] if data["knowledge"] != "#" else "(looking is enough)"
    rows = [("to see", data["visual"]), ("to know", knowledge)]
    parts = [each for name, text in rows for each in (element("dt", name), element("dd", str(text)))]
    return element("div", element("b", "The question in two parts"), element("dl", *parts), class_="note")


def _render_looks(event: Note, events: Sequence[Event]) -> Markup:
    """What was seen before the search; nothing if no tool described the image."""
    lines = [element("li", str(line)) for line in event.data["lines"]]
    return (
        element("div", element("b", "First look"), element("ul", *lines), class_="note")
        if lines
        else _nothing(event, events)
    )


def _memory_note(event: Note, events: Sequence[Event]) -> Markup:
    """What is known after a step, folded; nothing if nothing is."""
    findings, sources = event.data["findings"], event.data["sources"]
    if not findings and not sources:
        return _nothing(event, events)
    title = f"Known so far: {count(len(findings), 'finding')}, {count(len(sources), 'source')}"
    lists = [
        element("ul", *(element("li", str(each)) for each in some)) for some in (findings, sources) if some
    ]
    return element("div", fold(title, *lists), class_="note")


def _nothing(event: Note, events: Sequence[Event]) -> Markup:
    """For a note that the path and the verdicts show already."""
    return join()


def search_path(events: Sequence[Event]) -> Markup | None:
    """The path of a search as a picture; None if the run made none, or its record cannot be read."""
    try:
        return _draw_path(list(search_steps([event for event in events if isinstance(event, Note)])))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return None


def _path_note(event: Note, events: Sequence[Event]) -> Markup:
    """The note `forced` or `answer` with the path of the search; after `forced`, `answer` does not repeat it."""
    before = list(_notes_before(event, events))
    is_repeat = event.label == "answer" and any(note.label == "forced" for note in before)
    path = None if is_repeat else _draw_path(list(search_steps(before)))
    folded = fold("Search path", path) if path else None  # it opens the report of a run
    return element(
        "div", folded, _format_forced(event.data) if event.label == "forced" else _format_answer(event.data)
    )


def _step(transition: Mapping[str, Any], verdict: Mapping[str, Any], depth: int, parent: int) -> PathRow:
    ruling = str(verdict["verdict"])
    result = str(verdict["answer"] or verdict["why"] or "")
    return PathRow(str(transition["action"]), depth, parent, ruling if ruling in _INK else None, result)


def _draw_path(rows: Sequence[PathRow]) -> Markup | None:
    if len(rows) < 2:
        return None
    width = max(_x_of(row) + _WIDTH + 12 + len(_result(row)) * _CHARACTER for row in rows) + 8
    height = len(rows) * _ROW + 8
    drawing = element(
        "svg",
        element("title", "; ".join(_describe(row) for row in rows)),
        *(_line(row, place, rows) for place, row in enumerate(rows)),
        *(_box(row, place) for place, row in enumerate(rows)),
        viewBox=f"0 0 {width:.0f} {height}",
        width=f"{width:.0f}",
        height=height,
        role="img",
        font_family="monospace",
        font_size=12,
    )
    legend = "Search path: ✓ answerable, → informative, ✗ not informative"
    return element("figure", drawing, element("figcaption", legend), class_="graph")


def _line(row: PathRow, place: int, rows: Sequence[PathRow]) -> Markup | None:
    """An elbow from the parent's box down and right to this one."""
    if row.parent is None:
        return None
    x, y = _x_of(rows[row.parent]) + 14, row.parent * _ROW + 4 + _HEIGHT
    end_y = place * _ROW + 4 + _HEIGHT / 2
    stroke = _INK.get(row.ruling or "", _PLAIN)
    return element("path", d=f"M{x} {y}V{end_y:.0f}H{_x_of(row)}", fill="none", stroke=stroke)


def _box(row: PathRow, place: int) -> Markup:
    top, ruling = place * _ROW + 4, row.ruling or ""
    ink = _INK.get(ruling, _PLAIN)
    frame = element(
        "rect",
        x=_x_of(row),
        y=top,
        width=_WIDTH,
        height=_HEIGHT,
        rx=5,
        fill=_FILL.get(ruling, _PAPER),
        stroke=ink,
        stroke_dasharray="5 3" if place and ruling in ("", "not informative") else None,
    )
    name = f"{_SIGN.get(ruling, '')} {row.name}".strip()
    label = element("text", name, x=_x_of(row) + 8, y=top + 16, fill=ink)
    result = element("text", _result(row), x=_x_of(row) + _WIDTH + 12, y=top + 16, fill=_PLAIN)
    return join(frame, label, result if row.result else None)


def _x_of(row: PathRow) -> int:
    return 8 + row.depth * _INDENT


def _describe(row: PathRow) -> str:
    return ", ".join(part for part in (row.name, row.ruling, _result(row)) if part)


def _result(row: PathRow) -> str:
    return shorten(row.result, _RESULT_CHARS)


def _format_forced(data: Mapping[str, Any]) -> Markup:
    return element("p", f"The search was cut short: {data['why']}", class_="facts")


def _format_answer(data: Mapping[str, Any]) -> Markup:
    """The answer and its numbered sources; an address is never a link, since it may come from anybody."""
    label = "Best answer" if data["forced"] else "Answer"
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
    return join(
        element("p", element("b", f"{label}: "), str(data["answer"])),
        element("p", "Sources:" if sources else "No sources.", class_="facts"),
        element("ol", *sources) if sources else None,
    )


def _notes_before(event: Note, events: Sequence[Event]) -> Iterator[Note]:
    for other in events:
        if other is event:
            return
        if isinstance(other, Note):
            yield other


# A strategy whose notes deserve more than a list of values gets a row here.
RENDERERS: Mapping[str, Renderer] = {
    "graph": graph_note,
    "difference": round_note,
    "forced": _path_note,
    "answer": _path_note,
    "program": program_note,
    "verdict": _verdict_note,
    "refinement": refinement_note,
    "plan": _plan_note,
    "decomposed": _parts_note,
    "looked": _render_looks,
    "memory": _memory_note,
    "transition": _nothing,
}
