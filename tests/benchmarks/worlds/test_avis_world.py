"""The simulated encyclopaedia: consistent facts, images and questions, scripted errors, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.worlds.avis_world import MODES, play, report, saved
from benchmarks.worlds.seeking.collection import build, recall, searches
from benchmarks.worlds.seeking.entries import drawing, view, world
from benchmarks.worlds.seeking.models import FORMS, Rates, cases
from pyvision.bench.metrics.infoseek import strict
from pyvision.images.read import decode
from pyvision.strategies.avis import Avis
from pyvision.types import Tool

PERFECT = Rates(planner=0, malformed=0, misread=0, misled=0, selector=0, detector=0, recognised=0, misnamed=0)
MADE = world(20, 6)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Tool]:
    return searches(build(MADE, tmp_path_factory.mktemp("encyclopaedia")))


def test_the_names_in_the_world_are_distinct() -> None:
    made = world()
    assert len(made.entries) >= 200
    names = [entry.name for entry in made.entries] + [person.name for person in made.people]
    assert len(set(names)) == len(names)


def test_every_fifth_entry_is_a_near_duplicate_with_other_facts() -> None:
    twins = [(a, b) for a, b in zip(MADE.entries, MADE.entries[1:], strict=False) if b.twin]
    assert len(twins) == len(MADE.entries) // 5
    assert all(b.twin == a.name and b.kind == a.kind and a.name in b.name for a, b in twins)
    assert all((a.year, a.size) != (b.year, b.size) for a, b in twins)
    assert all(drawing(a).data != drawing(b).data for a, b in twins)


def test_a_question_shows_another_view_than_the_collection() -> None:
    entry = MADE.entries[0]
    assert view(entry, "1").data not in (view(entry, "2").data, drawing(entry).data)
    assert decode(view(entry, "1").data, "view").width > 50


def test_only_the_true_answer_of_a_question_is_right() -> None:
    questions = cases(MADE, 24)
    assert {FORMS[case.form].kind for case in questions} == {"String", "Time", "Numerical"}
    for case in questions:
        truth = FORMS[case.form].truth(case.entry)
        assert strict(str(truth), case.sample()).value == 1
        wrong = truth * 2 if isinstance(truth, int) else f"not {truth}"
        assert strict(str(wrong), case.sample()).value == 0


@pytest.mark.parametrize("count", [6, pytest.param(12, marks=pytest.mark.slow)])
def test_without_errors_nearly_everything_is_answered(tools: Mapping[str, Tool], count: int) -> None:
    """The rest is due to the image search, which may rank a near-duplicate first."""
    results = play(cases(MADE, count), MODES["AVIS"], MADE, tools, PERFECT)
    assert sum(each.is_right for each in results) >= count * 10 / 12


def test_no_mode_uses_more_tools_than_allowed(tools: Mapping[str, Tool]) -> None:
    results = play(cases(MADE, 6), Avis(calls=3), MADE, tools, Rates(misread=1))
    assert all(each.calls <= 3 for each in results)
    assert all(each.forced for each in results)


def test_an_article_is_among_the_first_hits_for_its_name(tools: Mapping[str, Tool]) -> None:
    assert recall(MADE, tools, "document: its article", (5,)) == [len(MADE.entries)]


def test_the_report_contains_every_mode(tmp_path: Path) -> None:
    text = report(1, tmp_path, entries=10)
    assert all(mode in text for mode in MODES)
    assert "recall of the index" in text


def test_a_planner_that_ends_when_enough_is_known_saves_calls(tools: Mapping[str, Tool]) -> None:
    cautious = replace(PERFECT, cautious=1, goes_on=0, hasty=0)
    ends, goes_on = (
        play(cases(MADE, 4), Avis(), MADE, tools, rates) for rates in (cautious, replace(cautious, goes_on=1))
    )
    assert sum(each.asked for each in ends) < sum(each.asked for each in goes_on)
    assert [each.is_right for each in ends] == [each.is_right for each in goes_on]


def test_a_hasty_planner_continues_with_too_little_information(tools: Mapping[str, Tool]) -> None:
    (result,) = play(cases(MADE, 1), Avis(), MADE, tools, replace(PERFECT, misread=0, cautious=0, hasty=1))
    assert result.is_right


def test_the_table_of_savings_compares_the_same_questions(tmp_path: Path) -> None:
    lines = saved(1, tmp_path, entries=10).splitlines()
    assert [line.split()[0] for line in lines[1::3]] == ["0.0", "0.1", "0.3"]
    assert all("calls; " in line for line in lines[3::3])
