from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyvision.errors import RunFolderError
from pyvision.events import Event, Note, RunEnded, RunStarted
from pyvision.experiments.avis_study.log import Log
from pyvision.experiments.avis_study.trajectories import Move, trajectories_in, trajectory_of_run
from pyvision.trajectory import TrajectoryWriter
from pyvision.types import Outcome, Question, Usage
from tests.experiments.avis_study.doubles import make_closed, make_opened, make_used


def transition(origin: str, action: str, to: str) -> Note:
    return Note("transition", {"step": 1, "from": origin, "action": action, "to": to})


def verdict(action: str, ruling: str) -> Note:
    data: dict[str, Any] = {"step": 1, "action": action, "verdict": ruling, "why": "", "answer": None}
    return Note("verdict", data)


BEGAN = RunStarted(Question("Which tower?"), "avis", {"default": "offline"})
ENDED = RunEnded(Outcome("Velt", "answered"), Usage(), 1, 0, 1.0)
RUN: tuple[Event, ...] = (
    BEGAN,
    verdict("vqa", "not informative"),
    transition("START", "vqa", "START"),
    verdict("object_select", "informative"),
    transition("START", "object_select", "object_select"),
    Note("backtrack", {"from": "object_select", "to": "START", "why": "nothing is left"}),
    ENDED,
)


def write_run(folder: Path, events: tuple[Event, ...]) -> Path:
    with TrajectoryWriter(folder, {}) as trajectory:
        for event in events:
            trajectory.write(event)
    return folder


def test_a_run_is_read_with_its_verdicts(tmp_path: Path) -> None:
    (trajectory,) = trajectories_in([write_run(tmp_path / "run", RUN)])
    assert trajectory.moves == (
        Move("START", "vqa", to="START"),
        Move("START", "object_select", to="object_select"),
    )
    assert trajectory.verdicts == (("vqa", "not informative"), ("object_select", "informative"))
    assert (trajectory.name, trajectory.query, trajectory.ending) == ("run", "Which tower?", "found")


def test_a_folder_gives_only_its_runs_of_avis(tmp_path: Path) -> None:
    write_run(tmp_path / "a", RUN)
    write_run(tmp_path / "deep" / "b", RUN)
    write_run(tmp_path / "c", (RunStarted(Question("?"), "direct", {}), ENDED))
    assert [trajectory.name for trajectory in trajectories_in([tmp_path])] == ["a", "deep/b"]


def test_logs_can_be_mixed_with_runs(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        for line in (make_opened(), make_used("vqa"), make_closed()):
            log.add(line)
    run = write_run(tmp_path / "run", RUN)
    assert [trajectory.name for trajectory in trajectories_in([tmp_path / "log.jsonl", run])] == [
        "p-1/q1",
        "run",
    ]


def test_a_run_without_a_free_answer_is_not_found() -> None:
    forced = trajectory_of_run("r", (BEGAN, Note("forced", {"why": "calls are spent"}), ENDED))
    cut = trajectory_of_run("r", RUN[:-1])
    assert forced is not None
    assert cut is not None
    assert (forced.ending, cut.ending) == ("not found", "unfinished")


def test_a_folder_without_such_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="contains no run of avis"):
        trajectories_in([tmp_path])
