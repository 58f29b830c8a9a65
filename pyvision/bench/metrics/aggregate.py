"""Metrics that are not a mean over rows: circular evaluation (MMBench), and the harmonic mean of InfoSeek's splits.

In circular evaluation a question is right when it is right with its options in every rotation. Rotated rows share the
id of their question, in one of two forms: `id#k` (ours), or VLMEvalKit's index = id + k * 1e6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from pyvision.bench.samples import Sample, Score

ScoredSample: TypeAlias = tuple[Sample, Score]

_STEP = 1_000_000
_ROTATED_ID = re.compile(r"(.+)#\d+", re.DOTALL)


def circular(pairs: Iterable[ScoredSample]) -> tuple[ScoredSample, ...]:
    """One score per question, with the first of its rows: 1 when every rotation is right, 0 when one is wrong.

    Not scored (None) when none is wrong, but one is unscored, or there are fewer rows than options.
    """
    return tuple((rows[0][0], _score_rotations(rows)) for rows in _group_rotations(pairs).values())


def question_of(sample_id: str) -> str:
    """The id of the question that a rotated row belongs to: `12#3`, `3000012` and `12` belong to `12`."""
    if rotated := _ROTATED_ID.fullmatch(sample_id):
        return rotated[1]
    if sample_id.isascii() and sample_id.isdigit() and len(sample_id) <= 18:
        return str(int(sample_id) % _STEP)
    return sample_id


def infoseek(pairs: Iterable[ScoredSample]) -> float | None:
    """The harmonic mean of both splits, which `metadata["data_split"]` names; None while one has no score.

    A split is one whose name contains `unseen_question` or `unseen_entity`, as those of InfoSeek do.
    """
    listed = [(str(sample.metadata.get("data_split", "")), score.value) for sample, score in pairs]
    question, entity = (
        [value for name, value in listed if split in name and value is not None]
        for split in ("unseen_question", "unseen_entity")
    )
    return harmonic_mean(fmean(question), fmean(entity)) if question and entity else None


def harmonic_mean(unseen_question: float, unseen_entity: float) -> float:
    """The result of InfoSeek from its two splits, both from 0 to 1 or both in percent; 0 when either is 0."""
    if unseen_question <= 0 or unseen_entity <= 0:
        return 0.0
    return 2 / (1 / unseen_question + 1 / unseen_entity)


def _group_rotations(pairs: Iterable[ScoredSample]) -> Mapping[str, Sequence[ScoredSample]]:
    """The rows of each question, in the order in which the questions come first."""
    groups: dict[str, list[ScoredSample]] = {}
    for sample, score in pairs:
        groups.setdefault(question_of(sample.id), []).append((sample, score))
    return groups


def _score_rotations(rows: Sequence[ScoredSample]) -> Score:
    values = [score.value for _, score in rows]
    right = values.count(1.0)
    summary = f"{right} of {len(rows)} rotations are right"
    if any(value is not None and value < 1 for value in values):
        return Score(0.0, summary)
    missing = values.count(None) + max(0, len(rows[0][0].choices) - len(rows))
    return Score(None, f"{summary}, {missing} have no score") if missing else Score(1.0, summary)
