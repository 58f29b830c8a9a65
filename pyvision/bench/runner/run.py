"""Run an experiment, or go on with it: every sample answered once, recorded, graded and counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from pyvision.bench.experiment import configuration, default_folder
from pyvision.bench.grading import Grading, find_grading, grade
from pyvision.bench.runner.engines import Engine, Finished, Job
from pyvision.bench.runner.engines.registry import open_engine
from pyvision.bench.runner.plan import Plan
from pyvision.bench.runner.preflight import check_models
from pyvision.bench.runner.recorder import Recorder
from pyvision.bench.runner.running_totals import RunningTotals
from pyvision.bench.runner.stopping import Stopping
from pyvision.bench.samples import INFRASTRUCTURE, UNGRADED, Score
from pyvision.bench.store import Store
from pyvision.errors import EndReason, ModelError, PyVisionError
from pyvision.solve import Task

_PATIENCE = 12  # infrastructure failures in a row, for one or a few workers


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What came of it. was_stopped: by a signal, before all samples were through."""

    folder: Path
    was_stopped: bool


class Stopped(PyVisionError):  # noqa: N818 - it reports an end, not a fault of the caller
    """The run ended early, as no sample could fare better; running it again goes on from there."""

    def __init__(self, end_reason: EndReason, message: str) -> None:
        super().__init__(message)
        self.end_reason = end_reason


class Watcher(Protocol):
    """Who is told how it goes; `pyvision.bench.runner.progress.Progress` is one."""

    def begin(self, folder: Path, totals: RunningTotals) -> None: ...

    def show(self, finished: Finished, score: Score, totals: RunningTotals) -> None: ...

    def tell(self, line: str) -> None: ...


def run(plan: Plan, watcher: Watcher) -> ExperimentResult:
    """Run the plan to its end, or to a signal.

    Raises ConfigError before anything was paid for; ModelError or sandbox.SandboxError when model or sandbox is
    dead from the start; Stopped when they die later; RunFolderError when the disk does not take a result.
    """
    with plan.task() as task:
        grading = find_grading(plan.metric or plan.source.metric)
        with _recorder(plan, task, grading) as recorder:
            _grade_recorded(recorder, grading)
            totals, jobs = _state(recorder.folder, plan)
            watcher.begin(recorder.folder, totals)
            first = next(jobs, None)
            if first is None:
                return ExperimentResult(recorder.folder, was_stopped=False)
            check_models(task)
            with open_engine(plan, task) as engine:
                driver = _Driver(engine, recorder, grading, totals, watcher)
                return ExperimentResult(
                    recorder.folder, driver.drive(chain((first,), jobs), max(_PATIENCE, 3 * plan.workers))
                )


@contextmanager
def _recorder(plan: Plan, task: Task, grading: Grading) -> Iterator[Recorder]:
    configured = configuration(plan, task)
    count = plan.count()
    with Recorder(
        plan.folder or default_folder(plan, task, configured),
        configured,
        metric=grading.key,
        total=None if count is None else count * plan.repeats,
        setup=task.config.shared() | {"dataset": configured["dataset"]},
        secrets=task.secrets,
    ) as recorder:
        yield recorder


def _grade_recorded(recorder: Recorder, grading: Grading) -> None:
    """Grade what is there already, if it was graded by another metric."""
    with Store(recorder.folder) as store:
        results = store.scores(grading.key).keys() if grading.key in store.metrics() else set()
        if store.attempts().keys() <= results:
            return
        scores = grade(store, grading)
    recorder.write_scores(scores)


class _Driver:
    """The loop: only it writes."""

    def __init__(
        self, engine: Engine, recorder: Recorder, grading: Grading, totals: RunningTotals, watcher: Watcher
    ) -> None:
        self._engine = engine
        self._recorder = recorder
        self._grading = grading
        self._totals = totals
        self._watcher = watcher
        self._in_a_row = 0
        self._reason: Stopped | None = None

    def drive(self, jobs: Iterator[Job], patience: int) -> bool:
        """Every job, recorded. Returns whether a signal ended it.

        Raises Stopped after a fatal failure, or as many infrastructure failures in a row as there is patience.
        """
        with Stopping(self._engine, self._watcher.tell) as stopping:
            for finished in self._engine.answer(jobs):
                self._keep(finished)
                if self._reason is None and (reason := self._judge(finished, patience)) is not None:
                    self._reason = reason
                    stopping.drain()
        if self._reason is not None:
            raise self._reason
        return stopping.seen

    def _keep(self, finished: Finished) -> None:
        score = self._grading.score(finished.record, finished.job.sample)
        self._recorder.write(finished, score)
        self._totals.add(finished.record, score)
        self._watcher.show(finished, score, self._totals)

    def _judge(self, finished: Finished, patience: int) -> Stopped | None:
        """Why no other sample can fare better, if that is so."""
        record = finished.record
        if finished.fatal is not None:
            reason: EndReason = "model_error" if isinstance(finished.fatal, ModelError) else record.end_reason
            return Stopped(reason, str(finished.fatal))
        if record.end_reason not in INFRASTRUCTURE or record.end_reason == "interrupted":
            self._in_a_row = 0
            return None
        self._in_a_row += 1
        if self._in_a_row < patience:
            return None
        last = (record.error or "").strip().rpartition("\n")[2]
        return Stopped(record.end_reason, f"{self._in_a_row} samples in a row failed, the last with: {last}")


def _state(folder: Path, plan: Plan) -> tuple[RunningTotals, Iterator[Job]]:
    """What is done already, and what is left to do. Infrastructure failures are tried again."""
    with Store(folder) as store:
        totals = RunningTotals(store.total)
        finished, attempts = store.finished(), store.attempts()
        scores = store.scores()
        for record in store.records():
            key = (record.sample_id, record.repeat)
            if key in finished:
                totals.add(record, scores.get(key, UNGRADED), now=False)
    return totals, _jobs(plan, finished, attempts)


def _jobs(
    plan: Plan, finished: set[tuple[str, int]], attempts: Mapping[tuple[str, int], int]
) -> Iterator[Job]:
    for sample in plan.samples():
        for repeat in range(plan.repeats):
            key = (sample.id, repeat)
            if key not in finished:
                yield Job(sample, repeat, attempts.get(key, 0) + 1)
