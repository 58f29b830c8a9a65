"""Runs over the same samples against each other: paired by sample, tested, and set against what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from pyvision.bench.analysis.statistics import Estimate, difference_interval, mcnemar_exact, mean_interval
from pyvision.bench.results import Result, by_sample, values_by_sample
from pyvision.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment under the name that a person knows it by."""

    name: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over the samples that both have scores of; `left_out` counts the samples that one has not.

    difference: second minus first. p: exact McNemar over single right or wrong answers; None for anything else,
    where the interval is what there is.
    """

    first: str
    second: str
    left_out: int
    first_accuracy: Estimate
    second_accuracy: Estimate
    difference: Estimate
    only_first: int | None = None
    only_second: int | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """What one record of a run takes on average; cost is None where no price is known."""

    tokens: float
    cost: float | None
    seconds: float


def compare(first: Run, second: Run) -> Comparison:
    """Pair two runs by sample id. Raises ConfigError where they share no scored sample."""
    mine, yours = values_by_sample(first.results), values_by_sample(second.results)
    every = by_sample(first.results).keys() | by_sample(second.results).keys()
    shared = sorted(mine.keys() & yours.keys())
    if not shared:
        raise ConfigError(
            f"{first.name} and {second.name} have no scored sample in common; "
            "compare runs of one dataset, and grade both"
        )
    return compare_values(
        (first.name, [mine[key] for key in shared]),
        (second.name, [yours[key] for key in shared]),
        left_out=len(every) - len(shared),
    )


def compare_values(
    first: tuple[str, Sequence[Sequence[float]]],
    second: tuple[str, Sequence[Sequence[float]]],
    *,
    left_out: int = 0,
) -> Comparison:
    """Two names with the values of the same samples in the same order; at least one sample."""
    mine, yours = first[1], second[1]
    gains = [fmean(theirs) - fmean(ours) for ours, theirs in zip(mine, yours, strict=True)]
    first_accuracy, second_accuracy = mean_interval(mine), mean_interval(yours)
    difference = difference_interval(gains)
    assert first_accuracy is not None  # for the type checker: there is at least one sample
    assert second_accuracy is not None
    assert difference is not None
    only_first, only_second = _discordant(mine, yours) or (None, None)
    p = None if only_first is None or only_second is None else mcnemar_exact(only_first, only_second)
    return Comparison(
        first[0],
        second[0],
        left_out,
        first_accuracy,
        second_accuracy,
        difference,
        only_first,
        only_second,
        p,
    )


def price(run: Run) -> Price:
    """The means over all records of a run, of which there is at least one."""
    costs = [each.record.cost for each in run.results if each.record.cost is not None]
    return Price(
        tokens=fmean(each.tokens for each in run.results),
        cost=fmean(costs) if costs else None,
        seconds=fmean(each.record.seconds for each in run.results),
    )


def _discordant(mine: Sequence[Sequence[float]], yours: Sequence[Sequence[float]]) -> tuple[int, int] | None:
    """How many only the first and only the second has right; None unless all are single and right or wrong."""
    if any(len(values) != 1 or values[0] not in (0, 1) for values in (*mine, *yours)):
        return None
    pairs = [(ours[0], theirs[0]) for ours, theirs in zip(mine, yours, strict=True)]
    return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
