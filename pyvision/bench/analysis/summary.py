"""The results of one experiment as numbers: accuracy by category, unscored records, cost, and judges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from pyvision.bench.analysis.statistics import Estimate, mean_interval
from pyvision.bench.grading import reason_unscored
from pyvision.bench.samples import JudgeInfo, Result, group_by_sample, values_by_sample
from pyvision.errors import EndReason


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """One category: `accuracy` is over its scored samples, None if there are none. `n` counts all records."""

    name: str
    n: int
    unscored: int
    accuracy: Estimate | None


@dataclass(frozen=True, slots=True)
class TotalUsage:
    """What all records used. `cached_tokens` are part of the input; seconds are per record.

    cost: of the records with a known price; `unpriced` counts the others.
    """

    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float
    unpriced: int
    seconds_median: float
    seconds_p95: float

    @property
    def cached_share(self) -> float:
        """Share of the input, from 0 to 1; 0 without input."""
        return self.cached_tokens / max(1, self.input_tokens)


@dataclass(frozen=True, slots=True)
class Working:
    """How the model worked, as means over the records; `without_cell` counts those in which no cell ran."""

    turns: float
    cells: float
    figures: float
    sent_pixels: float
    without_cell: int


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """The verdicts of one judge. prompts: each with the first digits of its hash. unreadable: not scored."""

    judge: str
    prompts: tuple[str, ...]
    asked: int
    right: int
    wrong: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One experiment. Truncated and refused answers are wrong; unscored records are counted separately.

    low and high: the accuracy if every unscored record were wrong, or right. remarked: answers with a remark from the
    strategy, for example that its search was cut short.
    """

    n: int
    samples: int
    repeats: int
    unscored: int
    accuracy: Estimate | None
    low: float
    high: float
    categories: tuple[CategoryRow, ...]
    end_reasons: Mapping[EndReason, int]
    unscored_reasons: Mapping[str, int]
    spending: TotalUsage
    working: Working
    judges: tuple[JudgeCounts, ...] = ()
    remarked: int = 0


def summarise(results: Sequence[Result]) -> Summary:
    """The numbers of one experiment; all zero without records."""
    groups = group_by_sample(results)
    values = [each.value for each in results if each.value is not None]
    unscored = len(results) - len(values)
    return Summary(
        n=len(results),
        samples=len(groups),
        repeats=max((len(group) for group in groups.values()), default=0),
        unscored=unscored,
        accuracy=accuracy(results),
        low=sum(values) / max(1, len(results)),
        high=(sum(values) + unscored) / max(1, len(results)),
        categories=_categories(results),
        end_reasons=dict(Counter(each.record.end_reason for each in results).most_common()),
        unscored_reasons=dict(
            Counter(
                reason_unscored(each.record, each.score) for each in results if each.value is None
            ).most_common()
        ),
        spending=_spending(results),
        working=_working(results),
        judges=judges_of(results),
        remarked=sum(each.record.answer is not None and bool(each.record.error) for each in results),
    )


def judges_of(results: Sequence[Result]) -> tuple[JudgeCounts, ...]:
    """One row per judge; none if the rules decided everything."""
    by_judge: dict[str, list[tuple[JudgeInfo, float | None]]] = {}
    for each in results:
        if (judge := each.score.judge) is not None:
            by_judge.setdefault(judge.model, []).append((judge, each.score.value))
    return tuple(_count_verdicts(judge, scores) for judge, scores in sorted(by_judge.items()))


def accuracy(results: Sequence[Result]) -> Estimate | None:
    """The mean over samples of the mean over their scored repeats; None if nothing is scored."""
    return mean_interval(list(values_by_sample(results).values()))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed (nearest rank); 0 for none."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _categories(results: Sequence[Result]) -> tuple[CategoryRow, ...]:
    """A row for each category, and one for each `a` above its `a/b`; none if all are the same."""
    names = sorted({name for each in results for name in _with_parents(each.record.category)})
    rows = (
        _category(name, [one for one in results if name in _with_parents(one.record.category)])
        for name in names
    )
    return tuple(rows) if len(names) > 1 else ()


def _with_parents(category: str) -> tuple[str, ...]:
    parts = category.split("/") if category else ["(none)"]
    return tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))


def _category(name: str, results: Sequence[Result]) -> CategoryRow:
    unscored = sum(each.value is None for each in results)
    return CategoryRow(name, len(results), unscored, accuracy(results))


def _spending(results: Sequence[Result]) -> TotalUsage:
    records = [each.record for each in results]
    prices = [record.cost for record in records if record.cost is not None]
    seconds = [record.seconds for record in records]
    return TotalUsage(
        input_tokens=sum(record.input_tokens for record in records),
        cached_tokens=sum(record.cached_tokens for record in records),
        output_tokens=sum(record.output_tokens for record in records),
        cost=math.fsum(prices),
        unpriced=len(records) - len(prices),
        seconds_median=median(seconds) if seconds else 0.0,
        seconds_p95=percentile(seconds, 0.95),
    )


def _working(results: Sequence[Result]) -> Working:
    records = [each.record for each in results]
    if not records:
        return Working(0.0, 0.0, 0.0, 0.0, 0)
    return Working(
        turns=fmean(record.turns for record in records),
        cells=fmean(record.cells for record in records),
        figures=fmean(record.figures for record in records),
        sent_pixels=fmean(record.sent_pixels for record in records),
        without_cell=sum(record.cells == 0 for record in records),
    )


def _count_verdicts(judge: str, scores: Sequence[tuple[JudgeInfo, float | None]]) -> JudgeCounts:
    values = [value for _, value in scores]
    return JudgeCounts(
        judge,
        tuple(sorted({f"{info.prompt} {info.version}" for info, _ in scores})),
        asked=len(scores),
        right=values.count(1.0),
        wrong=values.count(0.0),
        unreadable=values.count(None),
    )
