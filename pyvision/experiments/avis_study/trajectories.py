"""Trajectories through the transition graph: read from study logs, and from recorded runs of the strategy avis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyvision.errors import RunFolderError
from pyvision.events import Event, Note, RunEnded, RunStarted
from pyvision.experiments.avis_study.log import Attempt, read_log
from pyvision.experiments.avis_study.toolbox import AFTER_SELECTION, BUTTONS, SELECTION
from pyvision.strategies.avis.actions import ACTIONS, START
from pyvision.strategies.avis.perception import WHOLE, block, caption_line, indent_block
from pyvision.trajectory import EVENTS, read_trajectory

Ending: TypeAlias = Literal["found", "not found", "unfinished"]


@dataclass(frozen=True, slots=True)
class Move:
    """One action. origin: the state in which it was taken. context: what was known then, as a planner would read it.

    to: the next state if that is not the action: a strategy stays in its state after an uninformative action.
    """

    origin: str
    action: str
    context: str = ""
    to: str | None = None

    @property
    def state(self) -> str:
        """The state after the action."""
        return self.to or self.action


@dataclass(frozen=True, slots=True)
class ActionTrajectory:
    """All moves towards one answer. verdicts: (action, verdict on its output), only in runs of a strategy."""

    name: str
    query: str
    moves: tuple[Move, ...]
    ending: Ending
    verdicts: tuple[tuple[str, str], ...] = ()


def trajectories_in(paths: Sequence[Path]) -> tuple[ActionTrajectory, ...]:
    """The trajectories in study logs, run folders, and folders of run folders. Runs of other strategies are skipped.

    Raises RunFolderError for a folder without a run of avis, and for a log or a run that cannot be read.
    """
    return tuple(trajectory for path in paths for trajectory in _trajectories(path))


def trajectory_of_run(name: str, events: Sequence[Event]) -> ActionTrajectory | None:
    """The trajectory of a run, from its notes `transition` and `verdict`; None for another strategy."""
    began = next((event for event in events if isinstance(event, RunStarted)), None)
    notes = [event for event in events if isinstance(event, Note)]
    moves = [_move(note.data) for note in notes if note.label == "transition"]
    verdicts = [_verdict(note.data) for note in notes if note.label == "verdict"]
    if not moves and not verdicts and (began is None or began.strategy != "avis"):
        return None
    return ActionTrajectory(
        name,
        began.question.full_text if began else "",
        tuple(move for move in moves if move),
        _run_ending(events),
        tuple(verdict for verdict in verdicts if verdict),
    )


def trajectory_of(attempt: Attempt) -> ActionTrajectory:
    """A participant's trajectory. Failed tool calls are skipped; a caption only adds context."""
    opened = attempt.opened
    builder = _TrajectoryBuilder(opened.context)
    for used in attempt.used:
        action = BUTTONS[used.action].action
        if used.error is not None:
            continue
        if action is None:
            builder.context.insert(0, caption_line(used.output, WHOLE))
        else:
            builder.add(action, used.object, used.output)
    return ActionTrajectory(
        f"{opened.user}/{opened.question}", opened.text, tuple(builder.moves), _attempt_ending(attempt)
    )


def edges_of(trajectories: Iterable[ActionTrajectory]) -> Counter[tuple[str, str]]:
    """(state, action) -> how often the action was taken in that state."""
    return Counter((move.origin, move.action) for trajectory in trajectories for move in trajectory.moves)


def _trajectories(path: Path) -> tuple[ActionTrajectory, ...]:
    if not path.is_dir():
        return tuple(trajectory_of(attempt) for attempt in read_log(path).attempts)
    found = tuple(_runs(path))
    if not found:
        raise RunFolderError(f"{str(path)!r}: contains no run of avis; give run folders or study logs")
    return found


def _runs(folder: Path) -> Iterator[ActionTrajectory]:
    runs = sorted(path.parent for path in folder.rglob(EVENTS))
    for run in runs:
        name = run.name if run == folder else run.relative_to(folder).as_posix()
        if trajectory := trajectory_of_run(name, read_trajectory(run).events):
            yield trajectory


def _move(data: dict[str, Any]) -> Move | None:
    """None for a step back, which is not an action."""
    action = str(data.get("action"))
    return Move(str(data.get("from")), action, to=str(data.get("to"))) if action in ACTIONS else None


def _verdict(data: dict[str, Any]) -> tuple[str, str] | None:
    action, verdict = str(data.get("action")), data.get("verdict")
    return (action, str(verdict)) if verdict else None


def _run_ending(events: Sequence[Event]) -> Ending:
    """An answer forced by a spent budget does not count as found."""
    ended = next((event for event in events if isinstance(event, RunEnded)), None)
    if ended is None:
        return "unfinished"
    is_forced = any(isinstance(event, Note) and event.label == "forced" for event in events)
    return "found" if ended.outcome.end_reason == "answered" and not is_forced else "not found"


class _TrajectoryBuilder:
    """The current state of a participant, what they learned in it, and the object they selected."""

    def __init__(self, context: str) -> None:
        """context: what was known when the question was opened, one line per object."""
        self.context = context.splitlines()
        self.moves: list[Move] = []
        self._objects = tuple(self.context)
        self._state = START
        self._selected: int | None = None

    def add(self, action: str, selected: int | None, output: str) -> None:
        if action == SELECTION and selected == self._selected:  # more about the same object
            self.context.append(self._format(selected, output))
            return
        if action in AFTER_SELECTION and selected != self._selected:
            self._step(SELECTION, selected, "")
        self._step(action, selected, output)

    def _step(self, action: str, selected: int | None, output: str) -> None:
        context = block("Context:", [indent_block(text) for text in self.context if text])
        self.moves.append(Move(self._state, action, context))
        self._state = action
        self._selected = selected or self._selected
        self.context = [self._format(selected, output)]

    def _format(self, selected: int | None, output: str) -> str:
        """A tool's output, under the object it is about, without a trailing comma."""
        text = output.strip().rstrip(",")
        if selected is None:
            return text
        line = next((each for each in self._objects if each.startswith(f"Object #{selected}:")), "")
        parts = [part for part in (line.partition(": ")[2], text) if part]
        return block(f"Object #{selected}", [indent_block(part) for part in parts])


def _attempt_ending(attempt: Attempt) -> Ending:
    if attempt.closed is None:
        return "unfinished"
    return "found" if attempt.closed.is_found else "not found"
