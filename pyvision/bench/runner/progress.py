"""Show how an experiment goes, on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pyvision.bench.runner.engines import Finished
from pyvision.bench.runner.running_totals import RunningTotals
from pyvision.bench.samples import INFRASTRUCTURE, Score
from pyvision.text.sanitize import printable

if TYPE_CHECKING:
    from rich.console import Console

_EVERY_S = 10.0  # between plain lines
_ERROR_CHARS = 200


class Progress:
    """A watcher of a run; enter it. A run goes on where nobody can listen any more."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console as RichConsole

        self._console = console or RichConsole(stderr=True, highlight=False)
        self._bar: Any = None
        self._task: Any = None
        self._told_at = time.monotonic()
        self._totals: RunningTotals | None = None

    def begin(self, folder: Path, totals: RunningTotals) -> None:
        """Say where the results go, and what is there already."""
        self._totals = totals
        self.tell(f"{totals.done:,} of {_total(totals)} done · {folder}")
        if self._bar is not None:
            self._task = self._bar.add_task("", total=totals.total, completed=totals.done)

    def show(self, finished: Finished, score: Score, totals: RunningTotals) -> None:
        """Count one sample; one that failed through no fault of the model gets a line."""
        record = finished.record
        if record.end_reason in INFRASTRUCTURE:
            why = (record.error or "").strip().rpartition("\n")[2][:_ERROR_CHARS]
            self.tell(f"{record.sample_id} ({record.repeat}): {record.end_reason}: {why}", "red")
        elif score.value is None:
            self.tell(
                f"{record.sample_id} ({record.repeat}): not scored: {score.why[:_ERROR_CHARS]}", "yellow"
            )
        if self._bar is not None:
            self._bar.update(self._task, completed=totals.done, description=status(totals))
        elif time.monotonic() - self._told_at >= _EVERY_S:
            self._tell_status()

    def tell(self, line: str, style: str = "") -> None:
        """One line, whatever is in it."""
        from rich.text import Text

        try:
            self._console.print(Text(" ".join(printable(line).split()), style=style), soft_wrap=True)
        except (OSError, SystemExit):  # a closed terminal; rich makes a SystemExit of a broken pipe
            self._console.quiet = True

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar = _bar(self._console)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._tell_status()

    def _tell_status(self) -> None:
        self._told_at = time.monotonic()
        if self._totals is not None:
            self.tell(f"{self._totals.done:,} of {_total(self._totals)} · {status(self._totals)}")


def counting(what: str) -> Callable[[int, int], None]:
    """Says `what N of M` on standard error every ten seconds."""
    told_at = time.monotonic()

    def watch(done: int, total: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= _EVERY_S:
            told_at = time.monotonic()
            print(f"{what} {done:,} of {total:,}", file=sys.stderr)  # noqa: T201 - where progress goes

    return watch


def status(totals: RunningTotals) -> str:
    """Accuracy, failures, cost, rate and what is left, in one line."""
    parts = [
        "nothing scored yet" if totals.accuracy is None else f"accuracy {totals.accuracy:.1%}",
        f"{sum(totals.unscored.values()):,} unscored" if totals.unscored else "",
        f"cost {totals.cost:.4g}" if totals.cost is not None else "",
        f"{totals.per_second * 60:,.1f}/min" if totals.per_second else "",
        f"{_duration(totals.seconds_left)} left" if totals.seconds_left else "",
    ]
    return " · ".join(part for part in parts if part)


def _total(totals: RunningTotals) -> str:
    return "?" if totals.total is None else f"{totals.total:,}"


def _duration(seconds: float | None) -> str:
    whole = round(seconds or 0)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {whole % 60:02} s" if minutes else f"{whole} s"


def _bar(console: Console) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    return Bar(*columns, console=console, transient=True)
