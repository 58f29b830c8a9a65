"""One way to an answer as a path through the transition graph, whoever took it: a person on the page, or a strategy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.experiments.avis_study.actions import ACTIONS, AFTER_SELECTION, SELECTION
from pyvision.experiments.avis_study.log_reader import Attempt
from pyvision.strategies.avis.actions import START
from pyvision.strategies.avis.perception import WHOLE, block, caption_line, indent_block

Ending: TypeAlias = Literal["found", "not found", "unfinished"]


@dataclass(frozen=True, slots=True)
class Move:
    """One action. origin: the state it was taken in. context: what was known then, as a planner would read it.

    to: the state after it, where that is not the action: a strategy stays where it is when an action brought nothing.
    """

    origin: str
    action: str
    context: str = ""
    to: str | None = None

    @property
    def state(self) -> str:
        """The state after it."""
        return self.to or self.action


@dataclass(frozen=True, slots=True)
class Trajectory:
    """All moves towards one answer. verdicts: (action, what was made of its output), of a strategy's run."""

    name: str
    query: str
    moves: tuple[Move, ...]
    ending: Ending
    verdicts: tuple[tuple[str, str], ...] = ()


def trajectory_of(attempt: Attempt) -> Trajectory:
    """What a person did. Uses of a tool that failed changed nothing and are left out; a caption is only context."""
    opened = attempt.opened
    walk = _Walk(opened.context)
    for used in attempt.used:
        action = ACTIONS[used.action].action
        if used.error is not None:
            continue
        if action is None:
            walk.seen.insert(0, caption_line(used.output, WHOLE))
        else:
            walk.go(action, used.object, used.output)
    return Trajectory(f"{opened.user}/{opened.question}", opened.text, tuple(walk.moves), _ending(attempt))


def edges_of(trajectories: Iterable[Trajectory]) -> Counter[tuple[str, str]]:
    """(state, action) -> how often the action was taken in that state."""
    return Counter((move.origin, move.action) for trajectory in trajectories for move in trajectory.moves)


class _Walk:
    """Where somebody stands, what they have seen since they came there, and which object they have selected."""

    def __init__(self, context: str) -> None:
        """context: what was known when the question was opened, its objects a line each."""
        self.seen = context.splitlines()
        self.moves: list[Move] = []
        self._objects = tuple(self.seen)
        self._state = START
        self._selected: int | None = None

    def go(self, action: str, selected: int | None, output: str) -> None:
        if action == SELECTION and selected == self._selected:  # more about the same object
            self.seen.append(self._format(selected, output))
            return
        if action in AFTER_SELECTION and selected != self._selected:
            self._step(SELECTION, selected, "")
        self._step(action, selected, output)

    def _step(self, action: str, selected: int | None, output: str) -> None:
        context = block("Context:", [indent_block(text) for text in self.seen if text])
        self.moves.append(Move(self._state, action, context))
        self._state = action
        self._selected = selected or self._selected
        self.seen = [self._format(selected, output)]

    def _format(self, selected: int | None, output: str) -> str:
        """What was learnt, under the object that it is about; without the comma that its last line may have."""
        text = output.strip().rstrip(",")
        if selected is None:
            return text
        line = next((each for each in self._objects if each.startswith(f"Object #{selected}:")), "")
        parts = [part for part in (line.partition(": ")[2], text) if part]
        return block(f"Object #{selected}", [indent_block(part) for part in parts])


def _ending(attempt: Attempt) -> Ending:
    if attempt.closed is None:
        return "unfinished"
    return "found" if attempt.closed.is_found else "not found"
