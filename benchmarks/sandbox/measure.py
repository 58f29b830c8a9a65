"""A measured value, and how the values of one row are taken: in turns, by the clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table. None: not measured, and `note` says why. `goal` is printed, not judged."""

    name: str
    unit: str
    ours: float | None
    plain: float | None = None
    goal: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours by plain, both in the same run."""
        return self.ours / self.plain if self.ours is not None and self.plain else None


def milliseconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def in_turns(rounds: int, *takers: Callable[[], T]) -> tuple[list[T], ...]:
    """What each taker gave in each round; they alternate, so that a busy machine is busy for all of them."""
    taken = [[taker() for taker in takers] for _ in range(rounds)]
    return tuple(list(values) for values in zip(*taken, strict=True))


def medians(columns: Iterable[Sequence[float]]) -> tuple[float, ...]:
    return tuple(statistics.median(column) for column in columns)


def percentile_95(values: Sequence[float]) -> float:
    """The value that 19 of 20 do not exceed, one that was measured."""
    return sorted(values)[-(-len(values) * 19 // 20) - 1]
