"""Two runs at the same number of tokens: the cheaper one votes over its repeats until it has spent as much.

N repeats of a sample cost N times their mean. Where the other run's tokens lie between N and N + 1 of them, some
samples (drawn by a seed) vote over N + 1 and the rest over N. Votes are counted over every N consecutive repeats
in a ring and their values averaged, so that no repeat counts for more than another.
"""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from pyvision.bench.analysis.compare import Comparison, Run, compare_values, price
from pyvision.bench.results import Result, by_sample
from pyvision.errors import ConfigError

TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class EqualBudget:
    """`comparison` sets the cheaper run's votes (first) against the dearer run (second).

    votes: how many repeats most samples vote over; `share_with_one_more` of the samples vote over one more.
    tokens: means of a sample, within 5 % of each other.
    """

    votes: int
    share_with_one_more: float
    cheaper_tokens: float
    dearer_tokens: float
    comparison: Comparison


def at_equal_tokens(one: Run, other: Run, *, seed: int = 0) -> EqualBudget:
    """Let the cheaper of two runs vote until both spend the same. Raises ConfigError where that cannot be.

    Over the samples that the dearer run has a score of and the cheaper one all its repeats.
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
        left_out=len(by_sample(one.results).keys() | by_sample(other.results).keys()) - len(shared),
    )
    n = len(shared)
    return EqualBudget(votes, more / n, spent / n, target / n, comparison)


def vote(repeats: Sequence[Result], size: int) -> float:
    """The value of the majority's answer among `size` repeats, averaged over the places to begin at.

    Of answers with as many votes the earliest wins. A repeat without an answer has no vote; where nobody has
    one, the mean value of the repeats stands.
    """
    ring = [*repeats, *repeats[: size - 1]]
    starts = range(len(repeats)) if size < len(repeats) else range(1)
    return fmean(_majority(ring[start : start + size]) for start in starts)


def ballot(result: Result) -> str | None:
    """What a repeat votes for: what the metric found in its answer, or the answer, without case and spaces."""
    text = result.score.parsed if result.score.parsed is not None else result.record.answer
    if text is None:
        return None
    return "".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".")


def _majority(repeats: Sequence[Result]) -> float:
    votes = Counter(found for each in repeats if (found := ballot(each)) is not None)
    if not votes:
        return fmean(_value(each) for each in repeats)
    winner = votes.most_common(1)[0][0]  # of equals the first that was counted
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


def _score(run: Run) -> dict[str, tuple[Result, ...]]:
    """Sample id -> its scored repeats, without the samples that have none."""
    groups = by_sample(each for each in run.results if each.value is not None)
    return {key: group for key, group in groups.items() if group}


def _tokens(repeats: Sequence[Result]) -> float:
    return fmean(each.tokens for each in repeats)


def _value(result: Result) -> float:
    assert result.value is not None  # `_scored` keeps no others
    return result.value
