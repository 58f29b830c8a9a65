"""The encyclopaedia: its facts, pictures and questions agree, players err at their rates, its report can be made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.worlds.avis_world import ARMS, play, report
from benchmarks.worlds.seeking.collection import build, recall, searches
from benchmarks.worlds.seeking.entries import drawing, view, world
from benchmarks.worlds.seeking.models import FORMS, Rates, cases
from pyvision.bench.metrics.infoseek import official
from pyvision.images.read import decode
from pyvision.strategies.avis import Avis
from pyvision.types import Tool

PERFECT = Rates(planner=0, malformed=0, misread=0, misled=0, selector=0, detector=0, recognised=0, misnamed=0)
MADE = world(20, 6)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Tool]:
    return searches(build(MADE, tmp_path_factory.mktemp("encyclopaedia")))


def test_the_world_has_its_size_and_no_name_twice() -> None:
    made = world()
    assert len(made.things) >= 200
    names = [thing.name for thing in made.things] + [person.name for person in made.people]
    assert len(set(names)) == len(names)


def test_every_fifth_thing_is_a_near_duplicate_with_other_facts() -> None:
    twins = [(a, b) for a, b in zip(MADE.things, MADE.things[1:], strict=False) if b.twin]
    assert len(twins) == len(MADE.things) // 5
    assert all(b.twin == a.name and b.kind == a.kind and a.name in b.name for a, b in twins)
    assert all((a.year, a.size) != (b.year, b.size) for a, b in twins)
    assert all(drawing(a).data != drawing(b).data for a, b in twins)


def test_a_question_shows_another_view_than_the_collection() -> None:
    thing = MADE.things[0]
    assert view(thing, "1").data not in (view(thing, "2").data, drawing(thing).data)
    assert decode(view(thing, "1").data, "view").width > 50


def test_the_truth_of_every_question_is_right_and_another_is_wrong() -> None:
    asked = cases(MADE, 24)
    assert {FORMS[case.form].kind for case in asked} == {"String", "Time", "Numerical"}
    for case in asked:
        truth = FORMS[case.form].truth(case.thing)
        assert official(str(truth), case.sample()).value == 1
        wrong = truth * 2 if isinstance(truth, int) else f"not {truth}"
        assert official(str(wrong), case.sample()).value == 0


def test_without_errors_the_walk_answers_nearly_everything(tools: Mapping[str, Tool]) -> None:
    """What is left is the picture search's: a near-duplicate may come first."""
    played = play(cases(MADE, 12), ARMS["AVIS"], MADE, tools, PERFECT)
    assert sum(each.is_right for each in played) >= 10


def test_no_arm_uses_more_tools_than_it_may(tools: Mapping[str, Tool]) -> None:
    played = play(cases(MADE, 6), Avis(calls=3), MADE, tools, Rates(misread=1))
    assert all(each.calls <= 3 for each in played)
    assert all(each.forced for each in played)


def test_an_article_is_among_the_first_hits_for_its_name(tools: Mapping[str, Tool]) -> None:
    assert recall(MADE, tools, "document: its article", (5,)) == [len(MADE.things)]


def test_the_report_tells_every_arm(tmp_path: Path) -> None:
    text = report(2, tmp_path, things=10)
    assert all(arm in text for arm in ARMS)
    assert "recall of the index" in text
