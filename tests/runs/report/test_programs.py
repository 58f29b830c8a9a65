"""Visual programs in a report: marked where they are at fault, with verdict and score."""

from __future__ import annotations

from typing import Any

import pytest

from pyvision.events import Note
from pyvision.runs.report.notes import render_note
from pyvision.runs.report.programs import boxes_found, values_by_line
from tests.doubles import picture
from tests.pages.parsed import Page

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


@pytest.mark.parametrize(
    "expected",
    ["What is it?", PROGRAM, "error: TypeError: no", "call         1 def"],
    ids=["question", "program", "error", "trace"],
)
def test_a_program_is_shown_with_what_came_of_it(expected: str) -> None:
    page = Page(render_note(RAN, (RAN,)))
    assert expected in page.text
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


TRACE = """call         1 def execute_command(image) -> str:
line         2     cups = find()
New var:....... cups = [1, 2]
line         3     for cup in cups:
New var:....... cup = 1
line         3     for cup in cups:
Modified var:.. cup = 2
return       4     return str(len(cups))
Return value:.. '2'"""
COUNTS = """def execute_command(image) -> str:
    cups = find()
    for cup in cups:
        pass
    return str(len(cups))"""


def test_a_value_belongs_to_the_line_that_made_it() -> None:
    assert values_by_line(TRACE) == {2: ["cups = [1, 2]"], 3: ["cup = 1", "cup = 2"], 4: ["'2'"]}


def test_values_stand_beside_their_lines() -> None:
    page = Page(render_note(Note("program", RAN.data | {"program": COUNTS, "trace": TRACE}), ()))
    assert (
        page.text.index("cups = find()")
        < page.text.index("cups = [1, 2]")
        < page.text.index("for cup in cups")
    )
    assert "2 values" in page.text
    assert page.open == []


def test_a_refinement_is_shown_as_what_it_changed() -> None:
    event = Note("refinement", {"round": 1, "program": PROGRAM.replace("<b>", "<i>"), "repeated": False})
    page = render_note(event, (RAN, event))
    assert 'class="diff pruned">-    return' in page
    assert 'class="diff added">+    return' in page
    assert "<i>" not in page


def test_a_verdict_shows_the_lines_around_its_mark() -> None:
    long = "\n".join(["def execute_command(image):", *(f"    step({number})" for number in range(20))])
    start = long.index("step(9)")
    event = verdict(spans=[{"start": start, "end": start + 7}])
    ran = Note("program", RAN.data | {"program": long})
    text = Page(render_note(event, (ran, event))).text
    assert "lines 10 to 12" in text
    assert "step(8)" in text
    assert "step(7)" not in text


def test_the_prose_of_a_critic_is_shown() -> None:
    event = verdict(spans=[], prose="It counts <plates>.")
    assert "It counts <plates>." in Page(render_note(event, (RAN, event))).text


def test_boxes_are_drawn_on_the_image_that_they_were_found_in() -> None:
    boxes = [{"image": "image_clue_0", "label": "cup", "box": [1, 2, 11, 22], "score": 0.9}]
    (crop,) = boxes_found(Note("program", {"boxes": boxes}), {"image_clue_0": picture(40, 30)})
    assert (crop.name, crop.left, crop.top, crop.width, crop.height) == ("image_clue_0", 1, 2, 10, 20)


@pytest.mark.parametrize(
    "boxes",
    [
        None,
        "x",
        [{}],
        [{"image": "no", "box": [1, 2, 3, 4]}],
        [{"image": "image_clue_0", "box": ["a", 1, 2, 3]}],
    ],
)
def test_damaged_boxes_are_left_out(boxes: object) -> None:
    assert boxes_found(Note("program", {"boxes": boxes}), {"image_clue_0": picture(40, 30)}) == ()


def test_a_verdict_without_a_critic_says_so() -> None:
    event = verdict(by_critic=False)
    assert "rejected without asking a critic" in render_note(event, (RAN, event))


def test_a_verdict_of_a_critic_is_not_said_to_be_without_one() -> None:
    event = verdict()
    assert "rejected without asking a critic" not in render_note(event, (RAN, event))


def test_a_correction_in_the_critics_reply_is_named() -> None:
    event = verdict(corrected=True)
    assert "rejected; corrected in the same reply" in render_note(event, (RAN, event))
