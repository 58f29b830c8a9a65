"""Where the samples of an experiment come from: a generator, a file or folder, the hub, or a registered dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pyvision.bench.datasets.readers import READERS, REMOTE, open_samples
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

_SYNTHETIC = "synthetic/"
_BLOCK_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class SampleSource:
    """Samples that can be read any number of times.

    identity: identifies these samples in the fingerprint of an experiment. count: the number of samples, if it is
    known without reading them. metric: NAME[:FLAVOUR] by which they are graded by default.
    """

    name: str
    identity: Mapping[str, Any]
    open: Callable[[], Iterable[Sample]]
    count: int | None = None
    metric: str | None = None

    def samples(self, limit: int | None = None) -> Iterator[Sample]:
        """The samples in order. Raises ConfigError for a duplicate id, or one that cannot be encoded."""
        seen: set[str] = set()
        for sample in islice(self.open(), limit):
            _check_id(sample.id, self.name, seen)
            yield sample

    @property
    def is_local(self) -> bool:
        """Whether it is a file or a folder of this machine, which can be read before the first answer."""
        return self.identity.get("kind") == "file"

    def count_samples(self, limit: int | None = None) -> int | None:
        """How many samples there are; a local file is read through for it, and so checked before anything is paid."""
        if self.count is not None:
            return self.count if limit is None else min(self.count, limit)
        if self.is_local:
            count = sum(1 for _ in self.samples(limit))
            if not count:
                raise ConfigError(f"{self.name}: holds no samples; give a dataset with at least one")
            return count
        return None


def find_source(dataset: str, *, count: int, seed: int, difficulty: float) -> SampleSource:
    """The source of `bench run DATASET`; count, seed and difficulty are for generated sets. Raises ConfigError."""
    if dataset.startswith(_SYNTHETIC):
        return _open_synthetic(dataset.removeprefix(_SYNTHETIC), count, seed, difficulty)
    if dataset.startswith(REMOTE):
        return _open_source(dataset, dataset, {"kind": "remote", "source": dataset})
    path = Path(dataset)
    if path.exists():
        if not (path.is_file() or path.is_dir()):  # a pipe could be read only once
            raise ConfigError(f"{dataset}: is not a regular file; save it to one first")
        return _open_source(dataset, path.name or "samples", local_identity(path))
    if _is_name(dataset):
        return _open_registered(dataset)
    way = f"give a {', '.join(READERS)} file, a folder that contains one, or a name from `bench list`"
    raise ConfigError(f"{dataset}: there is no such file or folder; {way}")


def _is_name(dataset: str) -> bool:
    """Whether this can be a registered dataset, whose name has neither a slash nor a dot, unlike paths."""
    stem = dataset.partition("@")[0]
    return "/" not in stem and "." not in stem


def local_identity(path: Path) -> dict[str, Any]:
    """A file by its content; a folder by the content of its tables, and the names and sizes of its other files."""
    return {"kind": "file", "source": path.resolve().name, "revision": f"sha256:{_hash(path)[:32]}"}


def _open_synthetic(name: str, count: int, seed: int, difficulty: float) -> SampleSource:
    from pyvision.bench.synthetic import SETS, generate

    if name not in SETS:
        known = ", ".join(_SYNTHETIC + each for each in sorted(SETS))
        raise ConfigError(f"unknown set {_SYNTHETIC + name!r}; known sets are {known}")
    identity = {"kind": "synthetic", "source": name, "count": count, "seed": seed, "difficulty": difficulty}
    return SampleSource(
        f"{_SYNTHETIC}{name}", identity, lambda: generate(name, count, seed, difficulty=difficulty), count
    )


def _open_source(source: str, name: str, identity: Mapping[str, Any]) -> SampleSource:
    return SampleSource(name, identity, lambda: open_samples(source))


def _open_registered(name: str) -> SampleSource:
    """A registered dataset: its file if there is one, else from the hub at a fixed revision."""
    from pyvision.bench.datasets.registry import find_dataset, open_dataset, where

    row = find_dataset(name)
    open_dataset(row)  # raises if there is no data; reads nothing before the first sample
    path = where(row)
    place = local_identity(path) if path else {"kind": "remote", "source": row.source}
    metric = ":".join(part for part in (row.metric, row.flavour) if part)
    return SampleSource(name, {**place, "name": name}, lambda: open_dataset(row), metric=metric or None)


def _check_id(sample_id: str, source: str, seen: set[str]) -> None:
    if sample_id in seen:
        raise ConfigError(f"{source}: two samples have the id {sample_id!r}; make ids unique")
    try:
        sample_id.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{source}: the id {sample_id!r} cannot be encoded as UTF-8; rename it") from error
    seen.add(sample_id)


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    if not path.is_dir():
        _update(digest, path)
        return digest.hexdigest()
    for inner in sorted(each for each in path.rglob("*") if each.is_file()):
        digest.update(
            f"{inner.relative_to(path).as_posix()}\0{inner.stat().st_size}\n".encode(errors="replace")
        )
        if inner.suffix.lower() in READERS:
            _update(digest, inner)
    return digest.hexdigest()


def _update(digest: hashlib._Hash, path: Path) -> None:
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
