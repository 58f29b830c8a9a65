"""Read the scores of several texts out of a model's reply: a list in their order, or an object that names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyvision.errors import FormatError
from pyvision.text.parsing import number_of, values_in

_FULL = 100.0  # what the prompt asks for


def scores_in(text: str, texts: Sequence[str]) -> tuple[float, ...]:
    """One score from 0 to 1 for each text; the last list or object of the reply that has them all counts.

    Scores are per cent; fractions that are all at most 1 are taken as they stand. Raises FormatError.
    """
    found = [scores for value in values_in(text) if (scores := _scores(value, texts))]
    if not found:
        raise FormatError(f"the reply does not hold {len(texts)} scores: {text.strip()!r:.120}")
    scores = found[-1]
    if not all(0 <= score <= _FULL for score in scores):
        raise FormatError(f"scores from 0 to {_FULL:.0f} were asked for, the reply has {list(scores)!r:.120}")
    is_share = all(score <= 1 for score in scores) and any(0 < score < 1 for score in scores)
    return scores if is_share else tuple(score / _FULL for score in scores)


def _scores(value: Any, texts: Sequence[str]) -> tuple[float, ...] | None:
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(inner := next(iter(value.values())), list):
            return _scores(inner, texts)
        value = [value.get(text) for text in texts]
    if len(value) != len(texts):
        return None
    numbers = [number_of(each.get("score") if isinstance(each, dict) else each) for each in value]
    return tuple(number for number in numbers if number is not None) if None not in numbers else None
