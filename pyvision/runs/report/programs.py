"""The programs of a VDebugger run, as HTML: values beside the lines that made them, and what changed between rounds.

A program is shown once, with its trace folded beside its lines. A refinement is shown as its difference from the
program before it, and a critic's verdict as the lines that it marks. Notes without a trace or with a damaged one show
the program alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

from pyvision.events import Event, Note
from pyvision.pages.markup import Markup, count, element, fold, join
from pyvision.runs.report.crops import Crop, clip_box
from pyvision.types import Picture

_VERDICTS = {"right": "right", "wrong": "wrong", "unclear": "no verdict"}
_RAN = re.compile(r"(?:call|line|return|exception) +(\d{1,6}) ")
_VALUE = re.compile(r"(?:New var|Modified var|Return value|Exception):\.+ (.*)")
_MOST_VALUES = 40  # of one line; a loop makes many
_AROUND = 1  # lines around a marked one


def program_note(event: Note, events: Sequence[Event]) -> Markup:
    """A program that ran: the question it was written for, what it returned, and its values beside its lines.

    It is counted from 1, as the verdict on it is.
    """
    data = event.data
    result = f"error: {data['error']}" if data["error"] else f"-> {data['result']}"
    verified = data.get("verified_by")
    return element(
        "div",
        element("p", element("b", f"Program {int(data['round']) + 1}"), f" · {data['question']}"),
        _lines_with_values(str(data["program"]), str(data["trace"] or "")),
        element("p", result, class_="facts"),
        element("p", f"verify_property decided by {verified}", class_="facts") if verified else None,
        fold("Trace", element("pre", data["trace"], tabindex=0)) if data["trace"] else None,
        class_="note",
    )


def verdict_note(event: Note, events: Sequence[Event]) -> Markup:
    """The verdict on the program before it, with the lines that it marks."""
    data = event.data
    program = next(iter(_programs_before(event, events)), None)
    is_judged = data.get("by_critic", True)  # older records do not say
    judged = _format_verdict(data) if is_judged else "rejected without asking a critic"
    heading = element("b", f"Verdict {data['round']}: {_VERDICTS[data['verdict']]}")
    prose = data.get("prose")
    return element(
        "div",
        element("p", heading, f" · {judged}"),
        element("p", prose, class_="said") if prose else None,
        None if data["accepted"] or program is None else _render_marked_lines(program, data["spans"]),
        class_="note",
    )


def refinement_note(event: Note, events: Sequence[Event]) -> Markup:
    """What the refiner changed in the program before."""
    program = str(event.data["program"]).strip("\n")
    outcome = "same as an earlier program; the search ends" if event.data["repeated"] else "runs next"
    before = next(iter(_programs_before(event, events)), None)
    heading = element("p", element("b", f"Refinement {event.data['round']}"), f" · {outcome}")
    return element(
        "div", heading, _code(program) if before is None else _difference(before, program), class_="note"
    )


def boxes_found(event: Note, pictures: Mapping[str, Picture]) -> tuple[Crop, ...]:
    """The boxes that a program found in the images of the question; a damaged record has none."""
    found = event.data.get("boxes") if event.label == "program" else None
    crops = [_crop(box, pictures) for box in found] if isinstance(found, list) else []
    return tuple(dict.fromkeys(crop for crop in crops if crop is not None))


def _crop(box: Any, pictures: Mapping[str, Picture]) -> Crop | None:
    match box:
        case {"image": str(name), "box": [left, top, right, bottom]} if name in pictures:
            sides = (left, top, right, bottom)
            if all(isinstance(side, int | float) and abs(side) < 1e6 for side in sides):
                return clip_box(name, pictures[name], sides)
    return None


def _lines_with_values(program: str, trace: str) -> Markup:
    """Each line of a program, with the values that it made folded beside it."""
    values = values_by_line(trace)
    if not values:
        return _code(program)
    rows = [
        element(
            "tr",
            element("td", element("pre", element("code", line or " "))),
            element("td", _fold_values(values.get(number, []))),
        )
        for number, line in enumerate(program.splitlines(), 1)
    ]
    return element("table", element("tbody", *rows), class_="program")


def values_by_line(trace: str) -> dict[int, list[str]]:
    """Line of the program -> what it assigned, returned or raised, as a trace tells it.

    A trace reports a change before the next line that runs, so it belongs to the line before.
    """
    made: dict[int, list[str]] = {}
    at = None
    for line in trace.splitlines():
        if found := _VALUE.match(line):
            if at is not None and len(made.setdefault(at, [])) < _MOST_VALUES:
                made[at].append(found[1])
        elif ran := _RAN.match(line):
            at = int(ran[1])
    return made


def _fold_values(values: Sequence[str]) -> Markup | None:
    match values:
        case []:
            return None
        case [value] if len(value) <= 40:
            return element("small", value)
        case _:
            title = f"{values[-1][:40]}…" if len(values) == 1 else count(len(values), "value")
            return fold(title, element("pre", "\n".join(values), tabindex=0))


def _difference(before: str, after: str) -> Markup:
    """A unified difference in full, with added and removed lines in colour."""
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    if not lines:
        return element("p", "nothing is changed", class_="facts")
    names = {"+": "added", "-": "pruned"}
    parts = [
        join(element("span", line, class_=f"diff {names[line[0]]}") if line[0] in names else line, "\n")
        for line in lines
        if not line.startswith("@@")
    ]
    return element("pre", element("code", *parts), class_="code", tabindex=0, aria_label="changed lines")


def _render_marked_lines(program: str, spans: Sequence[Mapping[str, Any]]) -> Markup | None:
    """The lines that hold a mark, with those around them; the whole program if it is marked in many places."""
    starts = [min(max(0, int(span["start"])), len(program)) for span in spans]
    ends = [min(max(0, int(span["end"])), len(program)) for span in spans]
    if not starts:
        return None
    lines = program.splitlines(keepends=True)
    first = max(0, program.count("\n", 0, min(starts)) - _AROUND)
    last = min(len(lines), program.count("\n", 0, max(ends)) + 1 + _AROUND)
    offset, text = sum(map(len, lines[:first])), "".join(lines[first:last]).rstrip("\n")
    moved = [{"start": int(s["start"]) - offset, "end": int(s["end"]) - offset} for s in spans]
    return join(
        element("p", f"lines {first + 1} to {last}", class_="facts")
        if (first, last) != (0, len(lines))
        else None,
        _code(_mark(text, moved)),
    )


def _mark(program: str, spans: Sequence[Mapping[str, Any]]) -> Markup:
    parts: list[object] = []
    at = 0
    for span in sorted(spans, key=lambda each: int(each["start"])):
        start, end = max(at, span["start"]), min(span["end"], len(program))
        parts += [program[at:start], element("mark", program[start:end])]
        at = max(at, end)
    return join(*parts, program[at:])


def _code(program: object) -> Markup:
    return element("pre", element("code", program), tabindex=0)


def _programs_before(event: Note, events: Sequence[Event]) -> Iterator[str]:
    """The programs that were noted before, the latest first."""
    at = next((place for place, other in enumerate(events) if other is event), len(events))
    for other in reversed(events[:at]):
        if isinstance(other, Note) and other.label == "program":
            yield str(other.data["program"])


def _format_verdict(data: Mapping[str, Any]) -> str:
    parts = ["accepted" if data["accepted"] else "rejected"]
    if data.get("corrected"):
        parts.append("corrected in the same reply")
    if data["score"] is not None:
        parts.append(f"score {data['score']:.3f}")
    if data["fault"]:
        parts.append(data["fault"])
    return "; ".join(parts)
