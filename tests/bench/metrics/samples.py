"""Samples made on the spot for tests of metrics."""

from __future__ import annotations

from typing import Any

from pyvision.bench.metrics import find_metric
from pyvision.bench.samples import Sample, Score


def sample(target: Any, *choices: str, name: str = "s1", category: str = "", **metadata: Any) -> Sample:
    """A question without images; what stands beside its choices is metadata."""
    return Sample(name, "What is it?", (), target, choices, category=category, metadata=metadata)


def score(name: str, answer: str, of: Sample, flavour: str | None = None) -> Score:
    """The answer by the metric of that name."""
    return find_metric(name, flavour)(answer, of)


def value(name: str, answer: str, of: Sample, flavour: str | None = None) -> float | None:
    return score(name, answer, of, flavour).value
