"""Whole experiments on disk, written as the runner writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyvision.bench.runner.answering import Finished, Job
from pyvision.bench.runner.recorder import Recorder
from pyvision.bench.samples import Record, Sample, Score
from pyvision.events import CellRun, Event, RunEnded, RunStarted
from pyvision.types import Outcome, Question, Usage
from sandbox import CellResult
from tests.doubles import figure, picture

CONFIGURATION: dict[str, Any] = {
    "dataset": {"kind": "synthetic", "source": "lines", "count": 4, "seed": 7, "difficulty": 0.5},
    "strategy": "code_loop",
    "model": {"wire": "offline"},
    "repeats": 1,
}
SHOWING = (CellRun("image_clue_0.crop((0, 0, 9, 9)).show()", CellResult("ok", (figure(9, 9),))),)


def write_experiment(
    folder: Path,
    values: Sequence[float | None],
    *,
    cells: Sequence[CellRun] = SHOWING,
    repeats: int = 1,
    **changes: Any,
) -> Path:
    """An experiment with a sample for each value, each answered so often. `changes` are of its records."""
    configuration = CONFIGURATION | changes.pop("configuration", {})
    with Recorder(folder, configuration, metric="integer:official") as recorder:
        for number, value in enumerate(values):
            for repeat in range(repeats):
                finished = _result(f"s{number}", repeat, cells, changes)
                recorder.write(finished, Score(value, parsed="4" if value else "5"))
    return folder


def _result(sample_id: str, repeat: int, cells: Sequence[CellRun], changes: dict[str, Any]) -> Finished:
    sample = Sample(sample_id, "How many?", (), 4, category="even" if sample_id[-1] in "02468" else "odd")
    figures_displayed = sum(len(cell.result.figures) for cell in cells)
    usual: dict[str, Any] = {
        "answer": "4",
        "end_reason": "answered",
        "cells": len(cells),
        "figures": figures_displayed,
    }
    record = Record(sample_id, repeat, sample.category, **usual | changes)
    began = RunStarted(Question("How many?", (picture(),)), "code_loop", {"default": "offline"})
    ended = RunEnded(Outcome("4", "answered"), Usage(), 1, len(cells), 0.1)
    events: tuple[Event, ...] = (began, *cells, ended)
    return Finished(Job(sample, repeat), record, events)
