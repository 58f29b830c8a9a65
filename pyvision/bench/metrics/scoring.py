"""What all metrics share: their type, the scores they give, and how they read a sample's target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pyvision.bench.samples import Sample, Score
from pyvision.errors import ConfigError

Metric: TypeAlias = Callable[[str, Sample], Score]
"""From an answer (what the model boxed, or whole prose) and its sample to a score.

`Score.parsed` is None exactly when the rules found nothing that could be compared. Any text is scored; only a
sample whose target is not what the metric needs raises ConfigError.
"""


def score_equality(parsed: str | None, truth: object, *, right: bool, what: str = "answer") -> Score:
    """1 or 0 for what was found, with the comparison in words; 0 when nothing was."""
    if parsed is None:
        return Score(0.0, f"no {what} found")
    return Score(1.0, f"{parsed} is right", parsed) if right else Score(0.0, f"{parsed}, not {truth}", parsed)


def accepted_texts(sample: Sample) -> tuple[str, ...]:
    """The target as the texts that are right: one, or each of a list."""
    match sample.target:
        case str() | int() | float():
            return (str(sample.target),)
        case [*texts] if texts and all(isinstance(text, str | int | float) for text in texts):
            return tuple(str(text) for text in texts)
    raise unusable(sample, "a text, a number or a list of them")


def unusable(sample: Sample, needed: str) -> ConfigError:
    """The error for a target that the metric cannot compare with."""
    return ConfigError(
        f"sample {sample.id!r}: target {sample.target!r} cannot be scored; this metric needs {needed}"
    )


def numbers_in(target: Any, count: int) -> tuple[float, ...] | None:
    """The target as so many numbers, or None when it is something else."""
    match target:
        case Sequence() if not isinstance(target, str) and len(target) == count:
            numbers = [
                value for value in target if isinstance(value, int | float) and not isinstance(value, bool)
            ]
            return tuple(map(float, numbers)) if len(numbers) == count else None
    return None
