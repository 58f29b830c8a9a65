"""Where an experiment stands: counts, the accuracy so far, what it cost."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from pyvision.bench.samples import INFRASTRUCTURE, UNGRADED, Record, Score
from pyvision.bench.store import Store


class RunningTotals:
    """Adds up records with their scores. `total`: how many there will be, None where nobody knows."""

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self.done = self.scored = self.without_cells = self.tokens = 0
        self.unscored: Counter[str] = Counter()  # by what failed
        self.cost: float | None = None
        self._value = 0.0
        self._ended_now = 0
        self._began = time.monotonic()

    def add(self, record: Record, score: Score, *, now: bool = True) -> None:
        """Count one record; now: it ended in this process, and so says something about its speed."""
        self.done += 1
        self._ended_now += now
        self.tokens += record.input_tokens + record.output_tokens
        if record.cost is not None:
            self.cost = (self.cost or 0.0) + record.cost
        if score.value is None:
            self.unscored[_kind(record, score)] += 1
        else:
            self.scored += 1
            self._value += score.value
            self.without_cells += record.cells == 0

    @property
    def accuracy(self) -> float | None:
        """The mean score of the scored records; None without any."""
        return self._value / self.scored if self.scored else None

    @property
    def per_second(self) -> float:
        """Records that ended in this process, by its time so far."""
        seconds = time.monotonic() - self._began
        return self._ended_now / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take at this speed; None where nobody can say."""
        if self.total is None or not self._ended_now:
            return None
        return max(0, self.total - self.done) / self.per_second

    def summary(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "total": self.total,
            "done": self.done,
            "scored": self.scored,
            "accuracy": self.accuracy,
            "unscored": dict(sorted(self.unscored.items())),
            "without_cells": self.without_cells,
            "tokens": self.tokens,
            "cost": self.cost,
        }


def running_totals_of(store: Store) -> RunningTotals:
    """All that a folder holds, by its default metric; a record that was never graded is unscored."""
    totals, scores = RunningTotals(store.total), store.scores()
    for record in store.records():
        score = scores.get((record.sample_id, record.repeat), UNGRADED)
        totals.add(record, score, now=False)
    return totals


def _kind(record: Record, score: Score) -> str:
    """What failed, in two or three words: `model_error`, `the metric failed`, `not results`."""
    return record.end_reason if record.end_reason in INFRASTRUCTURE else score.unscored or "no score"
