"""Results that are no mean over rows: circular questions, and the harmonic mean of InfoSeek's splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyvision.bench.analysis.document import interval, percent
from pyvision.bench.analysis.statistics import mean_interval
from pyvision.bench.metrics.aggregate import infoseek
from pyvision.bench.metrics.circular import Scored, circular
from pyvision.bench.results import Result
from pyvision.bench.samples import Score
from pyvision.bench.store import Store


def aggregate_results(folder: Path, metric: str | None, results: Sequence[Result]) -> tuple[str, ...]:
    """What the metric makes of all rows together, a sentence each; of the first repeat of each sample."""
    join = _AGGREGATED.get((metric or "").partition(":")[0])
    if join is None:
        return ()
    with Store(folder) as store:
        samples = {sample.id: sample for sample in store.samples()}
    first = (each for each in results if each.record.repeat == 0)
    return join([(samples[each.record.sample_id], Score(each.value)) for each in first])


def _circular(pairs: Sequence[Scored]) -> tuple[str, ...]:
    scores = [score.value for _, score in circular(pairs)]
    values = [(value,) for value in scores if value is not None]
    found = mean_interval(values)
    told = f"{percent(found.value)} % {interval(found)}" if found else "none has a score"
    return (
        f"Circular: of {len(scores)} questions, those that are right in every rotation of their options: {told}; "
        f"{scores.count(None)} unscored. The table above counts single rows.",
    )


def _infoseek(pairs: Sequence[Scored]) -> tuple[str, ...]:
    found = infoseek(pairs)
    told = "not known while one of the splits has no score" if found is None else f"{percent(found)} %"
    return (f"Harmonic mean of unseen question and unseen entity: {told}.",)


_AGGREGATED: Mapping[str, Callable[[Sequence[Scored]], tuple[str, ...]]] = {
    "circular": _circular,
    "infoseek": _infoseek,
}
"""By the name of the metric."""
