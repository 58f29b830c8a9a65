"""Circular evaluation (MMBench): a question is right when it is, with its options in every rotation.

Rotated rows share the id of their question. Two forms are known: `id#k`, ours, and VLMEvalKit's index = id + k * 1e6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from pyvision.bench.samples import Sample, Score

Scored: TypeAlias = tuple[Sample, Score]

_STEP = 1_000_000
_OURS = re.compile(r"(.+)#\d+", re.DOTALL)


def question_of(sample_id: str) -> str:
    """The id of the question that a rotated row belongs to: `12#3`, `3000012` and `12` belong to `12`."""
    if ours := _OURS.fullmatch(sample_id):
        return ours[1]
    if sample_id.isascii() and sample_id.isdigit() and len(sample_id) <= 18:
        return str(int(sample_id) % _STEP)
    return sample_id


def rotations(pairs: Iterable[Scored]) -> Mapping[str, Sequence[Scored]]:
    """The rows of each question, in the order in which the questions come first."""
    groups: dict[str, list[Scored]] = {}
    for sample, score in pairs:
        groups.setdefault(question_of(sample.id), []).append((sample, score))
    return groups


def circular(pairs: Iterable[Scored]) -> tuple[Scored, ...]:
    """One score a question, with the first of its rows: 1 when every rotation is right, 0 when one is wrong.

    Not scored (None) when none is wrong, but one is unscored, or there are fewer rows than options.
    """
    return tuple((rows[0][0], _together(rows)) for rows in rotations(pairs).values())


def _together(rows: Sequence[Scored]) -> Score:
    values = [score.value for _, score in rows]
    right = values.count(1.0)
    told = f"{right} of {len(rows)} rotations are right"
    if any(value is not None and value < 1 for value in values):
        return Score(0.0, told)
    missing = values.count(None) + max(0, len(rows[0][0].choices) - len(rows))
    return Score(None, f"{told}, {missing} have no score") if missing else Score(1.0, told)
