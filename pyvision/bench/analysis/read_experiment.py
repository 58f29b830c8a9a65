"""Read experiments from their folders for a report or a comparison."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.bench.analysis.compare import ComparedRun
from pyvision.bench.analysis.document import format_interval, format_percent
from pyvision.bench.analysis.report import Subject
from pyvision.bench.analysis.statistics import mean_interval
from pyvision.bench.analysis.taxonomy import count_tools
from pyvision.bench.datasets.registry import Reference
from pyvision.bench.experiment import reproduce_command
from pyvision.bench.grading import describe_metric
from pyvision.bench.judge import VERDICTS, Verdicts
from pyvision.bench.metrics.aggregate import ScoredSample, circular, infoseek
from pyvision.bench.samples import Result, Sample, Score, pair
from pyvision.bench.store import Store
from pyvision.errors import ConfigError
from pyvision.trajectory import EVENTS


@dataclass(frozen=True, slots=True)
class Experiment:
    """One finished or running experiment, with everything that its report says."""

    results: tuple[Result, ...]
    subject: Subject


def read_experiment(
    folder: Path, metric: str | None = None, *, references: tuple[Reference, ...] = ()
) -> Experiment:
    """Every record with its score, and what else a report says; reads all trajectories. Raises ConfigError."""
    with Store(folder) as store:
        results = _results(store, metric)
        configuration, used = store.configuration, metric or store.default_metric
        cards = {"harness": ", ".join(store.harnesses())} if store.harnesses() else {}
        tools = count_tools(code for each in results for code in _read_code(store, each))
        aggregated = describe_aggregates(used, results, store.samples())
    dataset = dataset_name(configuration)
    subject = Subject(
        title=f"{dataset or folder.name}: {configuration.get('strategy', 'experiment')}",
        dataset=dataset,
        configuration={"folder": str(folder), "metric": used, **cards, **configuration},
        command=reproduce_command(configuration),
        references=references,
        tools=tools,
        aggregated=aggregated,
        judges=Verdicts(folder / VERDICTS).usage_by_model(),
    )
    return Experiment(results, subject)


def read_results(folder: Path, metric: str | None = None) -> tuple[Result, ...]:
    """Every record with its score by the metric (NAME:FLAVOUR), or the default one.

    Raises ConfigError for a folder without an experiment or without any record.
    """
    with Store(folder) as store:
        return _results(store, metric)


def read_runs(folders: list[Path], metric: str | None = None) -> tuple[ComparedRun, ...]:
    """Runs for a comparison, named by their folders. Raises ConfigError for fewer than two."""
    if len(folders) < 2:
        raise ConfigError("a comparison needs two folders or more")
    short = [folder.resolve().name for folder in folders]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    check_comparable(folders, metric)
    return tuple(
        ComparedRun(name, read_results(folder, metric)) for name, folder in zip(names, folders, strict=True)
    )


def check_comparable(folders: Sequence[Path], metric: str | None = None) -> None:
    """Raises ConfigError for runs that were graded in different ways, or whose samples are not the same."""
    metrics: dict[str, Path] = {}
    questions: dict[str, tuple[int, Path]] = {}
    for folder in folders:
        with Store(folder) as store:
            metrics.setdefault(metric or store.default_metric or "", folder)
            for sample in store.samples():
                _check_same(sample, folder, questions)
    if len(metrics) > 1:
        listed = ", ".join(f"{folder} by {describe_metric(name)}" for name, folder in metrics.items())
        raise ConfigError(
            f"graded in different ways: {listed}; name a metric that all have (--metric), or `bench grade` all with one"
        )


def references_of(folder: Path) -> tuple[Reference, ...]:
    """Published results for the dataset of an experiment; empty if the dataset is not in the table.

    Raises ConfigError for a folder without an experiment.
    """
    with Store(folder) as store:
        dataset = store.configuration.get("dataset")
    if not isinstance(dataset, dict) or "name" not in dataset:  # a file or synthetic
        return ()
    from pyvision.bench.datasets.registry import find_dataset

    try:
        row = find_dataset(str(dataset["name"]))
    except ConfigError:  # from an older release, or a custom table
        return ()
    return row.references


def dataset_name(configuration: dict[str, Any]) -> str:
    """The name of the dataset in the table, or of its source; empty if there is none."""
    dataset = configuration.get("dataset")
    if not isinstance(dataset, dict):
        return str(dataset or "")
    return str(dataset.get("name") or dataset.get("source") or "")


def describe_aggregates(
    metric: str | None, results: Sequence[Result], samples: Iterable[Sample]
) -> tuple[str, ...]:
    """What a metric that is not a mean over rows gives for all of them, as sentences.

    It takes the first repeat of each sample.
    """
    describe = _AGGREGATES.get((metric or "").partition(":")[0])
    if describe is None:
        return ()
    by_id = {sample.id: sample for sample in samples}
    first = (each for each in results if each.record.repeat == 0)
    return describe([(by_id[each.record.sample_id], Score(each.value)) for each in first])


def _results(store: Store, metric: str | None) -> tuple[Result, ...]:
    results = pair(store.records(), store.scores(metric))
    if not results:
        raise ConfigError(
            f"{str(store.folder)!r}: no sample has been answered yet; `bench run` with the same settings continues"
        )
    return results


def _circular(pairs: Sequence[ScoredSample]) -> tuple[str, ...]:
    scores = [score.value for _, score in circular(pairs)]
    values = [(value,) for value in scores if value is not None]
    found = mean_interval(values)
    share = f"{format_percent(found.value)} % {format_interval(found)}" if found else "none has a score"
    return (
        f"Circular: of {len(scores)} questions, right in every rotation of their options: {share}; "
        f"{scores.count(None)} unscored. The table above counts single rows.",
    )


def _infoseek(pairs: Sequence[ScoredSample]) -> tuple[str, ...]:
    found = infoseek(pairs)
    mean = "unknown while one of the splits has no score" if found is None else f"{format_percent(found)} %"
    return (f"Harmonic mean of unseen question and unseen entity: {mean}.",)


_AGGREGATES: Mapping[str, Callable[[Sequence[ScoredSample]], tuple[str, ...]]] = {
    "circular": _circular,
    "infoseek": _infoseek,
}
"""Name of the metric -> what describes its result."""


def _check_same(sample: Sample, folder: Path, questions: dict[str, tuple[int, Path]]) -> None:
    question = hash((sample.text, sample.choices, repr(sample.target)))
    first, before = questions.setdefault(sample.id, (question, folder))
    if first != question:
        raise ConfigError(
            f"sample {sample.id!r} is not the same question in {folder} as in {before}; "
            "compare runs over the same samples"
        )


def _read_code(store: Store, result: Result) -> Iterator[str]:
    """The code of every cell of one record. Its images are not read: there may be thousands."""
    run = _run_folder(store, result)
    if run is None:
        return
    with (run / EVENTS).open(encoding="utf-8") as lines:
        for line in lines:
            if '"ran"' in line and (code := _parse_code(line)) is not None:
                yield code


def _parse_code(line: str) -> str | None:
    """The code if the line is the event of a cell; None for any other line, also a partial one."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return str(event["code"]) if isinstance(event, dict) and event.get("kind") == "ran" else None


def _run_folder(store: Store, result: Result) -> Path | None:
    """The folder of its trajectory; None if no cell ran, or it failed before it began."""
    record = result.record
    return store.run_folder(record.sample_id, record.repeat) if record.cells else None
