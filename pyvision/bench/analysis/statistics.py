"""Intervals, tests and sample sizes for scores between 0 and 1.

All intervals are two-sided, at 95 % by default. Samples are taken as independent draws from the population of the
benchmark. Repeats of one sample are not independent: every estimate is a mean over samples of one number for each, so
that its standard error is clustered by sample (Miller, arXiv 2411.00640, sections 2.2 and 4.2).

A normal interval is too short where few samples differ, and has no width where none does. Two pseudo-samples are
therefore added, one at either extreme, as Bonett and Price (J. Educ. Behav. Stat. 37, 2012, 479-488) do for paired
proportions. Theirs stand for single answers. With repeats they get the weight

    k = s² / (s² + sum over the runs of (1 - 1/R) v)

where s² is the variance of the samples' numbers, R the repeats of a run and v the variance between repeats of one
sample: the variance with R repeats by that with one, which is the reciprocal of Kish's effective number of answers per
sample (Survey Sampling, 1965, section 5.4). k is 1 for single answers and for repeats that all agree, and 1/R where
samples differ by chance only. `make null-simulation` measures the coverage.

Not covered: a benchmark that is itself the whole population; dependent samples, such as questions about one image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist, fmean
from typing import TypeAlias

CONFIDENCE = 0.95
ALPHA = 0.05
POWER = 0.8

Values: TypeAlias = Sequence[float]
"""The scores of the repeats of one sample in one run; at least one."""

Pair: TypeAlias = tuple[Values, Values]
"""The values of one sample in two runs."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; `n` is the number of samples.

    p: two-sided, of the hypothesis that there is no effect (difference 0, or ratio 1); None where none is tested.
    """

    value: float
    low: float
    high: float
    n: int
    p: float | None = None

    def holds(self, truth: float) -> bool:
        """Whether the interval covers a value."""
        return self.low <= truth <= self.high


def wilson(right: float, n: int, confidence: float = CONFIDENCE) -> Estimate | None:
    """The share right/n with the score interval of Wilson (1927), no continuity correction; None for n = 0."""
    if n == 0:
        return None
    z = _two_sided(confidence)
    share = right / n
    weight = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / weight
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    return Estimate(share, max(0.0, centre - reach), min(1.0, centre + reach), n)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """The two-sided exact p-value of McNemar's test from the two counts of discordant pairs.

    Twice the smaller tail of the binomial with one half, at most 1.
    """
    n = only_first + only_second
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, float(Fraction(2 * tail, 1 << n)))


def mean_interval(groups: Sequence[Values], *, confidence: float = CONFIDENCE) -> Estimate | None:
    """The mean of the samples' means; None without any sample.

    Wilson's interval where each sample has one value that is 0 or 1; elsewhere the normal interval with pseudo-samples
    at 0 and 1.
    """
    if not groups:
        return None
    if all(len(group) == 1 and group[0] in (0, 1) for group in groups):
        return wilson(sum(group[0] for group in groups), len(groups), confidence)
    means = [fmean(group) for group in groups]
    found = _normal(means, (0.0, 1.0), _pseudo_weight(means, groups), confidence)
    return replace(found, p=None)


def difference_interval(pairs: Sequence[Pair], *, confidence: float = CONFIDENCE) -> Estimate | None:
    """The mean over samples of first minus second mean, with pseudo-samples at -1 and 1; None without any sample.

    Unbiased for E[p - q], where p and q are a sample's expected scores in the two runs, with any number of repeats. For
    single right or wrong answers the interval is that of Bonett and Price (2012).

    p is not below 2^(1-k), with k samples that differ: if the runs are alike, each of their signs is a toss, and the
    normal test overrates a handful of them.
    """
    if not pairs:
        return None
    differences = differences_of(pairs)
    found = _normal(differences, (-1.0, 1.0), _weight_of(pairs), confidence)
    least = 2.0 ** (1 - sum(difference != 0 for difference in differences))
    return found if found.p is None else replace(found, p=min(1.0, max(found.p, least)))


def only_first_interval(pairs: Sequence[Pair], *, confidence: float = CONFIDENCE) -> Estimate | None:
    """How often the first run is right and the second wrong, beyond what repeats of one run differ among themselves.

    With p and q a sample's chances in the two runs, the share of samples right in an answer of the first and wrong in
    one of the second is E[p(1 - q)]: above zero for p = q, however many the repeats. What an answer of a run is right
    where another answer of the same run is wrong is E[p(1 - p)] and E[q(1 - q)]. Their mean is subtracted:

        E[p(1 - q)] - (E[p(1 - p)] + E[q(1 - q)]) / 2 = (E[p - q] + E[(p - q)²]) / 2

    This is 0 for p = q and, where every chance is 0 or 1, the share of samples that only the first run solves. The
    value for the swapped runs differs from it by E[p - q], and adds up with it to E[(p - q)²]. A run that is only
    sometimes worse makes it negative.

    Each term has an unbiased estimate for each sample: a mean over pairs of different answers (Hoeffding's
    U-statistic, Ann. Math. Stat. 19, 1948, 293-325). Every sample needs two repeats in both runs; None without any
    sample. The interval is normal, with pseudo-samples at the extremes of that number, -1/2 and 1.
    """
    if not pairs:
        return None
    numbers = [
        fmean(first) * (1 - fmean(second)) - (_self_discordance(first) + _self_discordance(second)) / 2
        for first, second in pairs
    ]
    return _normal(numbers, (-0.5, 1.0), _weight_of(pairs), confidence)


def retention_interval(pairs: Sequence[Pair], *, confidence: float = CONFIDENCE) -> Estimate | None:
    """Of what the first run solves twice, how much the second solves: E[pq] / E[p²].

    E[pq] / E[p] would be below 1 for p = q: a second run of the same kind does not solve all again. p² is estimated
    from pairs of different repeats of the first run, which needs two; the second needs one. 1 for p = q; where every
    chance is 0 or 1, the share of the samples solved by the first that the second solves too. It can exceed 1.

    The interval is Fieller's for a ratio of means (J. R. Stat. Soc. B 16, 1954, 175-185): all r for which the mean of
    part - r whole is not significantly different from 0; with pseudo-samples (0, 1) and (1, 1). None where the
    denominator is not significantly above 0, since the interval is then unbounded.
    """
    parts = [fmean(first) * fmean(second) for first, second in pairs]
    wholes = [_agreement(first) for first, _ in pairs]
    if sum(wholes) <= 0:
        return None
    weight = _weight_of(pairs)
    pool = [(part, whole, 1.0) for part, whole in zip(parts, wholes, strict=True)]
    pool += [(0.0, 1.0, weight), (1.0, 1.0, weight)]
    z, found = _two_sided(confidence), _moments(pool)
    interval = _fieller(found, z)
    if interval is None:
        return None
    value = sum(parts) / sum(wholes)
    spread = found.aa - 2 * found.ab + found.bb
    p = _p_value(found.a - found.b, math.sqrt(max(0.0, spread)))
    low, high = interval
    n = sum(any(first) for first, _ in pairs)
    return Estimate(value, max(0.0, min(low, value)), max(high, value), n, p)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values adjusted for their number by Holm (Scand. J. Stat. 6, 1979, 65-70).

    If none of the effects exists, one of them is below alpha with a probability of at most alpha, whatever their
    dependence.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return tuple(adjusted)


def samples_needed(difference: float, deviation: float, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """How many samples detect a difference of two runs with this power, in a two-sided test at alpha.

    deviation: standard deviation of the samples' differences (of their means over the repeats). Connor's formula for
    McNemar's test (Biometrics 43, 1987, 207-211): without an effect the mean square of the differences is the same, so
    that their variance is deviation² + difference²,

        n = (z(1 - alpha/2) sqrt(deviation² + difference²) + z(power) deviation)² / difference².
    """
    of_test, of_power = _two_sided(1 - alpha), NormalDist().inv_cdf(power)
    root = of_test * math.hypot(deviation, difference) + of_power * deviation
    return max(2, math.ceil((root / difference) ** 2))


def detectable(n: int, deviation: float, *, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """The smallest difference that n samples detect with this power; None if not even 1 is."""
    if samples_needed(1.0, deviation, power=power, alpha=alpha) > n:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        enough = samples_needed(middle, deviation, power=power, alpha=alpha) <= n
        low, high = (low, middle) if enough else (middle, high)
    return high


def differences_of(pairs: Sequence[Pair]) -> list[float]:
    """First minus second mean of each sample."""
    return [fmean(first) - fmean(second) for first, second in pairs]


def repeat_variance(groups: Sequence[Values]) -> float | None:
    """The mean variance between repeats of one sample, unbiased; None where no sample has two."""
    found = [_variance(group) for group in groups if len(group) > 1]
    return fmean(found) if found else None


@dataclass(frozen=True, slots=True)
class _Moments:
    """The means of two numbers of a sample, and the variances and the covariance of these means."""

    a: float
    b: float
    aa: float
    ab: float
    bb: float


def _agreement(values: Values) -> float:
    """The mean product of two different repeats; two at least."""
    count, total = len(values), math.fsum(values)
    return (total * total - math.fsum(value * value for value in values)) / (count * (count - 1))


def _self_discordance(values: Values) -> float:
    """How often one repeat is right and another one wrong: unbiased for p(1 - p)."""
    return fmean(values) - _agreement(values)


def _normal(
    numbers: Sequence[float], extremes: tuple[float, float], weight: float, confidence: float
) -> Estimate:
    """The mean, with the normal interval and test of the pool with pseudo-samples. n: without these."""
    pool = [(number, 0.0, 1.0) for number in numbers] + [(extreme, 0.0, weight) for extreme in extremes]
    found = _moments(pool)
    error, value = math.sqrt(found.aa), fmean(numbers)
    reach = _two_sided(confidence) * error
    low, high = max(extremes[0], found.a - reach), min(extremes[1], found.a + reach)
    return Estimate(value, min(low, value), max(high, value), len(numbers), _p_value(found.a, error))


def _moments(pool: Sequence[tuple[float, float, float]]) -> _Moments:
    """Of (a, b, weight): a weight counts as so many samples."""
    n = math.fsum(weight for _, _, weight in pool)
    a = math.fsum(weight * one for one, _, weight in pool) / n
    b = math.fsum(weight * other for _, other, weight in pool) / n
    per_mean = n * max(n - 1, 1)
    return _Moments(
        a,
        b,
        math.fsum(weight * (one - a) ** 2 for one, _, weight in pool) / per_mean,
        math.fsum(weight * (one - a) * (other - b) for one, other, weight in pool) / per_mean,
        math.fsum(weight * (other - b) ** 2 for _, other, weight in pool) / per_mean,
    )


def _fieller(found: _Moments, z: float) -> tuple[float, float] | None:
    """All r with (a - r b)² <= z² (aa - 2 r ab + r² bb); None if that is no interval."""
    leading = found.b**2 - z * z * found.bb
    if leading <= 0:
        return None
    half, constant = found.a * found.b - z * z * found.ab, found.a**2 - z * z * found.aa
    root = math.sqrt(max(0.0, half * half - leading * constant))
    return (half - root) / leading, (half + root) / leading


def _weight_of(pairs: Sequence[Pair]) -> float:
    firsts, seconds = [first for first, _ in pairs], [second for _, second in pairs]
    return _pseudo_weight(differences_of(pairs), firsts, seconds)


def _pseudo_weight(numbers: Sequence[float], *runs: Sequence[Values]) -> float:
    """k of the module's docstring, which is never below 1/R."""
    centre = fmean(numbers)
    spread = math.fsum((number - centre) ** 2 for number in numbers) / len(numbers)
    single = spread + sum(_variance_removed_by_repeats(groups) for groups in runs)
    least = 1 / max(len(group) for groups in runs for group in groups)
    return max(least, spread / single) if single > 0 else 1.0


def _variance_removed_by_repeats(groups: Sequence[Values]) -> float:
    """The variance that repeats remove from a sample's mean: the mean of (1 - 1/R) v."""
    return fmean((1 - 1 / len(group)) * _variance(group) if len(group) > 1 else 0.0 for group in groups)


def _variance(values: Values) -> float:
    """Unbiased; of two values at least. The one of `statistics` calculates with fractions, and is slow."""
    centre = fmean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def _p_value(mean: float, error: float) -> float:
    """Two-sided, of a mean of 0."""
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * NormalDist().cdf(-abs(mean) / error)


def _two_sided(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
