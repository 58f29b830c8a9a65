"""Where the samples of an experiment come from: a generator, a file or folder, or a row of the dataset table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

_SYNTHETIC = "synthetic/"
_REMOTE = "hf:"
_TABLES = (".csv", ".jsonl", ".tsv")
_BLOCK = 2**20


@dataclass(frozen=True, slots=True)
class Source:
    """Samples that can be read from the start, again and again.

    identity: what tells these samples from others, for the fingerprint. count: how many there are, where that is
    known without reading them. metric: NAME[:FLAVOUR] by which they are graded, unless told otherwise.
    """

    name: str
    identity: Mapping[str, Any]
    open: Callable[[], Iterable[Sample]]
    count: int | None = None
    metric: str | None = None

    def samples(self, limit: int | None = None) -> Iterator[Sample]:
        """The samples in order. Raises ConfigError for an id that comes twice, or that no file can hold."""
        seen: set[str] = set()
        for sample in islice(self.open(), limit):
            _check_id(sample.id, self.name, seen)
            yield sample

    def counted(self, limit: int | None = None) -> int | None:
        """How many samples there are; a local file is read through for it, and so checked before anything is paid."""
        if self.count is not None:
            return self.count if limit is None else min(self.count, limit)
        if self.identity.get("kind") == "file":
            return sum(1 for _ in self.samples(limit))
        return None


def find_source(dataset: str, *, count: int, seed: int, difficulty: float) -> Source:
    """The source of `bench run DATASET`; the last three are for generated sets only. Raises ConfigError."""
    if dataset.startswith(_SYNTHETIC):
        return _synthetic(dataset.removeprefix(_SYNTHETIC), count, seed, difficulty)
    if dataset.startswith(_REMOTE):
        return _read(dataset, dataset, {"kind": "remote", "source": dataset})
    path = Path(dataset)
    if path.exists():
        return _read(dataset, path.name or "samples", local_identity(path))
    return _row(dataset) if _is_name(dataset) else _absent(dataset)


def _is_name(dataset: str) -> bool:
    """Whether it can be a row of the table: no name of one has a slash or an ending, as paths have."""
    stem = dataset.partition("@")[0]
    return "/" not in stem and "." not in stem


def _absent(path: str) -> Source:
    from pyvision.bench.datasets.readers.opening import READERS

    endings = ", ".join(READERS)
    way = f"give a file ending in {endings}, a folder with one in it, or a name of `bench list`"
    raise ConfigError(f"{path}: there is no such file or folder; {way}")


def local_identity(path: Path) -> dict[str, Any]:
    """A file by its content; a folder by its tables' contents and the names and sizes of all else in it."""
    return {"kind": "file", "source": path.resolve().name, "revision": f"sha256:{_content(path)[:32]}"}


def _synthetic(name: str, count: int, seed: int, difficulty: float) -> Source:
    from pyvision.bench.synthetic import SETS, generate

    if name not in SETS:
        known = ", ".join(_SYNTHETIC + each for each in sorted(SETS))
        raise ConfigError(f"unknown set {_SYNTHETIC + name!r}; known sets are {known}")
    identity = {"kind": "synthetic", "source": name, "count": count, "seed": seed, "difficulty": difficulty}
    return Source(
        f"{_SYNTHETIC}{name}", identity, lambda: generate(name, count, seed, difficulty=difficulty), count
    )


def _read(source: str, name: str, identity: Mapping[str, Any]) -> Source:
    from pyvision.bench.datasets.readers import open_samples

    return Source(name, identity, lambda: open_samples(source))


def _row(name: str) -> Source:
    """A row of the table: its file, where that is here, else of the hub at a fixed revision."""
    from pyvision.bench.datasets.registry import find_dataset, open_dataset, where

    row = find_dataset(name)
    open_dataset(
        row
    )  # refuses at once what is not there; nothing is read before the first sample is asked for
    path = where(row)
    place = local_identity(path) if path else {"kind": "remote", "source": row.source}
    metric = ":".join(part for part in (row.metric, row.flavour) if part)
    return Source(name, {**place, "name": name}, lambda: open_dataset(row), metric=metric or None)


def _check_id(sample_id: str, source: str, seen: set[str]) -> None:
    if sample_id in seen:
        raise ConfigError(f"{source}: two samples have the id {sample_id!r}; give each its own")
    try:
        sample_id.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"{source}: the id {sample_id!r} is no text that a file can hold; rename it"
        ) from error
    seen.add(sample_id)


def _content(path: Path) -> str:
    found = hashlib.sha256()
    if not path.is_dir():
        _take(found, path)
        return found.hexdigest()
    for inner in sorted(each for each in path.rglob("*") if each.is_file()):
        found.update(
            f"{inner.relative_to(path).as_posix()}\0{inner.stat().st_size}\n".encode(errors="replace")
        )
        if inner.suffix.lower() in _TABLES:
            _take(found, inner)
    return found.hexdigest()


def _take(found: hashlib._Hash, path: Path) -> None:
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
