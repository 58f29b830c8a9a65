"""Where courses come from: logs of the study page, folders of runs, and folders of such folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyvision.errors import RunFolderError
from pyvision.events import Event, Note, RunEnded, RunStarted
from pyvision.experiments.avis_study.log_reader import read_log
from pyvision.experiments.avis_study.trajectories import Ending, Move, Trajectory, trajectory_of
from pyvision.strategies.avis.actions import ACTIONS
from pyvision.trajectory import EVENTS, read_trajectory


def trajectories_in(paths: Sequence[Path]) -> tuple[Trajectory, ...]:
    """Every course that these paths hold. Runs of other strategies in a folder of runs are passed over.

    Raises RunFolderError for a path without any course, and for a log or a run that cannot be read.
    """
    return tuple(trajectory for path in paths for trajectory in _trajectories(path))


def trajectory_of_run(name: str, events: Sequence[Event]) -> Trajectory | None:
    """The course of a run, from its notes `transition` and `verdict`; None for a strategy that takes no actions."""
    began = next((event for event in events if isinstance(event, RunStarted)), None)
    notes = [event for event in events if isinstance(event, Note)]
    moves = [_move(note.data) for note in notes if note.label == "transition"]
    verdicts = [_verdict(note.data) for note in notes if note.label == "verdict"]
    if not moves and not verdicts and (began is None or began.strategy != "avis"):
        return None
    return Trajectory(
        name,
        began.question.full_text if began else "",
        tuple(move for move in moves if move),
        _ending(events),
        tuple(verdict for verdict in verdicts if verdict),
    )


def _trajectories(path: Path) -> tuple[Trajectory, ...]:
    if not path.is_dir():
        return tuple(trajectory_of(attempt) for attempt in read_log(path).attempts)
    found = tuple(_runs(path))
    if not found:
        raise RunFolderError(f"{str(path)!r}: holds no run of avis; name run folders or study logs")
    return found


def _runs(folder: Path) -> Iterator[Trajectory]:
    runs = sorted(path.parent for path in folder.rglob(EVENTS))
    for run in runs:
        name = run.name if run == folder else run.relative_to(folder).as_posix()
        if trajectory := trajectory_of_run(name, read_trajectory(run).events):
            yield trajectory


def _move(data: dict[str, Any]) -> Move | None:
    """None for a way back, which is no action."""
    action = str(data.get("action"))
    return Move(str(data.get("from")), action, to=str(data.get("to"))) if action in ACTIONS else None


def _verdict(data: dict[str, Any]) -> tuple[str, str] | None:
    action, verdict = str(data.get("action")), data.get("verdict")
    return (action, str(verdict)) if verdict else None


def _ending(events: Sequence[Event]) -> Ending:
    """A best effort that the strategy was forced to is not found."""
    ended = next((event for event in events if isinstance(event, RunEnded)), None)
    if ended is None:
        return "unfinished"
    is_forced = any(isinstance(event, Note) and event.label == "forced" for event in events)
    return "found" if ended.outcome.end_reason == "answered" and not is_forced else "not found"
