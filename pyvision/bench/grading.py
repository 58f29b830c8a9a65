"""Grade answers: find the metric, and score an answer with it, or with a judge where its rules find nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pyvision.bench.metrics import Metric, find_metric, flavours_of
from pyvision.bench.samples import INFRASTRUCTURE, Record, Sample, Score
from pyvision.bench.store import Store
from pyvision.errors import ConfigError, ModelError, PyVisionError

if TYPE_CHECKING:
    from pyvision.bench.judge import Judge

BY_SAMPLE = "by_sample"
"""The metric of an experiment whose samples name their metrics, as `metadata["metric"]`."""

JUDGE = "+judge:"
"""Separates a metric from the name of the judge that is asked where its rules find nothing."""


@dataclass(frozen=True, slots=True)
class Grading:
    """A metric with the key that its scores are stored under: NAME:FLAVOUR or `by_sample`, with `+judge:MODEL`."""

    key: str
    metric: Metric

    @property
    def is_by_sample(self) -> bool:
        """Whether each sample names its own metric."""
        return self.key.partition(JUDGE)[0] == BY_SAMPLE

    def score(self, record: Record, sample: Sample) -> Score:
        """The score of a record; never raises, as the answer was paid for and can be graded again.

        An infrastructure failure is unscored. No answer, whatever the reason, is wrong.
        """
        try:
            return self.score_or_raise(record, sample)
        except ModelError as error:
            return _failure_score("the judge failed", str(error))

    def score_or_raise(self, record: Record, sample: Sample) -> Score:
        """The same, but a judge whose endpoint fails raises ModelError."""
        if record.end_reason in INFRASTRUCTURE:
            return Score(None, record.end_reason)
        if record.answer is None:
            return Score(0.0, f"no answer: {record.end_reason}")
        try:
            return self.metric(record.answer, sample)
        except ModelError:
            raise
        except PyVisionError as error:
            return _failure_score("the metric failed", str(error))
        except Exception as error:  # noqa: BLE001 - a metric must not end a run
            return _failure_score("the metric failed", f"{type(error).__name__}: {error}")


def find_grading(name: str | None, judge: Judge | None = None) -> Grading:
    """The grading by NAME[:FLAVOUR], or by what each sample names. Raises ConfigError for an unknown one.

    judge: asked where the rules find nothing. Without it, scores that came from a judge cannot be recomputed.
    """
    name, _, judged_by = (name or BY_SAMPLE).partition(JUDGE)
    if judged_by and judge is None:
        raise ConfigError(
            f"these scores came from the judge {judged_by!r}; choose a judge with --judge, "
            f"or the rules alone with --metric {name}"
        )
    rules = _by_rules(name, judge)
    return rules if judge is None else Grading(f"{rules.key}{JUDGE}{judge.model.name}", rules.metric)


def check_metric(sample: Sample) -> None:
    """Raises ConfigError if the sample names an unknown metric."""
    try:
        find_metric(*_metric_of(sample))
    except ConfigError as error:
        raise ConfigError(f"sample {sample.id!r}: {error}") from error


def grade(store: Store, grading: Grading) -> Mapping[tuple[str, int], Score]:
    """(sample id, repeat) -> score, for every record."""
    return {
        (record.sample_id, record.repeat): grading.score(record, sample)
        for record, sample in read_answers(store)
    }


def read_answers(store: Store) -> Iterator[tuple[Record, Sample]]:
    """Every record with its sample."""
    samples = {sample.id: sample for sample in store.samples()}
    for record in store.records():
        yield record, samples[record.sample_id]


def reason_unscored(record: Record, score: Score) -> str:
    """Why a record has no score; the same text for all records with the same reason."""
    if record.end_reason in INFRASTRUCTURE:
        return record.end_reason
    return score.why.replace(f"sample {record.sample_id!r}: ", "") or "no score"


def describe_metric(key: str | None) -> str:
    """The key of a metric as a phrase that can follow `by`."""
    rules, _, judge = (key or "no metric").partition(JUDGE)
    phrase = "each sample's own metric" if rules == BY_SAMPLE else rules
    return f"{phrase}, then the judge {judge}" if judge else phrase


def _by_rules(name: str, judge: Judge | None) -> Grading:
    if name == BY_SAMPLE:
        return Grading(BY_SAMPLE, partial(_by_sample, judge))
    stem, _, flavour = name.partition(":")
    return Grading(f"{stem}:{flavour or flavours_of(stem)[0]}", _find(stem, flavour or None, judge))


def _by_sample(judge: Judge | None, answer: str, sample: Sample) -> Score:
    name, flavour = _metric_of(sample)
    return _find(name, flavour, judge)(answer, sample)


def _metric_of(sample: Sample) -> tuple[str, str | None]:
    """The name and the flavour."""
    name, _, flavour = str(sample.metadata.get("metric") or _default_metric(sample)).partition(":")
    return name, flavour or None


def _find(name: str, flavour: str | None, judge: Judge | None) -> Metric:
    metric = find_metric(name, flavour)
    if judge is None:
        return metric
    from pyvision.bench.judge import with_judge

    return with_judge(name, metric, judge)


def _default_metric(sample: Sample) -> str:
    return "choice" if sample.choices else "text"


def _failure_score(what: str, error: str) -> Score:
    return Score(None, f"{what}: {error}"[:300], unscored=what)
