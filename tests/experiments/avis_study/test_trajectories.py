from __future__ import annotations

from pyvision.experiments.avis_study.trajectories import edges_of, trajectory_of
from tests.experiments.avis_study.doubles import make_attempt, make_used


def path(*lines: object) -> list[str]:
    moves = trajectory_of(make_attempt(*lines)).moves  # type: ignore[arg-type]
    return [f"{move.origin}>{move.action}" for move in moves]


def test_every_action_follows_the_one_before_it() -> None:
    assert path(make_used("vqa"), make_used("search"), make_used("llm_qa")) == [
        "START>vqa",
        "vqa>web_search",
        "web_search>llm_qa",
    ]


def test_only_successful_actions_are_moves() -> None:
    assert path(make_used("caption"), make_used("search", error="down"), make_used("vqa")) == ["START>vqa"]


def test_searching_with_an_object_selects_it() -> None:
    assert path(make_used("similar", detection=2)) == ["START>object_select", "object_select>image_search"]


def test_more_about_the_same_object_is_no_second_selection() -> None:
    uses = [make_used(name, detection=2) for name in ("entities", "read", "similar")]
    assert path(*uses) == ["START>object_select", "object_select>image_search"]


def test_another_object_is_another_selection() -> None:
    assert path(make_used("entities", detection=1), make_used("entities", detection=2)) == [
        "START>object_select",
        "object_select>object_select",
    ]


def test_the_first_context_contains_the_objects_after_the_caption() -> None:
    trajectory = trajectory_of(make_attempt(make_used("caption", "a river"), make_used("vqa")))
    assert trajectory.moves[0].context == (
        "Context: [\n"
        "  a river (Caption, whole image),\n"
        "  Object #1: tower (Caption, center),\n"
        "  Object #2: bridge (Caption, lower center),\n"
        "]"
    )


def test_output_about_an_object_is_nested_under_it() -> None:
    trajectory = trajectory_of(
        make_attempt(make_used("read", "Extracted Text: PONT (score=90.0)", detection=2), make_used("vqa"))
    )
    assert trajectory.moves[1].context == (
        "Context: [\n"
        "  Object #2 [\n"
        "    bridge (Caption, lower center),\n"
        "    Extracted Text: PONT (score=90.0),\n"
        "  ],\n"
        "]"
    )


def test_each_kind_of_ending_has_its_name() -> None:
    ends = [trajectory_of(make_attempt(is_found=is_found)).ending for is_found in (True, False, None)]
    assert ends == ["found", "not found", "unfinished"]


def test_edges_are_counted_over_all_trajectories() -> None:
    trajectories = [
        trajectory_of(make_attempt(make_used("vqa"), make_used("search"))),
        trajectory_of(make_attempt(make_used("vqa"))),
    ]
    assert edges_of(trajectories) == {("START", "vqa"): 2, ("vqa", "web_search"): 1}
