"""Score the answers of a run once more: by the rules of a metric, or with a judge where they find nothing.

What a judge said is kept in the run's folder before any score is written: where the judge fails, or is interrupted,
nothing of it is lost, and the same command goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

from pyvision.bench.grading import Grading, answered, find_grading, grade
from pyvision.bench.metrics.judge import Judge
from pyvision.bench.metrics.verdicts import VERDICTS, Verdicts
from pyvision.bench.runner.failures import check_model
from pyvision.bench.runner.recorder import Recorder
from pyvision.bench.samples import Score
from pyvision.bench.store import Store
from pyvision.errors import ModelError
from pyvision.models.factory import ResolvedModel, resolve_model

Key: TypeAlias = tuple[str, int]
Watch: TypeAlias = Callable[[int, int], None]
"""Is told how many records of how many are graded."""


def regrade(folder: Path, metric: str | None) -> None:
    """Score every record of a folder again, by this metric or the one it has. Raises ConfigError."""
    with Store(folder) as store:
        grading = find_grading(metric or store.default_metric)
        scores, configured = grade(store, grading), store.configuration
    with Recorder(folder, configured, metric=grading.key) as recorder:
        recorder.write_scores(scores)


@contextmanager
def open_judge(name: str) -> Iterator[ResolvedModel]:
    """The model of that name, as `--model` takes it, or of a configuration file (*.json). Raises ConfigError."""
    is_file = name.endswith(".json")
    resolved = resolve_model(None if is_file else name, name if is_file else None)
    with closing(resolved):
        yield resolved


@contextmanager
def ready_judge(name: str) -> Iterator[ResolvedModel]:
    """The same, after it was asked whether it is there. Raises ConfigError, ModelError."""
    with open_judge(name) as resolved:
        check_model(resolved)
        yield resolved


def judge_run(
    folder: Path,
    metric: str | None,
    resolved: ResolvedModel,
    *,
    workers: int = 4,
    watch: Watch = lambda done, total: None,
) -> None:
    """Score every record of a folder again, by this metric or the one it has, and the judge after it.

    workers: answers that are judged at once. Raises ConfigError; ModelError when the judge cannot be reached: then
    the scores are as they were.
    """
    judge = Judge(resolved.model, Verdicts(folder / VERDICTS))
    with Store(folder) as store:
        grading = find_grading(metric or store.default_metric, judge)
        try:
            scores = _scores(store, grading, workers, watch)
        except ModelError as error:
            told = f"judge {judge.model.name}: {error}; what it said so far is kept, the same command goes on"
            raise ModelError(told) from error
        configured = store.configuration
    with Recorder(folder, configured, metric=grading.key, secrets=resolved.secrets) as recorder:
        recorder.write_scores(scores)


def _scores(store: Store, grading: Grading, workers: int, watch: Watch) -> Mapping[Key, Score]:
    pool = ThreadPoolExecutor(workers)
    try:
        asked: dict[Key, Future[Score]] = {
            (record.sample_id, record.repeat): pool.submit(grading.asked, record, sample)
            for record, sample in answered(store)
        }
        scores = {}
        for done, (key, future) in enumerate(asked.items(), 1):
            scores[key] = future.result()
            watch(done, len(asked))
        return scores
    finally:
        pool.shutdown(cancel_futures=True)
