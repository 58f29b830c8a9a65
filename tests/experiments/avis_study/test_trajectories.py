from __future__ import annotations

from pyvision.experiments.avis_study.trajectories import edges_of, trajectory_of
from tests.experiments.avis_study.doubles import an_attempt, used


def path(*lines: object) -> list[str]:
    moves = trajectory_of(an_attempt(*lines)).moves  # type: ignore[arg-type]
    return [f"{move.origin}>{move.action}" for move in moves]


def test_every_action_follows_the_one_before_it() -> None:
    assert path(used("vqa"), used("search"), used("llm_qa")) == [
        "START>vqa",
        "vqa>web_search",
        "web_search>llm_qa",
    ]


def test_a_caption_and_a_tool_that_failed_are_no_actions() -> None:
    assert path(used("caption"), used("search", error="down"), used("vqa")) == ["START>vqa"]


def test_who_searches_with_an_object_has_selected_it() -> None:
    assert path(used("similar", detection=2)) == ["START>object_select", "object_select>image_search"]


def test_more_about_the_same_object_is_no_second_selection() -> None:
    assert path(used("entities", detection=2), used("read", detection=2), used("similar", detection=2)) == [
        "START>object_select",
        "object_select>image_search",
    ]


def test_another_object_is_another_selection() -> None:
    assert path(used("entities", detection=1), used("entities", detection=2)) == [
        "START>object_select",
        "object_select>object_select",
    ]


def test_the_first_context_holds_the_objects_and_the_caption() -> None:
    trajectory = trajectory_of(an_attempt(used("caption", "a river"), used("vqa")))
    assert trajectory.moves[0].context == (
        "Context: [\n"
        "  a river (Caption, whole image),\n"
        "  Object #1: tower (Caption, center),\n"
        "  Object #2: bridge (Caption, lower center),\n"
        "]"
    )


def test_what_is_learnt_about_an_object_stands_under_it() -> None:
    trajectory = trajectory_of(
        an_attempt(used("read", "Extracted Text: PONT (score=90.0)", detection=2), used("vqa"))
    )
    assert trajectory.moves[1].context == (
        "Context: [\n"
        "  Object #2 [\n"
        "    bridge (Caption, lower center),\n"
        "    Extracted Text: PONT (score=90.0),\n"
        "  ],\n"
        "]"
    )


def test_how_it_ended_is_told_apart() -> None:
    ends = [trajectory_of(an_attempt(is_found=is_found)).ending for is_found in (True, False, None)]
    assert ends == ["found", "not found", "unfinished"]


def test_edges_are_counted_over_all_courses() -> None:
    trajectories = [
        trajectory_of(an_attempt(used("vqa"), used("search"))),
        trajectory_of(an_attempt(used("vqa"))),
    ]
    assert edges_of(trajectories) == {("START", "vqa"): 2, ("vqa", "web_search"): 1}
