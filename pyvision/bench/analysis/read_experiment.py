"""Read experiments from their folders for a report or a comparison."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.bench.analysis.compare import Run
from pyvision.bench.analysis.document import interval, percent
from pyvision.bench.analysis.report import Reference, Subject
from pyvision.bench.analysis.statistics import mean_interval
from pyvision.bench.analysis.taxonomy import count_tools
from pyvision.bench.experiment import reproduce_command
from pyvision.bench.grading import in_words
from pyvision.bench.metrics.aggregate import ScoredSample, circular, infoseek
from pyvision.bench.metrics.judge import VERDICTS, Verdicts
from pyvision.bench.samples import Result, Sample, Score, pair
from pyvision.bench.store import Store
from pyvision.errors import ConfigError
from pyvision.trajectory import EVENTS


@dataclass(frozen=True, slots=True)
class Experiment:
    """One finished or running experiment with everything that a report tells of it."""

    results: tuple[Result, ...]
    subject: Subject


def read_experiment(
    folder: Path, metric: str | None = None, *, references: tuple[Reference, ...] = ()
) -> Experiment:
    """The same with what a report says of it; reads the trajectory of every record. Raises ConfigError."""
    results = read_results(folder, metric)
    with Store(folder) as store:
        configuration, used = store.configuration, metric or store.default_metric
        tools = count_tools(code for each in results for code in _code(store, each))
    dataset = dataset_name(configuration)
    subject = Subject(
        title=f"{dataset or folder.name}: {configuration.get('strategy', 'experiment')}",
        dataset=dataset,
        configuration={"folder": str(folder), "metric": used, **configuration},
        command=reproduce_command(configuration),
        references=references,
        tools=tools,
        aggregated=aggregate_results(folder, used, results),
        judges=Verdicts(folder / VERDICTS).used(),
    )
    return Experiment(results, subject)


def read_results(folder: Path, metric: str | None = None) -> tuple[Result, ...]:
    """Every record with its score by the metric (NAME:FLAVOUR), or the default one.

    Raises ConfigError for a folder without an experiment or without any record.
    """
    with Store(folder) as store:
        results = pair(store.records(), store.scores(metric))
    if not results:
        raise ConfigError(f"{str(folder)!r}: no sample has been answered yet; `bench run` goes on with it")
    return results


def read_runs(folders: list[Path], metric: str | None = None) -> tuple[Run, ...]:
    """Runs for a comparison, named by their folders. Raises ConfigError for fewer than two."""
    if len(folders) < 2:
        raise ConfigError("a comparison needs two folders or more")
    short = [folder.resolve().name for folder in folders]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    check_comparable(folders, metric)
    return tuple(Run(name, read_results(folder, metric)) for name, folder in zip(names, folders, strict=True))


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
        told = ", ".join(f"{folder} by {in_words(name)}" for name, folder in metrics.items())
        raise ConfigError(
            f"graded in different ways: {told}; name one metric that all have (--metric), or `bench grade` them alike"
        )


def references_of(folder: Path) -> tuple[Reference, ...]:
    """Those of the dataset that an experiment was run over; none where it is no row of the table.

    Raises ConfigError for a folder without an experiment.
    """
    with Store(folder) as store:
        dataset = store.configuration.get("dataset")
    if not isinstance(dataset, dict) or "name" not in dataset:  # a file, or generated: no row of the table
        return ()
    from pyvision.bench.datasets.registry import find_dataset

    try:
        row = find_dataset(str(dataset["name"]))
    except ConfigError:  # of an older release, or of somebody's own table
        return ()
    return tuple(Reference(each.model, each.value, each.source) for each in row.references)


def dataset_name(configuration: dict[str, Any]) -> str:
    """The name of a row of the dataset table, or of the source; empty where there is none."""
    dataset = configuration.get("dataset")
    if not isinstance(dataset, dict):
        return str(dataset or "")
    return str(dataset.get("name") or dataset.get("source") or "")


def aggregate_results(folder: Path, metric: str | None, results: Sequence[Result]) -> tuple[str, ...]:
    """What the metric makes of all rows together, a sentence each; of the first repeat of each sample."""
    join = _AGGREGATED.get((metric or "").partition(":")[0])
    if join is None:
        return ()
    with Store(folder) as store:
        samples = {sample.id: sample for sample in store.samples()}
    first = (each for each in results if each.record.repeat == 0)
    return join([(samples[each.record.sample_id], Score(each.value)) for each in first])


def _circular(pairs: Sequence[ScoredSample]) -> tuple[str, ...]:
    scores = [score.value for _, score in circular(pairs)]
    values = [(value,) for value in scores if value is not None]
    found = mean_interval(values)
    told = f"{percent(found.value)} % {interval(found)}" if found else "none has a score"
    return (
        f"Circular: of {len(scores)} questions, those that are right in every rotation of their options: {told}; "
        f"{scores.count(None)} unscored. The table above counts single rows.",
    )


def _infoseek(pairs: Sequence[ScoredSample]) -> tuple[str, ...]:
    found = infoseek(pairs)
    told = "not known while one of the splits has no score" if found is None else f"{percent(found)} %"
    return (f"Harmonic mean of unseen question and unseen entity: {told}.",)


_AGGREGATED: Mapping[str, Callable[[Sequence[ScoredSample]], tuple[str, ...]]] = {
    "circular": _circular,
    "infoseek": _infoseek,
}
"""By the name of the metric."""


def _check_same(sample: Sample, folder: Path, questions: dict[str, tuple[int, Path]]) -> None:
    asked = hash((sample.text, sample.choices, repr(sample.target)))
    first, before = questions.setdefault(sample.id, (asked, folder))
    if first != asked:
        raise ConfigError(
            f"sample {sample.id!r} is another question in {folder} than in {before}; compare runs over the same samples"
        )


def _code(store: Store, result: Result) -> Iterator[str]:
    """The code of every cell of one record. Its pictures are not read: there may be thousands."""
    run = _run(store, result)
    if run is None:
        return
    with (run / EVENTS).open(encoding="utf-8") as lines:
        for line in lines:
            if '"ran"' in line and (code := _code_in(line)) is not None:
                yield code


def _code_in(line: str) -> str | None:
    """The code, if the line tells of a cell; a line that was cut short tells of nothing."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return str(event["code"]) if isinstance(event, dict) and event.get("kind") == "ran" else None


def _run(store: Store, result: Result) -> Path | None:
    """Where its trajectory lies; None where no cell ran, or it failed before it began."""
    record = result.record
    return store.run_folder(record.sample_id, record.repeat) if record.cells else None
