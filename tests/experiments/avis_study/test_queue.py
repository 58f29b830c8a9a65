from __future__ import annotations

from pathlib import Path

from pyvision.bench.samples import Sample
from pyvision.experiments.avis_study.sessions import TaskQueue
from tests.doubles import png

SAMPLES = [Sample(f"q{number}", f"{number}?", (png(),), "truth") for number in (1, 2, 3)]


def next_id(queue: TaskQueue, user: str, tab_id: str) -> str | None:
    task = queue.next(user, tab_id)
    return task.id if task else None


def test_two_participants_get_different_questions() -> None:
    queue = TaskQueue(SAMPLES, ())
    assert [next_id(queue, "a", "tab 1"), next_id(queue, "b", "tab 2")] == ["q1", "q2"]


def test_a_question_of_a_closed_tab_becomes_available_again() -> None:
    queue = TaskQueue(SAMPLES, ())
    next_id(queue, "a", "tab 1")
    queue.leave("tab 1")
    assert next_id(queue, "b", "tab 2") == "q1"


def test_closed_questions_are_skipped() -> None:
    queue = TaskQueue(SAMPLES, [("somebody", "q1"), ("somebody", "not in this dataset")])
    assert next_id(queue, "a", "tab") == "q2"
    assert queue.progress("a").done == 1


def test_with_everyone_each_participant_gets_every_question() -> None:
    queue = TaskQueue(SAMPLES, [("a", "q1")], everyone=True)
    assert next_id(queue, "a", "tab 1") == "q2"
    assert next_id(queue, "b", "tab 2") == "q1"
    queue.end("b", "q1")
    assert next_id(queue, "b", "tab 2") == "q2"


def test_no_question_is_left_when_all_are_closed() -> None:
    queue = TaskQueue(SAMPLES, [("a", sample.id) for sample in SAMPLES])
    assert next_id(queue, "a", "tab") is None


def test_a_question_with_a_broken_image_is_skipped() -> None:
    broken = Sample("broken", "?", (Path("/nowhere/at/all.png"),), "truth")
    queue = TaskQueue([broken, *SAMPLES], ())
    assert next_id(queue, "a", "tab") == "q1"
    assert queue.progress("a").total == 3
    assert "all.png" in queue.progress("a").broken[0]
