"""A record with its score, and the same grouped by sample: what every analysis starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pyvision.bench.samples import INFRASTRUCTURE, UNGRADED, Record, Score


@dataclass(frozen=True, slots=True)
class Result:
    """One answered sample and how right it is."""

    record: Record
    score: Score

    @property
    def value(self) -> float | None:
        """From 0 to 1; None where nothing can be said of the model, whatever was written as its score."""
        return None if self.record.end_reason in INFRASTRUCTURE else self.score.value

    @property
    def tokens(self) -> int:
        """All that the model read and wrote for this sample."""
        return self.record.input_tokens + self.record.output_tokens


def pair(records: Iterable[Record], scores: Mapping[tuple[str, int], Score]) -> tuple[Result, ...]:
    """Every record with its score, in order; one that was never graded is unscored, not left out."""
    return tuple(
        Result(record, scores.get((record.sample_id, record.repeat), UNGRADED)) for record in records
    )


def by_sample(results: Iterable[Result]) -> dict[str, tuple[Result, ...]]:
    """Sample id -> its repeats, in the order of their numbers."""
    found: dict[str, list[Result]] = {}
    for each in results:
        found.setdefault(each.record.sample_id, []).append(each)
    return {key: tuple(sorted(group, key=lambda one: one.record.repeat)) for key, group in found.items()}


def values_by_sample(results: Iterable[Result]) -> dict[str, tuple[float, ...]]:
    """Sample id -> the values of its scored repeats; a sample without any is left out."""
    groups = {key: _values(group) for key, group in by_sample(results).items()}
    return {key: values for key, values in groups.items() if values}


def means_by_sample(results: Iterable[Result]) -> dict[str, float]:
    """Sample id -> the mean of its scored repeats; a sample without any is left out."""
    return {key: fmean(values) for key, values in values_by_sample(results).items()}


def _values(group: Sequence[Result]) -> tuple[float, ...]:
    return tuple(each.value for each in group if each.value is not None)
