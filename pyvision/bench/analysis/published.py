"""The numbers that others published for a dataset, out of its row in the table of datasets."""

from __future__ import annotations

from pathlib import Path

from pyvision.bench.analysis.report import Reference
from pyvision.bench.store import Store
from pyvision.errors import ConfigError


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
