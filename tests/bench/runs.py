"""Doubles for tests of experiments: generated samples, a model that knows the answers, and a silent watcher."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyvision.bench.datasets.sources import SampleSource
from pyvision.bench.runner.answering import Finished
from pyvision.bench.runner.plan import Plan
from pyvision.bench.runner.progress import RunningTotals
from pyvision.bench.samples import Record, Sample, Score
from pyvision.bench.store import Store
from pyvision.types import Message, Reply, Sampling, Usage
from tests.doubles import png

PHOTO = png(64, 48, "navy")


def a_sample(number: int, **changes: Any) -> Sample:
    """Number 0, 3, 6 … have the answer A, and so on."""
    known: dict[str, Any] = {
        "id": f"sample {number}",
        "text": f"What is number {number}?",
        "images": (PHOTO,),
        "target": "ABC"[number % 3],
        "choices": ("one", "two", "three"),
        "category": "odd" if number % 2 else "even",
    }
    return Sample(**known | changes)


def source_of(*samples: Sample, metric: str | None = "choice:exact") -> SampleSource:
    return SampleSource(
        "made", {"kind": "made", "count": len(samples)}, lambda: samples, len(samples), metric
    )


def file_of(*samples: Sample) -> SampleSource:
    """As a file of the caller, whose samples name their metrics."""
    return SampleSource("rows.jsonl", {"kind": "file"}, lambda: samples)


def made(count: int) -> SampleSource:
    return source_of(*(a_sample(number) for number in range(count)))


class Knowing:
    """A model that answers `number N` with the Nth letter, or with what `says` holds; counts the questions."""

    name = "knowing"

    def __init__(self, says: Mapping[int, str | Exception] | None = None) -> None:
        self.says = says or {}
        self.asked: list[int] = []
        self.before: Callable[[int], None] = lambda number: None
        self._lock = threading.Lock()

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        found = re.search(r"number (\d+)", "\n".join(message.text for message in messages))
        if found is None:  # the preflight check
            return Reply("ready")
        number = int(found[1])
        with self._lock:
            self.asked.append(number)
        self.before(number)
        answer = self.says.get(number, f"\\boxed{{{'ABC'[number % 3]}}}")
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, Usage(10, 2))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield self.complete(messages, sampling)


class Quiet:
    """A watcher that collects what it gets."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.shown: list[Record] = []
        self.when_shown: Callable[[], None] = lambda: None

    def begin(self, folder: Path, totals: RunningTotals) -> None:
        self.lines.append(f"{totals.done} of {totals.total}")

    def show(self, finished: Finished, score: Score, totals: RunningTotals) -> None:
        self.shown.append(finished.record)
        self.when_shown()

    def tell(self, line: str) -> None:
        self.lines.append(line)


def a_plan(folder: Path, source: SampleSource, model: object, **changes: Any) -> Plan:
    settings = {"strategy": "direct", "model": model} | changes.pop("settings", {})
    return Plan(source, settings, folder=folder, **{"workers": 2} | changes)


def records_in(folder: Path) -> list[Record]:
    with Store(folder) as store:
        return sorted(store.records(), key=lambda record: (record.sample_id, record.repeat))


def contents(folder: Path) -> dict[tuple[str, int], tuple[Any, ...]]:
    """What two runs of one experiment must agree on."""
    with Store(folder) as store:
        scores = store.scores()
        return {
            (record.sample_id, record.repeat): (
                record.answer,
                record.end_reason,
                record.category,
                record.turns,
                scores[(record.sample_id, record.repeat)],
            )
            for record in store.records()
        }
