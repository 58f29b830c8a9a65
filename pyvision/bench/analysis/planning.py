"""How many samples a comparison needs, and what they would cost, before anything is run.

How much two runs differ from sample to sample decides how many samples are needed. Two pilots over the same samples
show it. One pilot shows its accuracy: the two runs are then taken as independent of each other, which no pair over the
same samples with any skill in common is, so that fewer samples suffice. Without a pilot the accuracy is taken as 50 %,
the least favourable.

Not covered: the uncertainty of the pilots' prices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance

from pyvision.bench.analysis.compare import ComparedRun
from pyvision.bench.analysis.document import Document, Paragraph, Part, Section, Table, format_percent
from pyvision.bench.analysis.statistics import (
    ALPHA,
    POWER,
    Pair,
    detectable,
    differences_of,
    repeat_variance,
    samples_needed,
)
from pyvision.bench.samples import values_by_sample
from pyvision.config.prices import Price
from pyvision.errors import ConfigError
from pyvision.types import Usage


@dataclass(frozen=True, slots=True)
class Deviation:
    """The standard deviation of the differences between two runs, and where it comes from.

    error: its standard error; None where it is assumed. n: samples that it was measured on.
    """

    value: float
    source: str
    n: int = 0
    error: float | None = None


@dataclass(frozen=True, slots=True)
class PlannedUsage:
    """What one experiment of the planned size would use. cost: None if no price is known."""

    name: str
    answers: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    currency: str


@dataclass(frozen=True, slots=True)
class SampleSize:
    """samples: needed to find the difference `detect` with this power. least, most: where the pilots leave it open.

    available: samples of the dataset; None if unknown. detectable: the difference that those would find; None without.
    """

    detect: float
    power: float
    alpha: float
    repeats: int
    samples: int
    least: int
    most: int
    deviation: Deviation
    available: int | None
    detectable: float | None
    spending: tuple[PlannedUsage, ...]


@dataclass(frozen=True, slots=True)
class Pilot:
    """A finished experiment to learn from. price: of its model, if a table has it."""

    run: ComparedRun
    price: Price | None = None


def plan_samples(
    detect: float,
    *,
    power: float = POWER,
    repeats: int = 1,
    pilots: Sequence[Pilot] = (),
    available: int | None = None,
) -> SampleSize:
    """detect: a share, above 0. pilots: none, one, or two over the same samples. Raises ConfigError."""
    deviation = find_deviation([pilot.run for pilot in pilots], detect, repeats)
    _check_possible(detect, deviation)
    samples = samples_needed(detect, deviation.value, power=power)
    reach = 1.96 * (deviation.error or 0.0)
    bounds = (max(0.0, deviation.value - reach), deviation.value + reach)
    least, most = (samples_needed(detect, bound, power=power) for bound in bounds)
    found = None if available is None else detectable(available, deviation.value, power=power)
    spending = tuple(_spending(pilot, samples * repeats) for pilot in pilots)
    return SampleSize(
        detect, power, ALPHA, repeats, samples, least, most, deviation, available, found, spending
    )


def find_deviation(runs: Sequence[ComparedRun], detect: float, repeats: int) -> Deviation:
    """The deviation with so many repeats. Raises ConfigError for runs that share too few samples."""
    if len(runs) > 1:
        return _between(runs[0], runs[1], repeats)
    if runs:
        return _independent(runs[0], detect, repeats)
    return Deviation(math.sqrt(2 * 0.25), "assumed: an accuracy of 50 %, and runs that are independent")


def plan_report(found: SampleSize, dataset: str = "") -> Document:
    """The plan as a document."""
    points = format_percent(found.detect)
    each = "one answer each" if found.repeats == 1 else f"{found.repeats} answers each"
    needed = (
        f"{found.samples:,} samples, {each}, in both runs: that many find a true difference of {points} points with a "
        f"power of {found.power:.0%}, in a two-sided test at {found.alpha:.0%}."
    )
    parts: list[Part] = [Paragraph(needed), Paragraph(_describe(found))]
    if found.available is not None:
        parts.append(Paragraph(_compare_available(found, dataset)))
    return Document(
        f"Plan: detect {points} points", (Section("Samples", tuple(parts)), _cost(found.spending))
    )


def _between(first: ComparedRun, second: ComparedRun, repeats: int) -> Deviation:
    """From two pilots. With s² the variance of the samples' differences over R repeats and v the variance between
    repeats of one sample, that over K repeats is s² + v (1/K - 1/R), for each run; v is unknown without repeats."""
    ours, theirs = values_by_sample(first.results), values_by_sample(second.results)
    pairs: list[Pair] = [(theirs[key], ours[key]) for key in sorted(ours.keys() & theirs.keys())]
    if len(pairs) < 2:
        raise ConfigError(
            f"{first.name} and {second.name} share {len(pairs)} scored samples; a plan needs two or more"
        )
    differences = differences_of(pairs)
    spread = pvariance(differences) * len(pairs) / (len(pairs) - 1)
    planned = spread
    for place in (0, 1):
        groups = [pair[place] for pair in pairs]
        noise = repeat_variance(groups)
        if noise is not None:
            planned += noise * (1 / repeats - fmean(1 / len(group) for group in groups))
    # the standard error of a standard deviation: that of the variance, by the fourth moment, over twice the deviation
    centre = fmean(differences)
    fourth = fmean((each - centre) ** 4 for each in differences)
    deviation = math.sqrt(max(planned, 0.0))
    error = math.sqrt(max(0.0, fourth - spread**2) / len(pairs)) / (2 * deviation) if deviation else 0.0
    return Deviation(
        deviation, f"measured on the samples that {first.name} and {second.name} share", len(pairs), error
    )


def _independent(run: ComparedRun, detect: float, repeats: int) -> Deviation:
    """From one pilot: the variance of a sample's mean over the repeats, twice."""
    groups = list(values_by_sample(run.results).values())
    if len(groups) < 2:
        raise ConfigError(f"{run.name} has {len(groups)} scored samples; a plan needs two or more")
    accuracy = fmean(fmean(group) for group in groups)
    other = accuracy + (detect if accuracy < 0.5 else -detect)
    noise = repeat_variance(groups)
    averaged = 0.0 if noise is None else noise * (1 - 1 / repeats)
    variances = [max(0.0, share * (1 - share) - averaged) for share in (accuracy, min(1.0, max(0.0, other)))]
    return Deviation(
        math.sqrt(sum(variances)),
        f"assumed: the accuracy of {run.name} ({format_percent(accuracy)} %), and runs that are independent",
        len(groups),
    )


def _check_possible(detect: float, deviation: Deviation) -> None:
    if not 0 < detect <= 1:
        raise ConfigError(
            f"a difference of {100 * detect:g} points cannot be detected; give one from 0 to 100"
        )
    if deviation.n and deviation.error is not None and deviation.value == 0:
        raise ConfigError(
            f"the pilots differ by the same amount in all {deviation.n} samples, so they do not show how much that "
            "varies; give one pilot, or larger ones"
        )


def _spending(pilot: Pilot, answers: int) -> PlannedUsage:
    """The means of the pilot's answers, times the planned number."""
    records = [result.record for result in pilot.run.results]
    usage = Usage(
        sum(record.input_tokens for record in records),
        sum(record.output_tokens for record in records),
        sum(record.cached_tokens for record in records),
    )
    costs = [record.cost for record in records if record.cost is not None]
    cost = None
    if pilot.price is not None:
        cost = pilot.price.of(usage) / len(records)
    elif len(costs) == len(records):
        cost = fmean(costs)
    return PlannedUsage(
        pilot.run.name,
        answers,
        round(usage.input_tokens / len(records) * answers),
        round(usage.output_tokens / len(records) * answers),
        None if cost is None else cost * answers,
        "" if pilot.price is None else pilot.price.currency,
    )


def _describe(found: SampleSize) -> str:
    base = f"Deviation of the differences: {found.deviation.value:.3f}, {found.deviation.source}."
    if found.deviation.error is None:
        return f"{base} Runs over the same samples agree more than that, so fewer will do: two pilots show how few."
    return (
        f"{base} From {found.deviation.n} samples this is known to ± {1.96 * found.deviation.error:.3f}, so the need "
        f"lies between {found.least:,} and {found.most:,}."
    )


def _compare_available(found: SampleSize, dataset: str) -> str:
    if found.available is not None and found.available >= found.samples:
        return f"{dataset} has {found.available:,} samples: enough."
    smallest = (
        "no difference" if found.detectable is None else f"{format_percent(found.detectable)} points or more"
    )
    return (
        f"{dataset} has {found.available or 0:,} samples: too few. All of them find {smallest} with this power; "
        "repeats (--repeat) reduce what is due to chance."
    )


def _cost(spending: Sequence[PlannedUsage]) -> Section:
    if not spending:
        remark = "Unknown without a pilot: give the folder of an experiment with --pilot."
        return Section("Cost", (Paragraph(remark),))
    rows = tuple(
        (
            each.name,
            f"{each.answers:,}",
            f"{each.input_tokens:,}",
            f"{each.output_tokens:,}",
            "unknown" if each.cost is None else f"{each.cost:,.2f} {each.currency}".rstrip(),
        )
        for each in spending
    )
    head = ("run like", "answers", "input tokens", "output tokens", "cost")
    return Section("Cost", (Table(head, rows),))


def price_of(configuration: Mapping[str, object], prices: Mapping[str, Price]) -> Price | None:
    """The price of the model of an experiment; None if it is unknown, or roles have other models."""
    from pyvision.config.prices import prices_of

    model = configuration.get("model")
    name = model.get("model") if isinstance(model, Mapping) else None
    if not isinstance(name, str) or configuration.get("roles"):
        return None
    return prices_of([name], prices).get(name)
