"""Visual programs in a report: each as it ran, and as a critic marked it, with the verdict and its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyvision.events import Event, Note
from pyvision.runs.report.markup import Markup, element, join

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
