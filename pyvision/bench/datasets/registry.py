"""The table of datasets, `datasets.json`: what each is, where its data is found, and what others reached on it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pyvision.bench.datasets.readers import open_samples
from pyvision.bench.datasets.readers.hugging_face import is_commit
from pyvision.bench.datasets.readers.rows import Columns
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

_FILE = Path(__file__).with_name("datasets.json")
_FOLDER = "~/.cache/pyvision/data"
_VARIABLES = ("PYVISION_DATA", "LMUData")  # the second one is VLMEvalKit's


@dataclass(frozen=True, slots=True)
class Reference:
    """A number that was published. value: percent. source: paper and table, and what of the dataset it is about."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    model: str
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Place:
    """One place at which the data can be had.

    file: its name under a data folder. hub: `owner/name[/config]` of the Hugging Face hub, with a revision and a
    split. columns: None for those that the reader of that form expects. url and md5: of the file, to fetch it; else
    how says how it is made. A file with neither is another name for one that has.
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
        """As `open_samples` takes it, without the data folder; one of the hub may lack its revision."""
        if self.hub is None:
            return self.file or ""
        revision, split = (
            (f"@{self.revision}" if self.revision else ""),
            (f":{self.split}" if self.split else ""),
        )
        return f"hf:{self.hub}{revision}{split}"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A row of the table.

    count: samples, where count_source tells; verified: counted in the data, or told by its authors. prompt: where the
    options stand: `inline` in the question or the picture, `lettered` after it, `mixed` some without any, `free`
    none. metric and flavour: as `find_metric` takes them; "" for what each sample names. per_category: only so many of
    each category, the first. licence: None where we do not know. references: in percent.
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
        """The first of its places, as `open_samples` takes it."""
        return self.places[0].source


@cache
def load_datasets() -> Mapping[str, Dataset]:
    """Name -> row, in the order of the file. Raises ConfigError when the file is broken."""
    return read_datasets(_FILE)


def read_datasets(path: Path) -> Mapping[str, Dataset]:
    """The rows of a table of this form. Raises ConfigError naming file, row and key."""
    from pydantic import TypeAdapter, ValidationError

    try:
        rows = TypeAdapter(dict[str, Dataset]).validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); install the package again") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{path}: {key}: {first['msg'].lower()}; mend the row") from None
    return {name: replace(row, name=name) for name, row in rows.items()}


def find_dataset(name: str) -> Dataset:
    """The row of that name. Raises ConfigError.

    `name@revision` is its data on the hub at that commit, and no file, whatever lies there.
    """
    stem, _, revision = name.partition("@")
    known = load_datasets()
    if stem not in known:
        raise ConfigError(f"unknown dataset {stem!r}; {_suggestion(stem, tuple(known))}")
    return _at_revision(known[stem], revision) if "@" in name else known[stem]


def where(
    dataset: Dataset, folder: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Path | None:
    """The file of a dataset, if it is there: in the folder, $PYVISION_DATA, ~/.cache/pyvision/data or $LMUData."""
    found = _find(dataset, folder, environ)
    return found[0] if found else None


def open_dataset(
    dataset: Dataset, folder: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Iterator[Sample]:
    """The samples of a dataset: of its file where there is one, else of the hub where its revision is known.

    Raises ConfigError, which says how to fetch what is not there.
    """
    found = _find(dataset, folder, environ)
    pinned = next((place for place in dataset.places if place.hub and place.revision), None)
    if found:
        samples = open_samples(found[0], found[1].columns)
    elif pinned:
        samples = open_samples(pinned.source, pinned.columns)
    else:
        raise ConfigError(f"{dataset.name}: its data is not here; {_ways(dataset)[0]}")
    return samples if dataset.per_category is None else _first_of_each(samples, dataset.per_category)


def how_to_fetch(dataset: Dataset) -> str:
    """Every way to the data, one a line, in the order of preference."""
    return "\n".join(_ways(dataset))


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name.lower(), known, n=3, cutoff=0.6) or [
        each for each in known if name.lower() in each
    ]
    return f"did you mean {' or '.join(near)}?" if near and name else f"known ones are {', '.join(known)}"


def _at_revision(dataset: Dataset, revision: str) -> Dataset:
    if not any(place.hub for place in dataset.places):
        raise ConfigError(
            f"{dataset.name}: no place on the hub is known, so it has no revision; leave out the @"
        )
    if not is_commit(revision):
        raise ConfigError(f"{dataset.name}: {revision!r} is no commit; give its 40 hexadecimal digits")
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
    """Where data may lie; an empty variable is none."""
    own, kit = (environ.get(name) for name in _VARIABLES)
    given = (folder, own, _FOLDER, kit)
    return tuple(Path(each).expanduser() for each in given if each)


def _ways(dataset: Dataset) -> tuple[str, ...]:
    told = (place for place in dataset.places if place.hub or place.url or place.how)
    return tuple(_way(dataset.name, place) for place in told)


def _way(name: str, place: Place) -> str:
    if place.hub:
        split = f":{place.split}" if place.split else ""
        return (
            f"with pip install 'pyvision[data]' and the revision that `git ls-remote https://huggingface.co/datasets/"
            f"{'/'.join(place.hub.split('/')[:2])} HEAD` tells, it is `{name}@REVISION` (hf:{place.hub}{split})"
        )
    target = f"{_FOLDER}/{place.file}"
    if place.url is None:
        return f"{place.how}: {target} (or under ${_VARIABLES[0]})"
    check = f" && echo '{place.md5}  '{target} | md5sum -c" if place.md5 else ""
    return f"run `curl -L --create-dirs -o {target} {place.url}{check}` (or keep it under ${_VARIABLES[0]})"


def _first_of_each(samples: Iterator[Sample], count: int) -> Iterator[Sample]:
    seen: dict[str, int] = {}
    for sample in samples:
        seen[sample.category] = seen.get(sample.category, 0) + 1
        if seen[sample.category] <= count:
            yield sample


if TYPE_CHECKING:
    DATASETS: Mapping[str, Dataset]
else:

    def __getattr__(name: str) -> Mapping[str, Dataset]:
        """`DATASETS`, read when it is first asked for."""
        if name == "DATASETS":
            return load_datasets()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
