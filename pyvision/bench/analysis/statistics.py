"""Intervals and tests for scores between 0 and 1.

All intervals are two-sided, at 95 % by default. Samples are taken as independent draws from the population of the
benchmark; repeats of one sample are not independent, so they are resampled together.

Not covered: corrections for multiple comparisons; a benchmark that is itself the whole population.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist, fmean
from typing import Any

RESAMPLES = 2_000
CONFIDENCE = 0.95
_AT_ONCE = 1_000_000  # numbers drawn at once: 8 MB


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; `n` is the number of samples."""

    value: float
    low: float
    high: float
    n: int

    def holds(self, truth: float) -> bool:
        """Whether the interval covers a value."""
        return self.low <= truth <= self.high


def wilson(right: float, n: int, confidence: float = CONFIDENCE) -> Estimate | None:
    """The share right/n with the score interval of Wilson (1927), no continuity correction; None for n = 0."""
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
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


def mean_interval(
    groups: Sequence[Sequence[float]], *, seed: int = 0, confidence: float = CONFIDENCE
) -> Estimate | None:
    """The mean of the samples' means, each group being the repeats of one sample; None without any sample.

    Wilson's interval where each sample has one value that is 0 or 1, a bootstrap of whole samples elsewhere.
    """
    if not groups:
        return None
    if all(len(group) == 1 and group[0] in (0, 1) for group in groups):
        return wilson(sum(group[0] for group in groups), len(groups), confidence)
    means = [fmean(group) for group in groups]
    return _bootstrap(means, extremes=(0.0, 1.0), seed=seed, confidence=confidence)


def difference_interval(
    differences: Sequence[float], *, seed: int = 0, confidence: float = CONFIDENCE
) -> Estimate | None:
    """The mean of paired differences, one per sample, from -1 to 1, with its bootstrap interval."""
    if not differences:
        return None
    return _bootstrap(differences, extremes=(-1.0, 1.0), seed=seed, confidence=confidence)


def ratio_interval(
    parts: Sequence[tuple[float, float]], *, seed: int = 0, confidence: float = CONFIDENCE
) -> Estimate | None:
    """Sum of the parts by sum of the wholes, one (part, whole) per sample, 0 <= part <= whole <= 1; None for 0/0.

    Wilson's interval where every whole is 0 or 1 and every part too, a bootstrap of whole samples elsewhere.
    `n` counts the samples whose whole is not 0.
    """
    counted = [(part, whole) for part, whole in parts if whole > 0]
    if not counted:
        return None
    part, whole = (sum(column) for column in zip(*counted, strict=True))
    if all(each in (0, 1) for pair in counted for each in pair):
        return wilson(part, len(counted), confidence)
    import numpy as np

    drawn = _sums_of_resamples([*counted, (0.0, 1.0), (1.0, 1.0)], seed)  # pseudo-samples, as in `_bootstrap`
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], ((1 - confidence) / 2, (1 + confidence) / 2))
    value = part / whole
    return Estimate(value, min(float(low), value), max(float(high), value), len(counted))


def _bootstrap(
    values: Sequence[float], *, extremes: tuple[float, float], seed: int, confidence: float
) -> Estimate:
    """The percentile interval of the mean.

    One pseudo-sample at each extreme is added to the pool: without them five equal values would have an interval of
    zero width. It is the adjustment of Bonett and Price (2012) for paired proportions, applied to the bootstrap; with
    hundreds of samples it is negligible.
    """
    import numpy as np

    pool = [(value,) for value in (*values, *extremes)]
    drawn = _sums_of_resamples(pool, seed)[:, 0] / len(pool)
    low, high = np.quantile(drawn, ((1 - confidence) / 2, (1 + confidence) / 2))
    value = fmean(values)
    return Estimate(value, min(float(low), value), max(float(high), value), len(values))


def _sums_of_resamples(pool: Sequence[tuple[float, ...]], seed: int) -> Any:
    """RESAMPLES rows, each the sum of as many rows as the pool has, drawn from it with replacement.

    Equal rows are drawn together: how often each distinct one comes up is multinomial.
    """
    import numpy as np

    rows, counts = np.unique(np.asarray(pool, dtype=float), axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    at_once = max(1, _AT_ONCE // len(rows))
    sizes = (min(at_once, RESAMPLES - start) for start in range(0, RESAMPLES, at_once))
    shares = counts / counts.sum()
    return np.concatenate([generator.multinomial(len(pool), shares, size) @ rows for size in sizes])
