"""Score the answers of a run again: by the rules of a metric, or with a judge where they find nothing.

A judge's replies are stored in the run's folder before any score is written: if the judge fails or is interrupted,
none of them is lost, and the same command resumes from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

from pyvision.bench.grading import Grading, find_grading, grade, read_answers
from pyvision.bench.judge import VERDICTS, Judge, Verdicts
from pyvision.bench.runner.failures import check_model
from pyvision.bench.runner.recorder import Recorder
from pyvision.bench.samples import Score
from pyvision.bench.store import Store
from pyvision.errors import ModelError
from pyvision.models.factory import ResolvedModel, resolve_model

Key: TypeAlias = tuple[str, int]
Watch: TypeAlias = Callable[[int, int], None]
"""Called with the number of graded records and the number of all."""


def regrade(folder: Path, metric: str | None) -> None:
    """Score every record of a folder again, by this metric or the current one. Raises ConfigError."""
    with Store(folder) as store:
        grading = find_grading(metric or store.default_metric)
        scores, configured = grade(store, grading), store.configuration
    with Recorder(folder, configured, metric=grading.key) as recorder:
        recorder.write_scores(scores)


def judge_run(
    folder: Path,
    metric: str | None,
    resolved: ResolvedModel,
    *,
    workers: int = 4,
    watch: Watch = lambda done, total: None,
) -> None:
    """Score every record of a folder again, by this metric or the current one, then by the judge.

    workers: answers that are judged at once. Raises ConfigError, and ModelError if the judge cannot be reached, which
    leaves the scores unchanged.
    """
    judge = Judge(resolved.model, Verdicts(folder / VERDICTS))
    with Store(folder) as store:
        grading = find_grading(metric or store.default_metric, judge)
        try:
            scores = _scores(store, grading, workers, watch)
        except ModelError as error:
            raise ModelError(
                f"judge {judge.model.name}: {error}; its replies so far are stored: repeat the command to resume"
            ) from error
        configured = store.configuration
    with Recorder(folder, configured, metric=grading.key, secrets=resolved.secrets) as recorder:
        recorder.write_scores(scores)


@contextmanager
def open_judge(name: str) -> Iterator[ResolvedModel]:
    """The model of that name, as `--model` takes it, or of a configuration file (*.json). Raises ConfigError."""
    is_file = name.endswith(".json")
    resolved = resolve_model(None if is_file else name, name if is_file else None)
    with closing(resolved):
        yield resolved


@contextmanager
def open_checked_judge(name: str) -> Iterator[ResolvedModel]:
    """The same, after checking that it answers. Raises ConfigError, ModelError."""
    with open_judge(name) as resolved:
        check_model(resolved)
        yield resolved


def _scores(store: Store, grading: Grading, workers: int, watch: Watch) -> Mapping[Key, Score]:
    pool = ThreadPoolExecutor(workers)
    try:
        futures: dict[Key, Future[Score]] = {
            (record.sample_id, record.repeat): pool.submit(grading.score_or_raise, record, sample)
            for record, sample in read_answers(store)
        }
        scores = {}
        for done, (key, future) in enumerate(futures.items(), 1):
            scores[key] = future.result()
            watch(done, len(futures))
        return scores
    finally:
        pool.shutdown(cancel_futures=True)
