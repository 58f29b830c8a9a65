"""What a strategy noted about its own course, as HTML: a table of renderers by label, and a plain one for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyvision.events import Event, Note
from pyvision.runs.report.debates import graph_note, round_note
from pyvision.runs.report.markup import Markup, element
from pyvision.runs.report.paths import path_note
from pyvision.runs.report.programs import program_note, refinement_note, verdict_note

Renderer = Callable[[Note, Sequence[Event]], Markup]  # of a note, and of the run's events with it among them
_LONG = 120  # characters of a value that stands in a block of its own

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
