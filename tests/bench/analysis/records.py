"""Records made on the spot for tests of analyses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyvision.bench.samples import Record, Result, Score


def results(
    sample: str = "s0", value: float | None = 1.0, *, repeat: int = 0, why: str = "", **fields: Any
) -> Result:
    """One record with its score; what is not named is plain."""
    plain: dict[str, Any] = {"category": "", "answer": "4", "end_reason": "answered"}
    return Result(Record(sample_id=sample, repeat=repeat, **plain | fields), Score(value, why))


def run_of(values: Iterable[float | None], **fields: Any) -> list[Result]:
    """One record a sample, named s0, s1 … in order."""
    return [results(f"s{number}", value, **fields) for number, value in enumerate(values)]
