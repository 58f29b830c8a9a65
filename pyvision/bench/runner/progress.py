"""The progress of an experiment: running totals, shown on standard error as a bar or as plain lines."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pyvision.bench.runner.answering import Finished
from pyvision.bench.samples import INFRASTRUCTURE, UNGRADED, Record, Score
from pyvision.bench.store import Store
from pyvision.text.sanitize import printable

if TYPE_CHECKING:
    from rich.console import Console


_EVERY_S = 10.0  # between plain lines
_ERROR_CHARS = 200


class ExperimentProgress:
    """Watches a run; a context manager. The run continues when standard error can no longer be written."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console as RichConsole

        self._console = console or RichConsole(stderr=True, highlight=False)
        self._bar: Any = None
        self._task: Any = None
        self._printed_at = time.monotonic()
        self._totals: RunningTotals | None = None

    def begin(self, folder: Path, totals: RunningTotals) -> None:
        """Print where the results go, and how many there are already."""
        self._totals = totals
        self.tell(f"{totals.done:,} of {_format_total(totals)} done · {folder}")
        if self._bar is not None:
            if self._task is not None:  # the run went on after a pause
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task("", total=totals.total, completed=totals.done)

    def show(self, finished: Finished, score: Score, totals: RunningTotals) -> None:
        """Update the bar or the status; infrastructure failures and unscored samples get a line."""
        record = finished.record
        if record.end_reason in INFRASTRUCTURE:
            why = (record.error or "").strip().rpartition("\n")[2][:_ERROR_CHARS]
            self.tell(f"{record.sample_id} ({record.repeat}): {record.end_reason}: {why}", "red")
        elif score.value is None:
            self.tell(
                f"{record.sample_id} ({record.repeat}): not scored: {score.why[:_ERROR_CHARS]}", "yellow"
            )
        if self._bar is not None:
            self._bar.update(self._task, completed=totals.done, description=format_status(totals))
        elif time.monotonic() - self._printed_at >= _EVERY_S:
            self._print_status()

    def tell(self, line: str, style: str = "") -> None:
        """Print the text as one line, without control characters."""
        from rich.text import Text

        try:
            self._console.print(Text(" ".join(printable(line).split()), style=style), soft_wrap=True)
        except (OSError, SystemExit):  # a closed terminal; rich makes a SystemExit of a broken pipe
            self._console.quiet = True

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar = _make_bar(self._console)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._print_status()

    def _print_status(self) -> None:
        self._printed_at = time.monotonic()
        if self._totals is not None:
            self.tell(
                f"{self._totals.done:,} of {_format_total(self._totals)} · {format_status(self._totals)}"
            )


def print_counts(what: str) -> Callable[[int, int], None]:
    """A callback that prints `WHAT N of M` on standard error every ten seconds."""
    printed_at = time.monotonic()

    def watch(done: int, total: int) -> None:
        nonlocal printed_at
        if time.monotonic() - printed_at >= _EVERY_S:
            printed_at = time.monotonic()
            print(f"{what} {done:,} of {total:,}", file=sys.stderr)  # noqa: T201 - where progress goes

    return watch


def format_status(totals: RunningTotals) -> str:
    """Accuracy, failures, cost, rate and what is left, in one line."""
    parts = [
        "nothing scored yet" if totals.accuracy is None else f"accuracy {totals.accuracy:.1%}",
        f"{sum(totals.unscored.values()):,} unscored" if totals.unscored else "",
        f"cost {totals.cost:.4g}" if totals.cost is not None else "",
        f"{totals.per_second * 60:,.1f}/min" if totals.per_second else "",
        f"{_format_duration(totals.seconds_left)} left" if totals.seconds_left else "",
    ]
    return " · ".join(part for part in parts if part)


def _format_total(totals: RunningTotals) -> str:
    return "?" if totals.total is None else f"{totals.total:,}"


def _format_duration(seconds: float | None) -> str:
    whole = round(seconds or 0)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {whole % 60:02} s" if minutes else f"{whole} s"


def _make_bar(console: Console) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    return Bar(*columns, console=console, transient=True)


class RunningTotals:
    """Adds up records with their scores. `total`: the expected number of records; None if unknown."""

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self.done = self.scored = self.without_cells = self.tokens = 0
        self.unscored: Counter[str] = Counter()  # by reason
        self.cost: float | None = None
        self._value = 0.0
        self._ended_now = 0
        self._began = time.monotonic()

    def add(self, record: Record, score: Score, *, now: bool = True) -> None:
        """Count one record. now: it ended in this process, and counts towards the rate."""
        self.done += 1
        self._ended_now += now
        self.tokens += record.input_tokens + record.output_tokens
        if record.cost is not None:
            self.cost = (self.cost or 0.0) + record.cost
        if score.value is None:
            self.unscored[_name_failure(record, score)] += 1
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
        """Rate of records that ended in this process."""
        seconds = time.monotonic() - self._began
        return self._ended_now / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take at this rate; None if unknown."""
        if self.total is None or not self._ended_now:
            return None
        return max(0, self.total - self.done) / self.per_second

    def summary(self) -> dict[str, Any]:
        """The totals as JSON values."""
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


def read_running_totals(store: Store) -> RunningTotals:
    """The totals of a folder by its default metric; ungraded records count as unscored."""
    totals, scores = RunningTotals(store.total), store.scores()
    for record in store.records():
        score = scores.get((record.sample_id, record.repeat), UNGRADED)
        totals.add(record, score, now=False)
    return totals


def _name_failure(record: Record, score: Score) -> str:
    """What failed, such as `model_error` or `the metric failed`."""
    return record.end_reason if record.end_reason in INFRASTRUCTURE else score.unscored or "no score"
