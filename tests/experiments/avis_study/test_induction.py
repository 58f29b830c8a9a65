from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.errors import ConfigError, RunFolderError
from pyvision.experiments.avis_study.induction import format_induced, induce, write_induced
from pyvision.experiments.avis_study.trajectories import ActionTrajectory, trajectory_of
from pyvision.strategies.avis.actions import load_examples
from pyvision.strategies.avis.transition_graph import load_graph
from tests.experiments.avis_study.doubles import make_attempt, make_used


def trajectory(*actions: str, is_found: bool | None = True) -> ActionTrajectory:
    return trajectory_of(make_attempt(*map(make_used, actions), is_found=is_found))


TRAJECTORIES = [
    trajectory("vqa", "search", "llm_qa"),
    trajectory("vqa", "search"),
    trajectory("identical", "search"),
]


def test_the_most_frequent_edge_comes_first() -> None:
    assert induce([*TRAJECTORIES, trajectory("identical"), trajectory("identical")]).graph["START"] == (
        "identical_image_search",
        "vqa",
    )


def test_edges_below_the_threshold_are_dropped() -> None:
    assert induce(TRAJECTORIES, threshold=2).graph == {
        "START": ("vqa",),
        "vqa": ("web_search",),
        "web_search": (),
    }


def test_attempts_given_up_count_only_on_request() -> None:
    trajectories = [*TRAJECTORIES, trajectory("llm_qa", is_found=False), trajectory("search", is_found=None)]
    assert induce(trajectories).graph["START"] == ("vqa", "identical_image_search")
    assert induce(trajectories, failures=True).graph["START"] == ("vqa", "identical_image_search", "llm_qa")
    assert induce(trajectories).skipped == 2


def test_a_study_without_usable_trajectories_is_refused() -> None:
    with pytest.raises(ConfigError, match="none of 1 trajectories"):
        induce([trajectory("vqa", is_found=False)])
    with pytest.raises(ConfigError, match="lower --threshold"):
        induce(TRAJECTORIES, threshold=9)


def test_the_strategy_reads_the_written_files(tmp_path: Path) -> None:
    found = induce(TRAJECTORIES)
    write_induced(found, tmp_path / "out")
    assert load_graph(tmp_path / "out" / "graph.json").successors == found.graph
    pools = load_examples(tmp_path / "out" / "examples")
    assert {action: len(pool) for action, pool in pools.items() if pool} == {
        "vqa": 1,
        "identical_image_search": 1,
        "web_search": 1,
        "llm_qa": 1,
    }
    assert pools["vqa"][0].query == "about q1?"


def test_the_counts_include_edges_below_the_threshold(tmp_path: Path) -> None:
    write_induced(induce(TRAJECTORIES, threshold=2), tmp_path)
    assert json.loads((tmp_path / "counts.json").read_text()) == {
        "START": {"vqa": 2, "identical_image_search": 1},
        "vqa": {"web_search": 2},
        "identical_image_search": {"web_search": 1},
        "web_search": {"llm_qa": 1},
    }


def test_a_folder_that_is_not_empty_is_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text("{}")
    with pytest.raises(RunFolderError, match="is not empty"):
        write_induced(induce(TRAJECTORIES), tmp_path)
    assert (tmp_path / "graph.json").read_text() == "{}"


def test_examples_are_limited_to_distinct_ones() -> None:
    attempts = [make_attempt(make_used("vqa", str(number)), make_used("search")) for number in range(9)]
    found = induce([trajectory_of(attempt) for attempt in attempts], max_examples=4)
    assert [each.action for each in found.examples] == ["vqa", *["web_search"] * 4]


def test_a_long_context_keeps_whole_lines() -> None:
    attempt = make_attempt(make_used("search", "\n".join(["x" * 99] * 99)), make_used("llm_qa"))
    context = induce([trajectory_of(attempt)]).examples[-1].context
    assert len(context) < 1600
    assert {len(line) for line in context.splitlines()[1:-1]} == {101}


def test_the_changes_from_the_default_are_printed() -> None:
    text = format_induced(induce(TRAJECTORIES), {"START": ("vqa", "object_select"), "vqa": ("web_search",)})
    assert "START: + identical_image_search (1)  - object_select (never seen)" in text
    assert "vqa:" not in text.split("changes from the default:")[1]


def test_the_default_graph_changes_nothing() -> None:
    found = induce(TRAJECTORIES)
    assert "changes from the default:\n  nothing" in format_induced(found, found.graph)
