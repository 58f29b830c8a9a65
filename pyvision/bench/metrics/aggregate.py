"""From the scores of samples to the numbers of a table: means by category, and harmonic means of splits.

Samples without a score (value None) count in no mean; every mean says how many they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from pyvision.bench.metrics.circular import Scored
from pyvision.bench.samples import Score


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of the scored samples, from 0 to 1; None when there are none."""

    value: float | None
    scored: int
    unscored: int


def mean(scores: Iterable[Score]) -> Mean:
    """The mean over samples."""
    values = [score.value for score in scores]
    scored = [value for value in values if value is not None]
    return Mean(fmean(scored) if scored else None, len(scored), len(values) - len(scored))


def micro(pairs: Iterable[Scored]) -> Mean:
    """The mean over all samples, whatever their category: what most tables print as overall."""
    return mean(score for _, score in pairs)


def by_category(pairs: Iterable[Scored], depth: int | None = None) -> Mapping[str, Mean]:
    """The mean of each category, in the order in which they come first; `depth` 1 puts `a/b` under `a`."""
    groups: dict[str, list[Score]] = {}
    for sample, score in pairs:
        groups.setdefault("/".join(sample.category.split("/")[:depth]), []).append(score)
    return {category: mean(scores) for category, scores in groups.items()}


def macro(pairs: Iterable[Scored], depth: int | None = None) -> Mean:
    """The mean over categories, each counting the same; those without any scored sample are left out."""
    means = by_category(pairs, depth).values()
    values = [each.value for each in means if each.value is not None]
    scored, unscored = sum(each.scored for each in means), sum(each.unscored for each in means)
    return Mean(fmean(values) if values else None, scored, unscored)


def harmonic_mean(unseen_question: float, unseen_entity: float) -> float:
    """The result of InfoSeek from its two splits, both from 0 to 1 or both in percent; 0 when either is 0."""
    if unseen_question <= 0 or unseen_entity <= 0:
        return 0.0
    return 2 / (1 / unseen_question + 1 / unseen_entity)


def infoseek(pairs: Iterable[Scored]) -> float | None:
    """The harmonic mean of both splits, told apart by `metadata["data_split"]`; None while one has no score.

    A split is one whose name holds `unseen_question` or `unseen_entity`, as those of InfoSeek do.
    """
    listed = [(str(sample.metadata.get("data_split", "")), score) for sample, score in pairs]
    splits = [
        mean(s for name, s in listed if split in name).value for split in ("unseen_question", "unseen_entity")
    ]
    question, entity = splits
    return None if question is None or entity is None else harmonic_mean(question, entity)
