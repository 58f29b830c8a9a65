from __future__ import annotations

from pathlib import Path

from pyvision.bench.samples import Sample
from pyvision.experiments.avis_study.queue import Waiting
from tests.doubles import png

SAMPLES = [Sample(f"q{number}", f"{number}?", (png(),), "truth") for number in (1, 2, 3)]


def asked(waiting: Waiting, user: str, visitor: str) -> str | None:
    posed = waiting.next(user, visitor)
    return posed.id if posed else None


def test_two_people_at_once_get_different_questions() -> None:
    waiting = Waiting(SAMPLES, ())
    assert [asked(waiting, "a", "tab 1"), asked(waiting, "b", "tab 2")] == ["q1", "q2"]


def test_a_question_comes_back_when_its_tab_was_closed() -> None:
    waiting = Waiting(SAMPLES, ())
    asked(waiting, "a", "tab 1")
    waiting.leave("tab 1")
    assert asked(waiting, "b", "tab 2") == "q1"


def test_what_was_answered_before_is_skipped() -> None:
    waiting = Waiting(SAMPLES, [("somebody", "q1"), ("somebody", "not in this set")])
    assert asked(waiting, "a", "tab") == "q2"
    assert waiting.standing("a").done == 1


def test_everyone_gets_every_question_where_that_is_wanted() -> None:
    waiting = Waiting(SAMPLES, [("a", "q1")], everyone=True)
    assert asked(waiting, "a", "tab 1") == "q2"
    assert asked(waiting, "b", "tab 2") == "q1"
    waiting.end("b", "q1")
    assert asked(waiting, "b", "tab 2") == "q2"


def test_there_is_an_end() -> None:
    waiting = Waiting(SAMPLES, [("a", sample.id) for sample in SAMPLES])
    assert asked(waiting, "a", "tab") is None


def test_a_question_whose_picture_is_broken_is_left_out() -> None:
    broken = Sample("broken", "?", (Path("/nowhere/at/all.png"),), "truth")
    waiting = Waiting([broken, *SAMPLES], ())
    assert asked(waiting, "a", "tab") == "q1"
    assert waiting.standing("a").total == 3
    assert "all.png" in waiting.standing("a").broken[0]
