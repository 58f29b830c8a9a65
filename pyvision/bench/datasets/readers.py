"""Open the samples of a file, a folder or a dataset of the Hugging Face hub, with the reader of its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from pyvision.bench.datasets.rows import Columns
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

_Reader: TypeAlias = Callable[[Path, Columns | None], Iterator[Sample]]

READERS: Mapping[str, str] = {
    ".csv": "tables.read_csv",
    ".jsonl": "tables.read_json_lines",
    ".tsv": "vlmevalkit.read_vlmevalkit",
}
"""File extension -> its reader: MODULE.FUNCTION of this package, imported when it is used."""

REMOTE = "hf:"


def open_samples(source: str | Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a file, of a folder with one such file in it, or of `hf:owner/name[/config]@revision[:split]`.

    columns: which columns become which field, if they do not have the names that the reader expects. Image files are
    read when a sample is answered. Raises ConfigError, which includes ImageError, naming file and line.
    """
    if isinstance(source, str) and source.startswith(REMOTE):
        from pyvision.bench.datasets.hugging_face import read_hugging_face

        return read_hugging_face(source, columns)
    path = _find_table(Path(source))
    if path.suffix.lower() not in READERS:
        extension = path.suffix or "a file without an extension"
        raise ConfigError(f"{path}: no reader for {extension!r}; {_format_options()}")
    module, _, function = READERS[path.suffix.lower()].partition(".")
    read: _Reader = getattr(import_module(f"pyvision.bench.datasets.{module}"), function)
    return read(path, columns)


def _find_table(path: Path) -> Path:
    """The file itself, or the only table in a folder."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise ConfigError(f"{path}: there is no such file or folder; {_format_options()}")
    tables = sorted(each for each in path.iterdir() if each.suffix.lower() in READERS and each.is_file())
    if len(tables) == 1:
        return tables[0]
    found = ", ".join(each.name for each in tables) or "none"
    raise ConfigError(f"{path}: a folder must contain exactly one table, found {found}; {_format_options()}")


def _format_options() -> str:
    return f"give a {', '.join(READERS)} file, a folder that contains one, or {REMOTE}owner/name@revision"
