"""The registered datasets, from `datasets.json`: what each is, where its data is, and what others published on it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal

from pyvision.bench.datasets.hugging_face import is_commit
from pyvision.bench.datasets.readers import open_samples
from pyvision.bench.datasets.rows import Columns
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

_FILE = Path(__file__).with_name("datasets.json")
_FOLDER = "~/.cache/pyvision/data"
_VARIABLES = ("PYVISION_DATA", "LMUData")  # the second is VLMEvalKit's

EXTRAS: Mapping[str, str] = {"data": "datasets", "ray": "ray", "parquet": "pyarrow"}
"""Optional extra of pyvision -> the package that it installs."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A published result. value: in percent. source: paper and table, and which part of the dataset."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    model: str
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Place:
    """One source of the data.

    file: its name in a data folder. hub: `owner/name[/config]` on the Hugging Face hub, with a revision and a split.
    columns: None for those that the reader expects. url and md5: where to download the file; otherwise `how` says how
    to make it. A file with neither is an alternative name for another one.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    file: str | None = None
    hub: str | None = None
    revision: str | None = None
    split: str | None = None
    columns: Columns | None = None
    url: str | None = None
    md5: str | None = None
    how: str = ""

    @property
    def source(self) -> str:
        """As `open_samples` takes it, without the data folder; the revision may be missing."""
        if self.hub is None:
            return self.file or ""
        revision = f"@{self.revision}" if self.revision else ""
        split = f":{self.split}" if self.split else ""
        return f"hf:{self.hub}{revision}{split}"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A registered dataset.

    count: number of samples according to count_source; verified: counted in the data or stated by its authors.
    prompt: where the options are: `inline` in the question or the image, `lettered` after it, `mixed` if some
    questions have none, `free` if all have none. metric and flavour: as `find_metric` takes them; "" if each sample
    names its own. per_category: only the first samples of each category. licence: None if unknown.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    title: str
    split: str
    places: tuple[Place, ...]
    count: int | None
    count_source: str
    verified: bool
    prompt: Literal["inline", "lettered", "mixed", "free"]
    metric: str
    flavour: str
    licence: str | None
    references: tuple[Reference, ...] = ()
    per_category: int | None = None
    note: str = ""
    name: str = ""

    @property
    def source(self) -> str:
        """The first place, as `open_samples` takes it."""
        return self.places[0].source


@dataclass(frozen=True, slots=True)
class Availability:
    """file: where the data is; None if it is missing. ways: how to get it, one sentence each, the preferred first.

    state: the same in a few words. extra: the extra needed for the hub, installed or not.
    """

    file: Path | None
    state: str
    ways: tuple[str, ...]
    extra: str | None


@cache
def load_datasets() -> Mapping[str, Dataset]:
    """Name -> dataset, in the order of the file. Raises ConfigError if the file is invalid."""
    return read_datasets(_FILE)


def read_datasets(path: Path) -> Mapping[str, Dataset]:
    """The datasets in a JSON file. Raises ConfigError naming file, dataset and key."""
    from pydantic import TypeAdapter, ValidationError

    try:
        rows = TypeAdapter(dict[str, Dataset]).validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); install the package again") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{path}: {key}: {first['msg'].lower()}; fix the entry") from None
    return {name: replace(row, name=name) for name, row in rows.items()}


def find_dataset(name: str) -> Dataset:
    """The dataset of that name. Raises ConfigError.

    `name@revision` is its data on the hub at that commit; local files are ignored.
    """
    stem, _, revision = name.partition("@")
    known = load_datasets()
    if stem not in known:
        raise ConfigError(f"unknown dataset {stem!r}; {_suggest_names(stem, tuple(known))}")
    return _at_revision(known[stem], revision) if "@" in name else known[stem]


def where(
    dataset: Dataset, folder: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Path | None:
    """The file of a dataset, if found: in the folder, $PYVISION_DATA, ~/.cache/pyvision/data or $LMUData."""
    found = _find(dataset, folder, environ)
    return found[0] if found else None


def open_dataset(
    dataset: Dataset, folder: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Iterator[Sample]:
    """The samples of a dataset: from its file if found, else from the hub if its revision is known.

    Raises ConfigError, which says how to get missing data.
    """
    found = _find(dataset, folder, environ)
    pinned = next((place for place in dataset.places if place.hub and place.revision), None)
    if found:
        samples = open_samples(found[0], found[1].columns)
    elif pinned:
        samples = open_samples(pinned.source, pinned.columns)
    else:
        raise ConfigError(f"{dataset.name}: its data is not on this machine; {_format_ways(dataset)[0]}")
    return samples if dataset.per_category is None else _first_of_each(samples, dataset.per_category)


def availability_of(dataset: Dataset, environ: Mapping[str, str] = os.environ) -> Availability:
    """Whether the data of a dataset is on this machine. Looks for the file without reading it."""
    file = where(dataset, environ=environ)
    ways = () if file else _format_ways(dataset)
    from_hub = any(place.hub for place in dataset.places)
    return Availability(file, "here" if file else _format_state(dataset), ways, "data" if from_hub else None)


def has_extra(extra: str) -> bool:
    """Whether the package of an extra is installed, without loading it."""
    return find_spec(EXTRAS[extra]) is not None


def _suggest_names(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name.lower(), known, n=3, cutoff=0.6) or [
        each for each in known if name.lower() in each
    ]
    return f"did you mean {' or '.join(near)}?" if near and name else f"known datasets are {', '.join(known)}"


def _at_revision(dataset: Dataset, revision: str) -> Dataset:
    if not any(place.hub for place in dataset.places):
        raise ConfigError(f"{dataset.name}: is not on the hub, so it has no revisions; omit the @")
    if not is_commit(revision):
        raise ConfigError(f"{dataset.name}: {revision!r} is not a commit; give its 40 hexadecimal digits")
    places = (replace(place, revision=revision) for place in dataset.places if place.hub)
    return replace(dataset, places=tuple(places))


def _find(dataset: Dataset, folder: Path | None, environ: Mapping[str, str]) -> tuple[Path, Place] | None:
    pairs = (
        (each / place.file, place)
        for each in _folders(folder, environ)
        for place in dataset.places
        if place.file
    )
    return next(((path, place) for path, place in pairs if path.is_file()), None)


def _folders(folder: Path | None, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where data may be; empty variables are ignored."""
    own, kit = (environ.get(name) for name in _VARIABLES)
    given = (folder, own, _FOLDER, kit)
    return tuple(Path(each).expanduser() for each in given if each)


def _format_ways(dataset: Dataset) -> tuple[str, ...]:
    places = (place for place in dataset.places if place.hub or place.url or place.how)
    return tuple(_format_way(dataset.name, place) for place in places)


def _format_way(name: str, place: Place) -> str:
    if place.hub:
        split = f":{place.split}" if place.split else ""
        repository = "/".join(place.hub.split("/")[:2])
        return (
            f"run `pip install 'pyvision-agent[data]'` and use `{name}@REVISION` (hf:{place.hub}{split}), with the "
            f"revision that `git ls-remote https://huggingface.co/datasets/{repository} HEAD` prints"
        )
    target = f"{_FOLDER}/{place.file}"
    if place.url is None:
        return f"{place.how}: {target} (or under ${_VARIABLES[0]})"
    check = f" && echo '{place.md5}  '{target} | md5sum -c" if place.md5 else ""
    return f"run `curl -L --create-dirs -o {target} {place.url}{check}` (or store it under ${_VARIABLES[0]})"


def _first_of_each(samples: Iterator[Sample], count: int) -> Iterator[Sample]:
    seen: dict[str, int] = {}
    for sample in samples:
        seen[sample.category] = seen.get(sample.category, 0) + 1
        if seen[sample.category] <= count:
            yield sample


def _format_state(dataset: Dataset) -> str:
    states = {
        "fetch": any(place.url for place in dataset.places),
        "extra data": any(place.hub for place in dataset.places),
    }
    return " or ".join(state for state, holds in states.items() if holds) or "make"
