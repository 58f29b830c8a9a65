"""Test whether a debate on graphs answers better than a vote that makes the same number of model calls.

python -m benchmarks.worlds.bdog_vote [--detect POINTS] [--power P] [--pilot N] [--shapes N]

Each question is debated, then asked again and again, as often as its debate called the model, and the most frequent
answer counts. A pilot over other questions gives the number of questions that find the difference with this power; it
is fixed before any of them is asked. The roles are scripted (`benchmarks.worlds.debates.models`): the result holds
for their error rates, not for a real model: it is tested for three shares of systematic errors, which a vote cannot
remove. p is that of the exact McNemar test, adjusted for three tests (Holm).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import Case, cases, play
from pyvision.agent.budget import Limits
from pyvision.bench.analysis.statistics import (
    ALPHA,
    Estimate,
    difference_interval,
    holm,
    mcnemar_exact,
    samples_needed,
)
from pyvision.runs.report.debates import Record, is_right
from pyvision.strategies.bdog import Bdog

SHARED = (0.0, 0.4, 0.8)  # systematic errors
DEBATE = Bdog()
VOTE = Bdog(mode="majority_vote", rounds=50)  # ends at the limit of the budget
Verdict = Literal["confirmed", "refuted", "undecidable"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One question: whether the debate and the vote were right, and their calls."""

    debate: bool
    vote: bool
    debate_calls: int
    vote_calls: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How many questions are asked, and the deviation of the pilot's differences from which this follows."""

    questions: int
    deviation: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worlds.bdog_vote", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--detect", type=float, default=5.0, help="the difference to find, points (default 5)"
    )
    parser.add_argument("--power", type=float, default=0.8, help="(default 0.8)")
    parser.add_argument("--pilot", type=int, default=100, help="questions of the pilot (default 100)")
    parser.add_argument("--shapes", type=int, default=10, help="in a scene (default 10)")
    options = parser.parse_args(arguments)
    print(report(options.detect / 100, options.power, options.pilot, options.shapes))


def report(detect: float, power: float, pilot: int, shapes: int, shared: Sequence[float] = SHARED) -> str:
    """The table, a row for each share of systematic errors."""
    abilities = [Abilities(shared=share) for share in shared]
    plans = [
        plan([ask(case, able) for case in cases(pilot, shapes)], detect, power, len(shared))
        for able in abilities
    ]
    asked = [
        [ask(case, able) for case in cases(pilot + planned.questions, shapes)[pilot:]]
        for able, planned in zip(abilities, plans, strict=True)
    ]
    adjusted = holm([mcnemar_exact(*discordant(pairs)) for pairs in asked])
    head = f"{'shared':<8}{'questions':>9}{'calls':>13}{'debate':>8}{'vote':>8}  {'difference, points':<24}{'p':>7}"
    rows = [_row(*each, detect) for each in zip(shared, asked, adjusted, strict=True)]
    return "\n".join([f"detect {detect:.1%} with power {power:.0%}, pilot of {pilot}", head, *rows])


def ask(case: Case, abilities: Abilities) -> Pair:
    """Debate a question, then vote on it with as many calls."""
    debate = play(case, DEBATE, abilities)
    vote = play(case, VOTE, abilities, Limits(max_turns=debate.calls))
    return Pair(_right(debate), _right(vote), debate.calls, vote.calls)


def plan(pilot: Sequence[Pair], detect: float, power: float, tests: int) -> Plan:
    """The number of questions for one of several tests, by Bonferroni."""
    deviation = stdev(pair.debate - pair.vote for pair in pilot)
    return Plan(samples_needed(detect, deviation, power=power, alpha=ALPHA / tests), deviation)


def discordant(pairs: Sequence[Pair]) -> tuple[int, int]:
    """How many questions only the debate, and only the vote, answered rightly."""
    return sum(p.debate > p.vote for p in pairs), sum(p.vote > p.debate for p in pairs)


def judge(found: Estimate, p: float, detect: float) -> Verdict:
    """Whether the debate is better than the vote.

    confirmed: better, p below 5 %. refuted: worse, p below 5 %, or the interval excludes a gain of `detect`.
    """
    if p < ALPHA:
        return "confirmed" if found.value > 0 else "refuted"
    return "refuted" if found.high < detect else "undecidable"


def _row(shared: float, pairs: Sequence[Pair], p: float, detect: float) -> str:
    found = difference_interval([((float(pair.debate),), (float(pair.vote),)) for pair in pairs])
    if found is None:
        return f"{shared:<8}no question"
    calls = f"{fmean(p.debate_calls for p in pairs):.2f}/{fmean(p.vote_calls for p in pairs):.2f}"
    right = f"{fmean(p.debate for p in pairs):>8.1%}{fmean(p.vote for p in pairs):>8.1%}"
    interval = f"{100 * found.value:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    return f"{shared:<8}{len(pairs):>9}{calls:>13}{right}  {interval:<24}{p:>7.3f}  {judge(found, p, detect)}"


def _right(record: Record) -> bool:
    return is_right(record.answer, record.target or "")


if __name__ == "__main__":
    main()
