"""The world of debates: scenes and graphs are exact, players err at their rates, and its report can be made."""

from __future__ import annotations

import pytest

from benchmarks.worlds.bdog_world import report
from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import ALPHABETICAL, ARMS, ROWS, cases, mean, play, scene_graph
from benchmarks.worlds.debates.scenes import ABOVE, KINDS, LEFT, Scene, Shape, query, scene
from pyvision.images.read import decode
from pyvision.strategies.bdog.graphs import Edge

PERFECT = Abilities(perception=0, judgement=0, relevance=0, malformed=0)
BLIND = Abilities(perception=1, crowding=0, shared=1, judgement=1, relevance=1, malformed=0)


def test_the_graph_of_a_scene_names_the_next_thing_in_row_and_column_only() -> None:
    row = (Shape("a", "circle", "red", "small", 0, 0), Shape("b", "star", "red", "small", 4, 0))
    rest = (Shape("c", "square", "blue", "large", 2, 0), Shape("d", "circle", "red", "small", 2, 5))
    edges = set(Scene("x", (*row, *rest)).graph.edges)
    assert edges == {Edge("a", "c", LEFT), Edge("c", "b", LEFT), Edge("c", "d", ABOVE)}


def test_the_picture_of_a_scene_is_a_whole_png() -> None:
    picture = scene("1", 8).picture()
    assert decode(picture.data, "scene").width == picture.width == 360


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_has_its_answer_among_its_choices_and_keeps_it_without_what_does_not_matter(
    kind: str,
) -> None:
    asked = [(scene(str(n), 8), query(scene(str(n), 8), kind)) for n in range(12)]
    found = [(shown, about) for shown, about in asked if about is not None]
    assert len(found) > 6
    for shown, about in found:
        graph = shown.graph
        condensed = graph.only({node.id for node in graph.nodes if about.matters(node)})
        assert about.answer(graph) in about.choices
        if kind != "logic" or condensed:  # of no graph at all nothing is said
            assert about.answer(condensed) in (about.answer(graph), None)


@pytest.mark.parametrize("arm", ARMS)
def test_players_that_never_err_are_always_right(arm: str) -> None:
    records = [play(case, ARMS[arm], PERFECT) for case in cases(8, 6)]
    assert [record.answer for record in records] == [record.target for record in records]


def test_players_that_always_err_are_mostly_wrong() -> None:
    records = [play(case, ARMS["BDoG"], BLIND) for case in cases(12, 6)]
    assert sum(record.answer == record.target for record in records) < 6


def test_a_case_is_played_the_same_way_every_time() -> None:
    case = cases(3, 8)[2]
    play.cache_clear()
    first = play(case, ARMS["BDoG"], Abilities())
    play.cache_clear()
    again = play(case, ARMS["BDoG"], Abilities())
    assert (first.answer, first.drawn, first.calls) == (again.answer, again.drawn, again.calls)


def test_a_vote_has_as_many_calls_as_a_whole_debate() -> None:
    case = cases(1, 6)[0]
    assert play(case, ARMS["majority vote"], PERFECT).calls == ARMS["BDoG"].calls == 8


def test_the_averages_of_the_paper_come_out_of_its_columns_but_for_two_rows() -> None:
    off = [row for row, columns, average in ROWS if abs(mean(columns) - average) > 0.15]
    assert off == ["InstructBLIP, graph only", "InstructBLIP, BDoG"]
    assert all(
        mean(columns, ALPHABETICAL) == pytest.approx(average, abs=0.1)
        for row, columns, average in ROWS
        if row in off
    )


def test_a_sample_of_nlvr_becomes_a_graph_of_boxes_and_items() -> None:
    item = {"type": "square", "color": "Black", "size": 20, "x_loc": 1, "y_loc": 2}
    graph = scene_graph([[item], []])
    assert [node.name for node in graph.nodes] == ["box 1", "square", "box 2"]
    assert graph.edges == (Edge("item1.1", "box1", "in"),)


def test_the_report_tells_every_arm_and_where_the_paper_errs() -> None:
    text = report(2)
    assert all(arm in text for arm in ARMS)
    assert "51.1        48.1         51.1" in text
