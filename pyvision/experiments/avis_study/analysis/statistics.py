"""Statistics over courses, as the paper's appendix C has them: actions by step, transitions, verdicts, lengths.

Covered: courses of people and of strategies alike; people give no verdicts. Not covered: whether an answer is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyvision.experiments.avis_study.trajectories import Trajectory, edges_of

END = "END"


@dataclass(frozen=True, slots=True)
class Statistics:
    """by_step: step, from 1 -> action -> count. edges: (state, action) -> count; END follows the last state.

    verdicts: action -> verdict -> count. lengths: number of actions -> number of courses. endings: how they ended.
    """

    trajectories: int
    by_step: Mapping[int, Counter[str]]
    edges: Mapping[tuple[str, str], int]
    verdicts: Mapping[str, Counter[str]]
    lengths: Mapping[int, int]
    endings: Mapping[str, int]

    def probabilities(self) -> Mapping[tuple[str, str], float]:
        """(state, what follows) -> its share of all that followed this state; END included."""
        leaving: Counter[str] = Counter()
        for (state, _), count in self.edges.items():
            leaving[state] += count
        return {edge: count / leaving[edge[0]] for edge, count in self.edges.items()}

    def verdict_counts(self) -> Counter[str]:
        """verdict -> count, over all actions."""
        return sum(self.verdicts.values(), Counter())

    def actions(self) -> tuple[str, ...]:
        """Every action that was taken, the most frequent first."""
        return tuple(action for action, _ in sum(self.by_step.values(), Counter[str]()).most_common())


def statistics_of(trajectories: Sequence[Trajectory]) -> Statistics:
    """Every course counts, however it ended."""
    lengths = Counter(len(trajectory.moves) for trajectory in trajectories)
    return Statistics(
        len(trajectories),
        _by_step(trajectories),
        edges_of(trajectories) + Counter((c.moves[-1].state, END) for c in trajectories if c.moves),
        _verdicts(trajectories),
        {length: lengths[length] for length in sorted(lengths)},
        Counter(trajectory.ending for trajectory in trajectories),
    )


def _by_step(trajectories: Iterable[Trajectory]) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    for trajectory in trajectories:
        for step, move in enumerate(trajectory.moves, start=1):
            found.setdefault(step, Counter())[move.action] += 1
    return {step: found[step] for step in sorted(found)}


def _verdicts(trajectories: Iterable[Trajectory]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for trajectory in trajectories:
        for action, verdict in trajectory.verdicts:
            found.setdefault(action, Counter())[verdict] += 1
    return found
