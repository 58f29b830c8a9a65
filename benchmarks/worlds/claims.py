"""Decide claims of papers by a rule that is stated before the run: confirmed, refuted, or undecidable at this scale.

A claim says that one way is better than another one, by a difference of means over units that are independent of each
other: questions, or whole trainings. A pilot over other units gives the number of units that finds a certain
difference with a certain power; Bonferroni's alpha for the number of claims is used there, Holm's p in the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from pyvision.bench.analysis.statistics import (
    ALPHA,
    CONFIDENCE,
    Estimate,
    difference_interval,
    holm,
    mcnemar_exact,
    samples_needed,
)

Verdict = Literal["confirmed", "refuted", "undecidable"]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a test has to find: a difference of `detect` (0 to 1) with this power, in one of `claims` tests."""

    detect: float = 0.05
    power: float = 0.8
    claims: int = 1

    @property
    def alpha(self) -> float:
        return ALPHA / self.claims

    def __str__(self) -> str:
        return f"detect {100 * self.detect:.1f} points with power {self.power:.0%} in {self.claims} tests"


@dataclass(frozen=True, slots=True)
class ClaimTest:
    """A claim with its result: the means of the two ways; their difference, with the p of this test alone."""

    claim: str
    first: float
    second: float
    difference: Estimate


def questions_needed(differences: Sequence[float], aim: Aim) -> int:
    """How many questions McNemar's test needs, from the differences of a pilot."""
    return samples_needed(aim.detect, stdev(differences), power=aim.power, alpha=aim.alpha)


def trainings_needed(differences: Sequence[float], aim: Aim) -> int:
    """How many trainings a t test needs, from the differences of a pilot."""
    number = 2
    while power_of(number, differences, aim) < aim.power:
        number += 1
    return number


def power_of(number: int, differences: Sequence[float], aim: Aim) -> float:
    """The power of a two-sided t test with so many trainings, from the differences of a pilot."""
    from scipy import special  # type: ignore[import-untyped]

    deviation = stdev(differences)
    if deviation == 0:
        return 1.0
    threshold = special.stdtrit(number - 1, 1 - aim.alpha / 2)
    return 1 - float(special.nctdtr(number - 1, aim.detect / deviation * number**0.5, threshold))


def compare_questions(claim: str, pairs: Sequence[tuple[bool, bool]]) -> ClaimTest:
    """Of one or more questions, each answered rightly or not in both ways: the exact McNemar test."""
    found = difference_interval([((float(one),), (float(other),)) for one, other in pairs])
    assert found is not None
    p = mcnemar_exact(sum(one > other for one, other in pairs), sum(other > one for one, other in pairs))
    first, second = (fmean(pair[place] for pair in pairs) for place in (0, 1))
    return ClaimTest(claim, first, second, Estimate(found.value, found.low, found.high, len(pairs), p))


def compare_trainings(claim: str, pairs: Sequence[tuple[float, float]]) -> ClaimTest:
    """Of two or more trainings, each with a score from 0 to 1 in both ways: the t test of their differences."""
    from scipy import special

    first, second = (fmean(pair[place] for pair in pairs) for place in (0, 1))
    differences = [one - other for one, other in pairs]
    value, n = fmean(differences), len(pairs)
    error = stdev(differences) / n**0.5
    reach = float(special.stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * error
    p = float(2 * special.stdtr(n - 1, -abs(value) / error)) if error else float(value == 0)
    return ClaimTest(claim, first, second, Estimate(value, value - reach, value + reach, n, p))


def judge(found: Estimate, p: float, detect: float) -> Verdict:
    """Whether the first way is better.

    confirmed: better, p below 5 %. refuted: worse, p below 5 %, or the interval excludes a gain of `detect`.
    """
    if p < ALPHA:
        return "confirmed" if found.value > 0 else "refuted"
    return "refuted" if found.high < detect else "undecidable"


def format_table(tested: Sequence[ClaimTest], ways: tuple[str, str], aim: Aim, unit: str) -> str:
    """A row for each claim, with the p adjusted for all of them and the verdict, and the rule."""
    left = max(len(each.claim) for each in tested)
    one, other = (f"{way:>{max(8, len(way) + 2)}}" for way in ways)
    lines = [f"{'claim':<{left}}{unit:>11}{one}{other}  {'difference, points':<22}{'p':>6}  verdict"]
    adjusted = holm([each.difference.p or 0.0 for each in tested])
    for each, p in zip(tested, adjusted, strict=True):
        found = each.difference
        values = f"{each.first:>{len(one)}.1%}{each.second:>{len(other)}.1%}"
        interval = f"{100 * found.value:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
        verdict = judge(found, p, aim.detect)
        lines.append(f"{each.claim:<{left}}{found.n:>11}{values}  {interval:<22}{p:>6.3f}  {verdict}")
    rule = (
        "confirmed: better, p (Holm) below 5 %; refuted: worse, p below 5 %, or the 95 % interval excludes a gain of "
        f"{100 * aim.detect:.1f} points; else undecidable at this scale"
    )
    return "\n".join([*lines, rule])
