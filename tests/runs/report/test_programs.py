"""Visual programs in a report: marked where they are at fault, with verdict and score."""

from __future__ import annotations

from typing import Any

from pyvision.events import Note
from pyvision.runs.report.notes import render_note
from tests.runs.report.parsed import Page

PROGRAM = "def execute_command(image) -> str:\n    return '<b>' + image"
START = PROGRAM.index("'<b>'")
RAN = Note(
    "program",
    {
        "round": 0,
        "question": "Given an image: What is it?",
        "program": PROGRAM,
        "result": "None",
        "error": "TypeError: no",
        "trace": "call         1 def",
    },
)


def verdict(**more: Any) -> Note:
    spans = [{"start": START, "end": START + 5, "text": "'<b>'"}]
    data = {
        "round": 1,
        "verdict": "wrong",
        "score": 0.25,
        "accepted": False,
        "spans": spans,
        "fault": None,
    }
    return Note("verdict", data | more)


def marked(event: Note) -> list[str]:
    page = render_note(event, (RAN, event))
    return [part.split("</mark>")[0] for part in page.split("<mark>")[1:]]


def test_a_program_is_told_with_its_question_its_error_and_its_trace() -> None:
    page = Page(render_note(RAN, (RAN,)))
    assert all(
        expected in page.text
        for expected in ("What is it?", PROGRAM, "error: TypeError: no", "call         1 def")
    )
    assert page.open == []


def test_the_faulty_span_is_marked_in_the_program_that_ran() -> None:
    event = verdict()
    assert marked(event) == ["&#x27;&lt;b&gt;&#x27;"]
    assert "Verdict 1: wrong · rejected; score 0.250" in Page(render_note(event, (RAN, event))).text
    assert PROGRAM in Page(render_note(event, (RAN, event))).text


def test_an_accepted_program_is_not_shown_again() -> None:
    event = verdict(verdict="right", accepted=True, score=None, spans=[])
    assert PROGRAM not in Page(render_note(event, (RAN, event))).text


def test_spans_that_cross_or_lie_outside_are_shown_as_far_as_they_go() -> None:
    spans = [{"start": 4, "end": 9}, {"start": 6, "end": 12}, {"start": 50, "end": 900}]
    event = verdict(spans=spans)
    assert "".join(Page(render_note(event, (RAN, event))).texts).count(PROGRAM) == 1


def test_a_refinement_is_shown_with_what_becomes_of_it() -> None:
    event = Note("refinement", {"round": 2, "program": PROGRAM, "repeated": True})
    assert "Refinement 2 · same as an earlier program" in Page(render_note(event, (event,))).text


def test_a_verdict_that_cannot_be_read_is_shown_plainly() -> None:
    event = Note("verdict", {"round": 1})
    assert Page(render_note(event, (event,))).text == "verdictround1"
