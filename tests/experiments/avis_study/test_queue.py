from __future__ import annotations

from pathlib import Path

from pyvision.bench.samples import Sample
from pyvision.experiments.avis_study.sessions import TaskQueue
from tests.doubles import png

SAMPLES = [Sample(f"q{number}", f"{number}?", (png(),), "truth") for number in (1, 2, 3)]


def asked(queue: TaskQueue, user: str, visitor: str) -> str | None:
    task = queue.next(user, visitor)
    return task.id if task else None


def test_two_people_at_once_get_different_questions() -> None:
    queue = TaskQueue(SAMPLES, ())
    assert [asked(queue, "a", "tab 1"), asked(queue, "b", "tab 2")] == ["q1", "q2"]


def test_a_question_comes_back_when_its_tab_was_closed() -> None:
    queue = TaskQueue(SAMPLES, ())
    asked(queue, "a", "tab 1")
    queue.leave("tab 1")
    assert asked(queue, "b", "tab 2") == "q1"


def test_what_was_answered_before_is_skipped() -> None:
    queue = TaskQueue(SAMPLES, [("somebody", "q1"), ("somebody", "not in this set")])
    assert asked(queue, "a", "tab") == "q2"
    assert queue.progress("a").done == 1


def test_everyone_gets_every_question_where_that_is_wanted() -> None:
    queue = TaskQueue(SAMPLES, [("a", "q1")], everyone=True)
    assert asked(queue, "a", "tab 1") == "q2"
    assert asked(queue, "b", "tab 2") == "q1"
    queue.end("b", "q1")
    assert asked(queue, "b", "tab 2") == "q2"


def test_there_is_an_end() -> None:
    queue = TaskQueue(SAMPLES, [("a", sample.id) for sample in SAMPLES])
    assert asked(queue, "a", "tab") is None


def test_a_question_whose_picture_is_broken_is_left_out() -> None:
    broken = Sample("broken", "?", (Path("/nowhere/at/all.png"),), "truth")
    queue = TaskQueue([broken, *SAMPLES], ())
    assert asked(queue, "a", "tab") == "q1"
    assert queue.progress("a").total == 3
    assert "all.png" in queue.progress("a").broken[0]
