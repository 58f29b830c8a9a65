"""Compare runs over the same samples: paired by sample, with a test, and at an equal number of tokens.

At equal tokens the cheaper run votes over its repeats until it has spent as much. N repeats of a sample cost N times
their mean. Where the other run's tokens lie between N and N + 1 of them, some samples (drawn by a seed) vote over N + 1
and the others over N. Votes are counted over every N consecutive repeats in a ring and their values averaged, so that
no repeat counts for more than another.
"""

from __future__ import annotations

import math
import random
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import fmean, pstdev
from typing import Literal, TypeAlias

from pyvision.bench.analysis.statistics import (
    ALPHA,
    Estimate,
    difference_interval,
    differences_of,
    holm,
    mcnemar_exact,
    mean_interval,
    samples_needed,
)
from pyvision.bench.samples import Result, group_by_sample, values_by_sample
from pyvision.errors import ConfigError

TOLERANCE = 0.05
_MOST_MORE = 1_000  # times the samples there are: beyond that, a number of samples says nothing

Verdict: TypeAlias = Literal["better", "worse", "alike", "undecided"]


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One experiment with the name that the comparison shows."""

    name: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over the samples that both have scores for; `unpaired` counts those that only one has.

    difference: second minus first. p: exact McNemar test over single right or wrong answers; for fractions and repeats
    the test that belongs to the interval, clustered by sample. deviation: standard deviation of the differences.

    verdict: of the second run; `alike` where the interval lies within the difference to detect. p is below 5 % divided
    among the comparisons (Holm) where it is better or worse. more: for one that is undecided, how many more samples
    would show `target`, a difference, with a power of 80 %; None where no such number is of use.
    """

    first: str
    second: str
    unpaired: int
    first_accuracy: Estimate
    second_accuracy: Estimate
    difference: Estimate
    p: float
    deviation: float
    only_first: int | None = None
    only_second: int | None = None
    verdict: Verdict = "undecided"
    target: float = 0.0
    more: int | None = None


@dataclass(frozen=True, slots=True)
class AverageCost:
    """What one record of a run takes on average; cost is None if no price is known."""

    tokens: float
    cost: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class EqualBudget:
    """`comparison` compares the votes of the cheaper run (first) with the dearer run (second).

    votes: how many repeats most samples vote over; `share_with_one_more` of the samples vote over one more.
    tokens: means of a sample, within 5 % of each other.
    """

    votes: int
    share_with_one_more: float
    cheaper_tokens: float
    dearer_tokens: float
    comparison: Comparison


def compare(first: ComparedRun, *others: ComparedRun, detect: float | None = None) -> tuple[Comparison, ...]:
    """Each run against the first, paired by sample id, with verdicts that count the number of comparisons.

    detect: the difference to detect, as a share; None for the observed one. Raises ConfigError if two share no
    scored sample.
    """
    return decide([_pair(first, other) for other in others], detect)


def decide(pairs: Sequence[Comparison], detect: float | None = None) -> tuple[Comparison, ...]:
    """The comparisons with their verdicts: at most one in 20 such families errs where no difference exists."""
    adjusted = holm([pair.p for pair in pairs])
    return tuple(
        _decide(pair, p, detect, ALPHA / len(pairs)) for pair, p in zip(pairs, adjusted, strict=True)
    )


def at_equal_tokens(one: ComparedRun, other: ComparedRun, *, seed: int = 0) -> EqualBudget:
    """Let the cheaper of two runs vote until both spend the same. Raises ConfigError if that is impossible.

    Uses the samples with a score in the dearer run and with all repeats in the cheaper one.
    """
    cheaper, dearer = sorted((one, other), key=lambda run: price(run).tokens)
    votes_of, answers_of = _score(cheaper), _score(dearer)
    most = max((len(group) for group in votes_of.values()), default=0)
    shared = sorted(key for key in answers_of if len(votes_of.get(key, ())) == most)
    if not shared or not most:
        raise ConfigError(f"{one.name} and {other.name} have no scored sample in common")
    drawn = random.Random(seed).sample(shared, len(shared))
    target = sum(_tokens(answers_of[key]) for key in shared)
    if not target:
        raise ConfigError(
            f"{dearer.name} spent no tokens, so there is no budget to match; compare without it"
        )
    votes, more, spent = _plan([_tokens(votes_of[key]) for key in drawn], target)
    _check_spent(cheaper.name, dearer.name, spent, target)
    _check_repeats(cheaper.name, most, votes + (more > 0))
    sizes = {key: votes + (place < more) for place, key in enumerate(drawn)}
    comparison = compare_values(
        (f"{cheaper.name}, voting", [[vote(votes_of[key], sizes[key])] for key in shared]),
        (dearer.name, [[_value(each) for each in answers_of[key]] for key in shared]),
        unpaired=len(group_by_sample(one.results).keys() | group_by_sample(other.results).keys())
        - len(shared),
    )
    n = len(shared)
    return EqualBudget(votes, more / n, spent / n, target / n, *decide([comparison]))


def compare_values(
    first: tuple[str, Sequence[Sequence[float]]],
    second: tuple[str, Sequence[Sequence[float]]],
    *,
    unpaired: int = 0,
) -> Comparison:
    """Two names with the values of the same samples in the same order; at least one sample. Without a verdict."""
    ours, theirs = first[1], second[1]
    pairs = list(zip(theirs, ours, strict=True))
    first_accuracy, second_accuracy = mean_interval(ours), mean_interval(theirs)
    difference = difference_interval(pairs)
    assert first_accuracy is not None  # for the type checker: there is at least one sample
    assert second_accuracy is not None
    assert difference is not None
    assert difference.p is not None
    only = _discordant(ours, theirs)
    return Comparison(
        first[0],
        second[0],
        unpaired,
        first_accuracy,
        second_accuracy,
        difference,
        mcnemar_exact(*only) if only else difference.p,
        pstdev(differences_of(pairs)),
        *(only or (None, None)),
    )


def price(run: ComparedRun) -> AverageCost:
    """The means over the records of a run, which has at least one."""
    costs = [each.record.cost for each in run.results if each.record.cost is not None]
    return AverageCost(
        tokens=fmean(each.tokens for each in run.results),
        cost=fmean(costs) if costs else None,
        seconds=fmean(each.record.seconds for each in run.results),
    )


def vote(repeats: Sequence[Result], size: int) -> float:
    """The value of the majority's answer among `size` repeats, averaged over all starting points.

    Among answers with equal votes the earliest wins. A repeat without an answer has no vote; if none has an answer, the
    result is the mean value of the repeats.
    """
    ring = [*repeats, *repeats[: size - 1]]
    starts = range(len(repeats)) if size < len(repeats) else range(1)
    return fmean(_majority(ring[start : start + size]) for start in starts)


def ballot(result: Result) -> str | None:
    """What a repeat votes for: what the metric found in the answer, or the answer, without case and spaces."""
    text = result.score.parsed if result.score.parsed is not None else result.record.answer
    if text is None:
        return None
    return "".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".")


def _pair(first: ComparedRun, second: ComparedRun) -> Comparison:
    ours, theirs = values_by_sample(first.results), values_by_sample(second.results)
    every = group_by_sample(first.results).keys() | group_by_sample(second.results).keys()
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        raise ConfigError(
            f"{first.name} and {second.name} have no scored sample in common; "
            "compare runs of one dataset, and grade both"
        )
    return compare_values(
        (first.name, [ours[key] for key in shared]),
        (second.name, [theirs[key] for key in shared]),
        unpaired=len(every) - len(shared),
    )


def _decide(pair: Comparison, p: float, detect: float | None, alpha: float) -> Comparison:
    """p: adjusted. alpha: for the number of samples, which a later comparison of as many runs would have."""
    found = pair.difference
    target = abs(found.value) if detect is None else detect
    if p < ALPHA:
        return replace(pair, verdict="better" if found.value > 0 else "worse", target=target)
    if detect is not None and max(-found.low, found.high) < detect:
        return replace(pair, verdict="alike", target=target)
    if not target:
        return replace(pair, target=target)
    # without any sample that differs, the interval still says how large a deviation is possible
    deviation = pair.deviation or (found.high - found.low) / 4 * math.sqrt(found.n)
    more = samples_needed(target, deviation, alpha=alpha) - found.n
    return replace(pair, target=target, more=max(1, more) if more <= _MOST_MORE * found.n else None)


def _discordant(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> tuple[int, int] | None:
    """How many only the first, and only the second, has right; None unless all are single and right or wrong."""
    if any(len(values) != 1 or values[0] not in (0, 1) for values in (*ours, *theirs)):
        return None
    pairs = [(one[0], other[0]) for one, other in zip(ours, theirs, strict=True)]
    return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)


def _majority(repeats: Sequence[Result]) -> float:
    votes = Counter(found for each in repeats if (found := ballot(each)) is not None)
    if not votes:
        return fmean(_value(each) for each in repeats)
    winner = votes.most_common(1)[0][0]  # among equals the first one counted
    return next(_value(each) for each in repeats if ballot(each) == winner)


def _plan(tokens: Sequence[float], target: float) -> tuple[int, int, float]:
    """(votes of all, how many samples from the first on get one more, tokens that this takes).

    tokens: of one repeat of each sample. The plan that comes closest to the target.
    """
    once = sum(tokens)
    votes = max(1, int(target // once)) if once else 1
    totals = [votes * once + extra for extra in accumulate(tokens, initial=0.0)]
    more = min(range(len(totals)), key=lambda count: abs(totals[count] - target))
    if more == len(tokens):
        return votes + 1, 0, totals[more]
    return votes, more, totals[more]


def _check_spent(cheaper: str, dearer: str, spent: float, target: float) -> None:
    if abs(spent - target) > TOLERANCE * target:
        raise ConfigError(
            f"{cheaper} cannot spend as many tokens as {dearer}: {spent:,.0f} against {target:,.0f} in all, and "
            f"more than {TOLERANCE:.0%} apart; compare over more samples"
        )


def _check_repeats(name: str, most: int, needed: int) -> None:
    if most < needed:
        raise ConfigError(
            f"{name} has {most} repeats of a sample and needs {needed} to spend as much as the other run; "
            f"run it with --repeat {needed}"
        )


def _score(run: ComparedRun) -> dict[str, tuple[Result, ...]]:
    """Sample id -> its scored repeats, without the samples that have none."""
    groups = group_by_sample(each for each in run.results if each.value is not None)
    return {key: group for key, group in groups.items() if group}


def _tokens(repeats: Sequence[Result]) -> float:
    return fmean(each.tokens for each in repeats)


def _value(result: Result) -> float:
    assert result.value is not None  # `_score` keeps no others
    return result.value
