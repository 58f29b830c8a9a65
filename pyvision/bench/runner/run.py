"""Run or resume an experiment: every sample is answered, recorded, graded and counted.

The first Ctrl-C, SIGTERM or SIGHUP lets running samples finish; the second stops at once.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Protocol, Self

from pyvision.agent.task import Task
from pyvision.bench.experiment import configuration, default_folder
from pyvision.bench.grading import Grading, check_metric, find_grading, grade
from pyvision.bench.harness_card import harness_card
from pyvision.bench.runner.answering import Finished, Hooks, Job, SampleEngine
from pyvision.bench.runner.engine import find_engine
from pyvision.bench.runner.failures import check_models, check_open_files, wait_for_models
from pyvision.bench.runner.plan import Plan
from pyvision.bench.runner.progress import RunningTotals
from pyvision.bench.runner.recorder import FinishedSample, Recorder
from pyvision.bench.runner.run_folders import first_run_name
from pyvision.bench.samples import INFRASTRUCTURE, UNGRADED, Score
from pyvision.bench.store import Store
from pyvision.errors import EndReason, ModelError, PyVisionError
from pyvision.events import PassingEvent, ReplyRestarted

_MAX_FAILURES = 12  # infrastructure failures in a row, with up to four workers
_GRACE_S = 24.0  # for running samples; together with the time an engine takes to stop them, under 30
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ADOPTED_AT_ONCE = 200  # runs that are held in memory
_LONG_WAIT_S = 60.0  # for an endpoint that asked for it


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """was_stopped: a signal ended the run before all samples were answered."""

    folder: Path
    was_stopped: bool


class Stopped(PyVisionError):  # noqa: N818 - it reports an end, not a fault of the caller
    """The run ended early because every other sample would fail too; running it again resumes it."""

    def __init__(self, end_reason: EndReason, message: str) -> None:
        super().__init__(message)
        self.end_reason = end_reason


class Watcher(Protocol):
    """Receives the progress of a run, such as `pyvision.bench.runner.progress.ExperimentProgress`."""

    def begin(self, folder: Path, totals: RunningTotals) -> None: ...

    def show(self, finished: Finished, score: Score, totals: RunningTotals) -> None: ...

    def tell(self, line: str) -> None: ...


def run(plan: Plan, watcher: Watcher, *, sleep: Callable[[float], None] = time.sleep) -> ExperimentResult:
    """Run the plan to its end, or until a signal. If it `waits`, what failed before a pause is answered after it.

    Raises ConfigError before any model is called; ModelError or sandbox.SandboxError when a model or the sandbox
    does not work from the start; Stopped when it fails later; RunFolderError when a result cannot be written.
    """
    while True:
        ran, has_more = _run_once(plan, watcher, sleep)
        if not has_more:
            return ran


def _run_once(plan: Plan, watcher: Watcher, sleep: Callable[[float], None]) -> tuple[ExperimentResult, bool]:
    """Run what is left of the plan. The second value: whether a pause left failures that are worth another run."""
    open_engine = find_engine(plan.engine)
    with plan.task() as task:
        grading = find_grading(plan.metric or plan.source.metric)
        _check(plan, grading)
        if plan.engine == "threads":
            check_open_files(plan.workers, runs_code=task.strategy.runs_code)
        with _recorder(plan, task, grading) as recorder:
            _grade_recorded(recorder, grading)
            _adopt_runs(recorder, plan, grading)
            totals, jobs = _read_state(recorder, plan)
            watcher.begin(recorder.folder, totals)
            first = next(jobs, None)
            if first is None:
                return ExperimentResult(recorder.folder, was_stopped=False), False
            check_models(task)
            waits = _LongWaits(watcher.tell)
            with open_engine(plan, task, Hooks(recorder.open_replies, waits.watch)) as engine:
                driver = _Driver(engine, recorder, grading, totals, watcher)
                if plan.waits:
                    driver.wait = partial(wait_for_models, task, watcher.tell, sleep=sleep)
                was_stopped = driver.drive(chain((first,), jobs), max(_MAX_FAILURES, 3 * plan.workers))
            return ExperimentResult(recorder.folder, was_stopped), driver.recovered and not was_stopped


def _check(plan: Plan, grading: Grading) -> None:
    """Raises ConfigError for what would otherwise be noticed after a folder is made, or a sample is answered."""
    if plan.swap_from is not None:
        Store(plan.swap_from).close()
    if grading.is_by_sample and plan.source.is_local:
        for sample in plan.source.samples(plan.limit):
            check_metric(sample)


@contextmanager
def _recorder(plan: Plan, task: Task, grading: Grading) -> Iterator[Recorder]:
    configured = configuration(plan, task)
    count = plan.count()
    with Recorder(
        plan.folder or default_folder(plan, task, configured),
        configured,
        metric=grading.key,
        total=None if count is None else count * plan.repeats,
        harness=harness_card(task),
        secrets=task.secrets,
    ) as recorder:
        yield recorder


def _grade_recorded(recorder: Recorder, grading: Grading) -> None:
    """Grade earlier records that the metric has not graded yet."""
    results = recorder.scores(grading.key).keys() if grading.key in recorder.metrics() else set()
    if not recorder.attempts().keys() <= results:
        recorder.write_scores(grade(recorder, grading))


def _adopt_runs(recorder: Recorder, plan: Plan, grading: Grading) -> None:
    """Record what is complete on the disk and has no record, so that no answer is paid for twice."""
    orphans = recorder.runs_without_record()
    if not orphans:
        return
    entries = (
        recorder.adopt(job, orphans[name], grading.score)
        for job in _pending_jobs(plan, recorder.find_finished(), recorder.attempts())
        if (name := first_run_name(job)) in orphans
    )
    found = (entry for entry in entries if entry is not None)
    while adopted := tuple(islice(found, _ADOPTED_AT_ONCE)):
        recorder.commit(adopted)


class _Driver:
    """The main loop, which alone writes results."""

    def __init__(
        self,
        engine: SampleEngine,
        recorder: Recorder,
        grading: Grading,
        totals: RunningTotals,
        watcher: Watcher,
    ) -> None:
        self._engine = engine
        self._recorder = recorder
        self._grading = grading
        self._totals = totals
        self._watcher = watcher
        self._in_a_row = 0
        self._reason: Stopped | None = None
        self.wait: Callable[[Callable[[], bool]], bool] | None = None  # for models that fail
        self._is_waited_for = False  # and no sample has been answered since
        self.recovered = False  # a sample was answered after a pause

    def drive(self, jobs: Iterator[Job], max_failures: int) -> bool:
        """Answer and record every job. Returns whether a signal ended it early.

        Raises Stopped after a fatal failure, or after `max_failures` infrastructure failures in a row. If models failed
        and are waited for, only when nothing is answered after the pause either.
        """
        with _SignalHandler(self._engine, self._watcher.tell) as signals:
            for entries in self._engine.answer(jobs, self._prepare):
                for entry in self._recorder.commit(entries):
                    self._count(entry)
                    if self._reason is None:
                        self._reason = self._find_reason(entry.finished, max_failures)
                        if self._reason is not None and not self._pause(signals):
                            signals.drain()
        if self._reason is not None:
            raise self._reason
        return signals.seen

    def _prepare(self, finished: Finished) -> FinishedSample:
        return self._recorder.prepare(finished, self._grading.score)

    def _count(self, entry: FinishedSample) -> None:
        self._totals.add(entry.finished.record, entry.score)
        self._watcher.show(entry.finished, entry.score, self._totals)

    def _find_reason(self, finished: Finished, max_failures: int) -> Stopped | None:
        """Why every other sample would fail too, if that is so."""
        record = finished.record
        if finished.fatal is not None:
            self._in_a_row = 0
            reason: EndReason = "model_error" if isinstance(finished.fatal, ModelError) else record.end_reason
            return Stopped(reason, str(finished.fatal))
        if record.end_reason not in INFRASTRUCTURE or record.end_reason == "interrupted":
            self._in_a_row = 0
            if self._is_waited_for and record.end_reason != "interrupted":
                self._is_waited_for, self.recovered = False, True
            return None
        self._in_a_row += 1
        if self._in_a_row < max_failures:
            return None
        last = (record.error or "").strip().rpartition("\n")[2]
        return Stopped(record.end_reason, f"{self._in_a_row} samples in a row failed, the last with: {last}")

    def _pause(self, signals: _SignalHandler) -> bool:
        """Wait for models that failed; the engine takes no sample meanwhile. Returns whether the run continues."""
        reason = self._reason
        if self.wait is None or self._is_waited_for or reason is None or self._in_a_row == 0:
            return False
        if reason.end_reason != "model_error":
            return False
        self._watcher.tell(str(reason))
        self._reason = None
        if self.wait(lambda: signals.seen):
            self._in_a_row, self._is_waited_for = 0, True
        return True  # also after a signal, which has drained the engine


class _LongWaits:
    """Reports that an endpoint asked for a long wait: once for all samples that wait at the same time."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._until = 0.0
        self._lock = threading.Lock()

    def watch(self, event: PassingEvent) -> None:
        """Called in the threads of the samples."""
        if not isinstance(event, ReplyRestarted) or event.wait_s < _LONG_WAIT_S:
            return
        now = time.monotonic()
        with self._lock:
            is_new, self._until = now >= self._until, max(self._until, now + event.wait_s)
        if is_new:
            self._tell(f"{event.why}; samples wait, up to {event.wait_s:,.0f} s")


def _read_state(recorder: Recorder, plan: Plan) -> tuple[RunningTotals, Iterator[Job]]:
    """The totals so far, and the jobs that are left. Infrastructure failures are retried."""
    totals = RunningTotals(recorder.total)
    finished, scores = recorder.find_finished(), recorder.scores()
    for record in recorder.records():
        key = (record.sample_id, record.repeat)
        if key in finished:
            totals.add(record, scores.get(key, UNGRADED), now=False)
    return totals, _pending_jobs(plan, finished, recorder.attempts())


def _pending_jobs(
    plan: Plan, finished: set[tuple[str, int]], attempts: Mapping[tuple[str, int], int]
) -> Iterator[Job]:
    for sample in plan.samples():
        for repeat in range(plan.repeats):
            key = (sample.id, repeat)
            if key not in finished:
                yield Job(sample, repeat, attempts.get(key, 0) + 1)


class _SignalHandler:
    """On the first signal, drains the engine, and stops its running samples after a grace period.

    The second signal raises KeyboardInterrupt. Does nothing outside the main thread, and leaves ignored signals
    ignored.
    """

    def __init__(self, engine: SampleEngine, tell: Callable[[str], None]) -> None:
        self.seen = False
        self._engine = engine
        self._tell = tell
        self._timer = threading.Timer(_GRACE_S, engine.stop)
        self._timer.daemon = True
        self._timer_started = False
        self._before: dict[signal.Signals, Any] = {}

    def drain(self) -> None:
        """Start no more samples; running ones have the grace period to end."""
        self._engine.drain()
        if not self._timer_started:
            self._timer_started = True
            self._timer.start()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
        self.drain()
        self._tell("no new samples; running ones have 30 seconds to finish, a second signal stops at once")
