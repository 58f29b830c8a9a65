"""The statistics of courses as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyvision.bench.analysis.statistics import wilson
from pyvision.experiments.avis_study.analysis.statistics import Statistics

_STEPS = 12  # columns of the first table; a course may be longer


def tables(found: Statistics) -> str:
    """All of them, one below the other."""
    ends = ", ".join(f"{ending} {count}" for ending, count in sorted(found.endings.items())) or "none"
    parts = [
        [f"courses: {found.trajectories} ({ends})"],
        ["actions by step", *_by_step(found)],
        ["what followed what, as shares of what followed", *_transitions(found)],
        ["verdicts", *_verdicts(found)],
        ["lengths, in actions", *_lengths(found.lengths)],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def _by_step(found: Statistics) -> Iterator[str]:
    steps = [step for step in found.by_step if step <= _STEPS]
    yield _row("", [str(step) for step in steps])
    for action in found.actions():
        yield _row(action, [str(found.by_step[step][action] or "") for step in steps])


def _transitions(found: Statistics) -> Iterator[str]:
    shares = found.probabilities()
    for state in dict.fromkeys(state for state, _ in found.edges):
        following = sorted((each for each in found.edges if each[0] == state), key=lambda edge: -shares[edge])
        told = ", ".join(
            f"{after} {shares[s, after]:.2f} ({found.edges[s, after]})" for s, after in following
        )
        yield f"  {state} -> {told}"


def _verdicts(found: Statistics) -> Iterator[str]:
    counts = found.verdict_counts()
    if not counts:
        yield "  none: only a strategy judges what a tool says"
        return
    total = sum(counts.values())
    for verdict, count in counts.most_common():
        share = wilson(count, total)
        told = f"{100 * share.value:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})" if share else ""
        yield f"  {verdict:<22} {count:>6}  {told}"
    for action, each in sorted(found.verdicts.items()):
        yield f"  after {action}: " + ", ".join(f"{verdict} {n}" for verdict, n in each.most_common())


def _lengths(lengths: Mapping[int, int]) -> Iterator[str]:
    most = max(lengths.values(), default=0)
    for length, count in lengths.items():
        yield f"  {length:>3} {count:>6}  {'#' * round(40 * count / most)}"


def _row(name: str, cells: Sequence[str]) -> str:
    return f"  {name:<24}" + "".join(f"{cell:>6}" for cell in cells)
