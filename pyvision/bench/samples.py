"""The values of a benchmark: a sample with its truth, a score, the record of an answer, and both as one result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyvision.errors import EndReason


@dataclass(frozen=True, slots=True)
class Sample:
    """One question of a benchmark with its truth. All values can be written as JSON.

    images: encoded images, or paths, which are read when the sample is answered, not before.
    target: what the dataset's metric compares with: a text, a number, a list of accepted answers, a box
    [left, top, right, bottom] in pixels from the top left, an option letter.
    category: what the report groups by; `a/b` for a category and its sub-category.
    """

    id: str
    text: str
    images: tuple[bytes | Path, ...]
    target: Any
    choices: tuple[str, ...] = ()
    context: str = ""
    category: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """The judge that a score came from. verdict: None where none could be read.

    prompt: the file of its prompt. version: the first digits of that file's hash.
    """

    model: str
    prompt: str
    version: str
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Score:
    """How right an answer is, from 0 to 1. None: not scored, for a reason other than the model; never zero.

    parsed: what the metric found in the answer. why: how it came to the value, in a few words. judge: None for a score
    by the rules. unscored: what failed if there is no value, in two or three words that can be counted.
    """

    value: float | None
    why: str = ""
    parsed: str | None = None
    judge: JudgeInfo | None = None
    unscored: str | None = None


UNGRADED = Score(None, "not graded", unscored="not graded")


@dataclass(frozen=True, slots=True)
class Record:
    """One answer to one sample, without its score: the input of reports, comparisons and audits."""

    sample_id: str
    repeat: int  # from 0
    category: str
    answer: str | None
    end_reason: EndReason
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None  # by the user's price table
    seconds: float = 0.0
    turns: int = 0
    cells: int = 0
    figures: int = 0  # displayed by cells
    sent_pixels: int = 0  # of the images in all requests together


INFRASTRUCTURE: frozenset[EndReason] = frozenset({"model_error", "sandbox_error", "interrupted", "error"})
"""End reasons that say nothing about the model: such records are counted as unscored, never as zero."""


@dataclass(frozen=True, slots=True)
class Result:
    """One answer and how right it is."""

    record: Record
    score: Score

    @property
    def value(self) -> float | None:
        """From 0 to 1; None for a failure of the infrastructure, even if a score was written."""
        return None if self.record.end_reason in INFRASTRUCTURE else self.score.value

    @property
    def tokens(self) -> int:
        """Input and output tokens of this answer."""
        return self.record.input_tokens + self.record.output_tokens


def pair(records: Iterable[Record], scores: Mapping[tuple[str, int], Score]) -> tuple[Result, ...]:
    """Every record with its score, in order; one that was never graded is unscored, not omitted."""
    return tuple(
        Result(record, scores.get((record.sample_id, record.repeat), UNGRADED)) for record in records
    )


def group_by_sample(results: Iterable[Result]) -> dict[str, tuple[Result, ...]]:
    """Sample id -> its repeats, in the order of their numbers."""
    found: dict[str, list[Result]] = {}
    for each in results:
        found.setdefault(each.record.sample_id, []).append(each)
    return {key: tuple(sorted(group, key=lambda one: one.record.repeat)) for key, group in found.items()}


def values_by_sample(results: Iterable[Result]) -> dict[str, tuple[float, ...]]:
    """Sample id -> the values of its scored repeats; a sample without any is omitted."""
    groups = {key: _values(group) for key, group in group_by_sample(results).items()}
    return {key: values for key, values in groups.items() if values}


def _values(group: Sequence[Result]) -> tuple[float, ...]:
    return tuple(each.value for each in group if each.value is not None)
