from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.errors import RunFolderError
from pyvision.experiments.avis_study.plots import draw
from pyvision.experiments.avis_study.statistics import statistics_of
from pyvision.experiments.avis_study.trajectories import ActionTrajectory, Move

MOVES = (Move("START", "vqa"), Move("vqa", "web_search"), Move("web_search", "web_search"))
TRAJECTORY = ActionTrajectory("c", "q", MOVES, "found", (("vqa", "informative"), ("web_search", "maybe")))


def test_every_plot_is_an_svg_file(tmp_path: Path) -> None:
    paths = draw(statistics_of([TRAJECTORY]), tmp_path / "out")
    assert {path.name for path in paths} == {
        "actions_by_step.svg",
        "transitions.svg",
        "verdicts.svg",
        "lengths.svg",
    }
    assert all("</svg>" in path.read_text() for path in paths)


def test_without_verdicts_they_are_not_plotted(tmp_path: Path) -> None:
    paths = draw(statistics_of([ActionTrajectory("c", "q", MOVES, "found")]), tmp_path)
    assert "verdicts.svg" not in {path.name for path in paths}


def test_the_same_numbers_give_the_same_transitions(tmp_path: Path) -> None:
    first, second = (draw(statistics_of([TRAJECTORY]), tmp_path / name)[1] for name in ("a", "b"))
    assert (first.name, first.stat().st_size) == ("transitions.svg", second.stat().st_size)


def test_a_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="choose another --out"):
        draw(statistics_of([TRAJECTORY]), tmp_path / "file" / "out")
