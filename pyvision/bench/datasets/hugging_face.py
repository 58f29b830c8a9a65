"""Datasets of the Hugging Face hub, streamed at one fixed revision: `hf:owner/name[/config]@revision[:split]`.

Needs the extra `data`, the `datasets` library. Images are returned as files, without decoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyvision.bench.datasets.cells import read_images
from pyvision.bench.datasets.rows import Columns, Ids, expand_row, guess_columns, make_sample
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, MissingExtra

_PART = r"[A-Za-z0-9][\w.-]*"
_SOURCE = re.compile(
    rf"hf:(?P<repository>{_PART}/{_PART})(/(?P<config>[\w.+-]+))?(@(?P<revision>[^:@]*))?(:(?P<split>[\w.-]+))?",
    re.ASCII,
)
_NOWHERE = Path("/nonexistent")  # a path on the author's machine does not exist here
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Remote:
    """A dataset of the hub at one commit. config: None for its default; split: None for its only one."""

    repository: str
    revision: str
    config: str | None = None
    split: str | None = None

    def __str__(self) -> str:
        config, split = f"/{self.config}" if self.config else "", f":{self.split}" if self.split else ""
        return f"hf:{self.repository}{config}@{self.revision}{split}"


def parse_remote(source: str) -> Remote:
    """The dataset that `hf:owner/name[/config]@revision[:split]` names. Raises ConfigError.

    The revision must be a commit: a branch or a tag may point to other samples later.
    """
    match = _SOURCE.fullmatch(source)
    if not match:
        raise ConfigError(f"{source!r} is not a dataset; write hf:owner/name[/config]@revision[:split]")
    revision = match["revision"] or ""
    if not is_commit(revision):
        what = f"{revision!r} is not a commit" if revision else "no revision"
        raise ConfigError(
            f"{source}: {what}; add @ and the 40 hexadecimal digits that "
            f"`git ls-remote https://huggingface.co/datasets/{match['repository']} HEAD` prints"
        )
    return Remote(match["repository"], revision, match["config"], match["split"])


def is_commit(revision: str) -> bool:
    """Whether a revision is a full commit hash."""
    return _COMMIT.fullmatch(revision) is not None


def read_hugging_face(source: str, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a dataset, streamed over the network. Raises ConfigError, which includes MissingExtra."""
    remote = parse_remote(source)
    if find_spec("datasets") is None:
        raise MissingExtra("datasets", "data")
    return samples_in(stream(remote), str(remote), columns)


def samples_in(
    rows: Iterable[Mapping[str, Any]], name: str, columns: Columns | None = None
) -> Iterator[Sample]:
    """The samples in rows of the `datasets` library. name: for messages. Raises ConfigError."""
    ids, known = Ids(), columns
    for number, row in enumerate(rows):
        place = f"{name}: row {number}"
        known = known or guess_columns(row, name)
        image_reader = partial(read_images, folder=_NOWHERE, place=place)
        for own in expand_row(row, known, place):
            sample = make_sample(own, known, place, len(ids), image_reader)
            ids.add(sample.id, name, number)
            yield sample


def stream(remote: Remote) -> Iterator[Mapping[str, Any]]:
    """The rows of a dataset, with images as files. Raises ConfigError."""
    load_dataset = import_module("datasets").load_dataset  # not installed where types are checked
    try:
        found = load_dataset(
            remote.repository,
            remote.config,
            split=remote.split,
            revision=remote.revision or None,
            streaming=True,
        )
        yield from _only_split(found, str(remote)).decode(False)  # noqa: FBT003 - its only argument
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # raised by the library: network, config, split, data
        why = " ".join(str(error).split())[:300]
        raise ConfigError(
            f"{remote}: cannot be read ({why}); check the name, config, split and network"
        ) from error


def _only_split(found: Any, name: str) -> Any:
    if not isinstance(found, Mapping):
        return found
    if len(found) != 1:
        raise ConfigError(
            f"{name}: has the splits {', '.join(map(str, found))}; choose one, such as :{next(iter(found))}"
        )
    return next(iter(found.values()))
