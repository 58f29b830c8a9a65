"""What of a dataset is here, what is to be fetched, and which extra is needed for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pyvision.bench.datasets.registry import Dataset, how_to_fetch, where

EXTRAS: Mapping[str, str] = {"data": "datasets", "ray": "ray", "parquet": "pyarrow"}
"""An optional extra of ours -> the package that it brings."""


@dataclass(frozen=True, slots=True)
class Availability:
    """file: where it lies; None while it is not here. ways: one sentence each, the preferred one first.

    state: the same in a few words. extra: that the hub needs, whether or not it is installed.
    """

    file: Path | None
    state: str
    ways: tuple[str, ...]
    extra: str | None


def availability_of(dataset: Dataset, environ: Mapping[str, str] = os.environ) -> Availability:
    """Looks for the file; nothing is read."""
    file = where(dataset, environ=environ)
    ways = () if file else tuple(how_to_fetch(dataset).splitlines())
    from_hub = any(place.hub for place in dataset.places)
    return Availability(file, "here" if file else _state(dataset), ways, "data" if from_hub else None)


def has_extra(extra: str) -> bool:
    """Whether the package of an extra is installed; it is not loaded."""
    return find_spec(EXTRAS[extra]) is not None


def _state(dataset: Dataset) -> str:
    kinds = {
        "fetch": any(place.url for place in dataset.places),
        "pyvision[data]": any(place.hub for place in dataset.places),
    }
    found = [kind for kind, is_there in kinds.items() if is_there]
    return " or ".join(found) or "make"
