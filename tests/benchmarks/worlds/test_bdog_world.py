"""The simulated world of debates: exact scenes, scripted errors, and the report."""

from __future__ import annotations

import pytest

from benchmarks.worlds.bdog_world import report
from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import ALPHABETICAL, MODES, ROWS, cases, mean, play, scene_graph
from benchmarks.worlds.debates.scenes import ABOVE, KINDS, LEFT, Scene, Shape, query, scene
from pyvision.images.read import decode
from pyvision.strategies.bdog.graphs import Edge

PERFECT = Abilities(perception=0, judgement=0, relevance=0, malformed=0)
BLIND = Abilities(perception=1, crowding=0, shared=1, judgement=1, relevance=1, malformed=0)


def test_the_graph_of_a_scene_connects_only_neighbours() -> None:
    row = (Shape("a", "circle", "red", "small", 0, 0), Shape("b", "star", "red", "small", 4, 0))
    rest = (Shape("c", "square", "blue", "large", 2, 0), Shape("d", "circle", "red", "small", 2, 5))
    edges = set(Scene("x", (*row, *rest)).graph.edges)
    assert edges == {Edge("a", "c", LEFT), Edge("c", "b", LEFT), Edge("c", "d", ABOVE)}


def test_the_image_of_a_scene_is_a_valid_png() -> None:
    picture = scene("1", 8).picture()
    assert decode(picture.data, "scene").width == picture.width == 360


@pytest.mark.parametrize("kind", KINDS)
def test_irrelevant_nodes_do_not_change_the_answer(kind: str) -> None:
    pairs = [(scene(str(n), 8), query(scene(str(n), 8), kind)) for n in range(12)]
    found = [(place, question) for place, question in pairs if question is not None]
    assert len(found) > 6
    for place, question in found:
        graph = place.graph
        condensed = graph.only({node.id for node in graph.nodes if question.matters(node)})
        assert question.answer(graph) in question.choices
        if kind != "logic" or condensed:  # an empty graph has no answer
            assert question.answer(condensed) in (question.answer(graph), None)


@pytest.mark.parametrize("mode", MODES)
def test_models_without_errors_are_always_right(mode: str) -> None:
    records = [play(case, MODES[mode], PERFECT) for case in cases(8, 6)]
    assert [record.answer for record in records] == [record.target for record in records]


def test_models_that_always_err_are_mostly_wrong() -> None:
    records = [play(case, MODES["BDoG"], BLIND) for case in cases(12, 6)]
    assert sum(record.answer == record.target for record in records) < 6


def test_a_case_has_the_same_result_every_time() -> None:
    case = cases(3, 8)[2]
    play.cache_clear()
    first = play(case, MODES["BDoG"], Abilities())
    play.cache_clear()
    again = play(case, MODES["BDoG"], Abilities())
    assert (first.answer, first.drawn, first.calls) == (again.answer, again.drawn, again.calls)


def test_a_vote_makes_as_many_calls_as_a_debate() -> None:
    case = cases(1, 6)[0]
    assert play(case, MODES["majority vote"], PERFECT).calls == MODES["BDoG"].calls == 8


def test_all_averages_in_the_paper_except_two_are_reproduced() -> None:
    different = [row for row, columns, average in ROWS if abs(mean(columns) - average) > 0.15]
    assert different == ["InstructBLIP, graph only", "InstructBLIP, BDoG"]
    assert all(
        mean(columns, ALPHABETICAL) == pytest.approx(average, abs=0.1)
        for row, columns, average in ROWS
        if row in different
    )


def test_an_nlvr_sample_becomes_a_graph_of_boxes() -> None:
    item = {"type": "square", "color": "Black", "size": 20, "x_loc": 1, "y_loc": 2}
    graph = scene_graph([[item], []])
    assert [node.name for node in graph.nodes] == ["box 1", "square", "box 2"]
    assert graph.edges == (Edge("item1.1", "box1", "in"),)


def test_the_report_contains_every_mode() -> None:
    text = report(1)
    assert all(mode in text for mode in MODES)
    assert "51.1        48.1         51.1" in text
