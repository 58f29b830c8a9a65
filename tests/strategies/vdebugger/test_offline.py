"""The embedded model and tools answer questions on the pictures of the examples, with programs one can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.events import Event, Note
from pyvision.solve import prepare, solve
from tests.strategies.vdebugger.running import OneSession

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ASKED = {
    ("shapes.png", "How many red circles are there?"): "4",
    ("shapes.png", "What colour are the triangles?"): "green",
    ("shapes.png", "Are there more squares than circles?"): "no",
    ("lake.jpg", "What colour is the sky?"): "blue",
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_question_on_an_example_is_answered_offline(asked: tuple[str, str], kernel: OneSession) -> None:
    file, text = asked
    events: list[Event] = []
    task = prepare(text, [EXAMPLES / file], strategy="vdebugger", model="offline")
    outcome = solve(task, events.append, kernel)
    notes = [event for event in events if isinstance(event, Note)]
    assert (outcome.answer, outcome.end_reason) == (ASKED[asked], "answered")
    assert [each.data["why"] for each in notes if each.label == "debugging_ended"] == ["unclear"]
    programs = [each.data["program"] for each in notes if each.label == "program"]
    assert all(
        program.startswith("def execute_command(image) -> str:\n    image_patch = ") for program in programs
    )


def test_a_thing_on_an_example_is_found_offline(kernel: OneSession) -> None:
    task = prepare(
        "Find the largest circle.", [EXAMPLES / "shapes.png"], strategy="vdebugger", model="offline"
    )
    assert solve(task, lambda event: None, kernel).answer == "[274, 134, 387, 247]"


def test_circles_that_overlap_are_not_counted(kernel: OneSession) -> None:
    question = "How many circles are there?"
    task = prepare(question, [EXAMPLES / "circles.png"], strategy="vdebugger", model="offline")
    outcome = solve(task, lambda event: None, kernel)
    assert (outcome.answer, outcome.end_reason) == (None, "no_answer")
    assert "some objects overlap" in (outcome.error or "")


def test_a_photograph_that_the_tools_do_not_know_ends_without_an_answer(kernel: OneSession) -> None:
    task = prepare(
        "How many boats are there?", [EXAMPLES / "lake.jpg"], strategy="vdebugger", model="offline"
    )
    outcome = solve(task, lambda event: None, kernel)
    assert (outcome.answer, outcome.end_reason) == (None, "no_answer")
    assert "ServiceError: vqa: " in (outcome.error or "")
