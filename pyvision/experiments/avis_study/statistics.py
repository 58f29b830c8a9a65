"""Statistics of trajectories, as in the paper's appendix C: actions by step, transitions, verdicts, lengths.

Covered: trajectories of participants, who give no verdicts, and of strategies. Not covered: whether answers are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyvision.bench.analysis.statistics import wilson
from pyvision.experiments.avis_study.trajectories import ActionTrajectory, edges_of

END = "END"
_STEPS = 12  # columns of the first table; a trajectory may be longer


@dataclass(frozen=True, slots=True)
class StudyStatistics:
    """by_step: step, from 1 -> action -> count. edges: (state, action) -> count; END follows the last state.

    verdicts: action -> verdict -> count. lengths: number of actions -> number of trajectories. endings: how they ended.
    """

    trajectories: int
    by_step: Mapping[int, Counter[str]]
    edges: Mapping[tuple[str, str], int]
    verdicts: Mapping[str, Counter[str]]
    lengths: Mapping[int, int]
    endings: Mapping[str, int]

    def probabilities(self) -> Mapping[tuple[str, str], float]:
        """(state, next state) -> its share of all transitions from this state; END included."""
        leaving: Counter[str] = Counter()
        for (state, _), count in self.edges.items():
            leaving[state] += count
        return {edge: count / leaving[edge[0]] for edge, count in self.edges.items()}

    def verdict_counts(self) -> Counter[str]:
        """verdict -> count, over all actions."""
        return sum(self.verdicts.values(), Counter())

    def actions(self) -> tuple[str, ...]:
        """Every action taken, most frequent first."""
        return tuple(action for action, _ in sum(self.by_step.values(), Counter[str]()).most_common())


def statistics_of(trajectories: Sequence[ActionTrajectory]) -> StudyStatistics:
    """All trajectories count, however they ended."""
    lengths = Counter(len(trajectory.moves) for trajectory in trajectories)
    return StudyStatistics(
        len(trajectories),
        _by_step(trajectories),
        edges_of(trajectories) + Counter((t.moves[-1].state, END) for t in trajectories if t.moves),
        _verdicts(trajectories),
        {length: lengths[length] for length in sorted(lengths)},
        Counter(trajectory.ending for trajectory in trajectories),
    )


def tables(found: StudyStatistics) -> str:
    """All statistics as text for a terminal."""
    ends = ", ".join(f"{ending} {count}" for ending, count in sorted(found.endings.items())) or "none"
    parts = [
        [f"trajectories: {found.trajectories} ({ends})"],
        ["actions by step", *_step_lines(found)],
        ["transition probabilities, with counts", *_transition_lines(found)],
        ["verdicts", *_verdict_lines(found)],
        ["lengths, in actions", *_length_lines(found.lengths)],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def _by_step(trajectories: Iterable[ActionTrajectory]) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    for trajectory in trajectories:
        for step, move in enumerate(trajectory.moves, start=1):
            found.setdefault(step, Counter())[move.action] += 1
    return {step: found[step] for step in sorted(found)}


def _verdicts(trajectories: Iterable[ActionTrajectory]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for trajectory in trajectories:
        for action, verdict in trajectory.verdicts:
            found.setdefault(action, Counter())[verdict] += 1
    return found


def _step_lines(found: StudyStatistics) -> Iterator[str]:
    steps = [step for step in found.by_step if step <= _STEPS]
    yield _row("", [str(step) for step in steps])
    for action in found.actions():
        yield _row(action, [str(found.by_step[step][action] or "") for step in steps])


def _transition_lines(found: StudyStatistics) -> Iterator[str]:
    shares = found.probabilities()
    for state in dict.fromkeys(state for state, _ in found.edges):
        following = sorted((each for each in found.edges if each[0] == state), key=lambda edge: -shares[edge])
        line = ", ".join(
            f"{after} {shares[s, after]:.2f} ({found.edges[s, after]})" for s, after in following
        )
        yield f"  {state} -> {line}"


def _verdict_lines(found: StudyStatistics) -> Iterator[str]:
    counts = found.verdict_counts()
    if not counts:
        yield "  none: only a strategy judges the output of its tools"
        return
    total = sum(counts.values())
    for verdict, count in counts.most_common():
        share = wilson(count, total)
        line = f"{100 * share.value:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})" if share else ""
        yield f"  {verdict:<22} {count:>6}  {line}"
    for action, each in sorted(found.verdicts.items()):
        yield f"  after {action}: " + ", ".join(f"{verdict} {n}" for verdict, n in each.most_common())


def _length_lines(lengths: Mapping[int, int]) -> Iterator[str]:
    most = max(lengths.values(), default=0)
    for length, count in lengths.items():
        yield f"  {length:>3} {count:>6}  {'#' * round(40 * count / most)}"


def _row(name: str, cells: Sequence[str]) -> str:
    return f"  {name:<24}" + "".join(f"{cell:>6}" for cell in cells)
