"""Choose the reader of a source by its form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from pyvision.bench.datasets.readers.rows import Columns
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

Reader: TypeAlias = Callable[[Path, Columns | None], Iterator[Sample]]

READERS: Mapping[str, str] = {
    ".csv": "folder.read_csv",
    ".jsonl": "json_lines.read_json_lines",
    ".tsv": "vlmevalkit.read_vlmevalkit",
}
"""Ending of a file -> its reader: MODULE.FUNCTION of this package, imported when it is chosen."""

REMOTE = "hf:"


def open_samples(source: str | Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a file, of a folder with one such file in it, or of `hf:owner/name[/config]@revision[:split]`.

    columns: which ones make which field, where they are not called as the reader expects. Pictures are read when
    a sample is answered, as far as they lie in files. Raises ConfigError, ImageError among them, naming file and line.
    """
    if isinstance(source, str) and source.startswith(REMOTE):
        from pyvision.bench.datasets.readers.hugging_face import read_hugging_face

        return read_hugging_face(source, columns)
    path = _table(Path(source))
    if path.suffix.lower() not in READERS:
        raise ConfigError(f"{path}: no reader for {path.suffix or 'a file without an ending'!r}; {_forms()}")
    module, _, function = READERS[path.suffix.lower()].partition(".")
    read: Reader = getattr(import_module(f"pyvision.bench.datasets.readers.{module}"), function)
    return read(path, columns)


def _table(path: Path) -> Path:
    """The file itself, or the one table in a folder."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise ConfigError(f"{path}: there is no such file or folder; {_forms()}")
    tables = sorted(each for each in path.iterdir() if each.suffix.lower() in READERS and each.is_file())
    if len(tables) == 1:
        return tables[0]
    found = ", ".join(each.name for each in tables) or "none"
    raise ConfigError(f"{path}: a folder needs one table, found {found}; {_forms()}")


def _forms() -> str:
    return (
        f"give a file ending in {', '.join(READERS)}, a folder with one in it, or {REMOTE}owner/name@revision"
    )
