"""VLMEvalKit's TSV files: pictures as base64, in lists, in files, or in another row of the same file.

Form: https://github.com/open-compass/VLMEvalKit, docs/en/Development.md. Unlike there, an option whose text is None,
NA or null stays an option (pandas takes it for empty). As there, rows whose picture is empty are passed over, and a
reference has to lead to a row with pictures of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

from pyvision.bench.datasets.readers.cells import from_base64, path_beside
from pyvision.bench.datasets.readers.ids import Ids
from pyvision.bench.datasets.readers.rows import Columns, Row, is_empty, rows_in, sample_of
from pyvision.bench.datasets.readers.separated import Record, read_records, record_at
from pyvision.bench.datasets.readers.targets import parse_list
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, ImageError

COLUMNS = Columns(
    id="index",
    images=("image",),
    target="answer",
    choices=tuple(ascii_uppercase),
    context="hint",
    category=("l2-category", "category"),
)
_REFERENCE_CHARS = 64  # a shorter picture is the index of the row that holds it
_PATH = "image_path"
_CIRCLE = 1_000_000  # the k-th rotation of a question has its index + k * 1,000,000


def read_vlmevalkit(path: Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a file, one row at a time. Raises ConfigError and ImageError.

    A rotated row of circular evaluation is a sample of its own; metadata tells its `index` and its `circular_base`.
    """
    columns = columns or COLUMNS
    pictures, ids, texts = _Pictures(path, columns), Ids(), columns
    for number, record in enumerate(read_records(path, "\t")):
        place = f"{path}: line {record.line}"
        texts = texts if number else _without_pictures(columns, record.row)
        for row in rows_in(record.row, columns, place):
            found = pictures.of(record, place)
            if found:
                sample = replace(_sample(row, columns, texts, place, number), images=found)
                ids.add(sample.id, path, record.line)
                yield sample


def _without_pictures(columns: Columns, row: Row) -> Columns:
    """The columns that are texts; of many options those that the table has, unless it is one, as one is a list."""
    choices = tuple(name for name in columns.choices if name in row)
    return replace(columns, images=(), choices=columns.choices if len(choices) == 1 else choices)


def _sample(row: Row, columns: Columns, texts: Columns, place: str, number: int) -> Sample:
    own = {name: value for name, value in row.items() if name != _PATH and name not in columns.images}
    sample = sample_of(own, texts, place, number, lambda _: ())
    index = sample.id
    if not (index.isascii() and index.isdigit() and len(index) <= 18):
        return sample
    numbers = {"index": int(index), "circular_base": int(index) % _CIRCLE}
    return replace(sample, metadata={**sample.metadata, **numbers})


class _Pictures:
    """Find the pictures of a row. Where rows with pictures begin is looked up once, when first one is referred to."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self._path, self._index, self._column = path, columns.id, columns.images[0]
        self._offsets: dict[str, int] | None = None

    def of(self, record: Record, place: str) -> tuple[bytes | Path, ...]:
        """The pictures of a row; none when its cells are empty. Raises ImageError."""
        cell = record.row.get(self._column, "").strip()
        if is_empty(cell):
            return self._files(record.row, place)
        if len(cell) <= _REFERENCE_CHARS:
            cell = self._referred(cell, tuple(record.row), place)
        return tuple(from_base64(each, place) for each in _several(cell, place))

    def _files(self, row: Row, place: str) -> tuple[Path, ...]:
        """Beside the file, or in the folder `images/NAME` if there is one: VLMEvalKit keeps them there."""
        if self._column not in row and _PATH not in row:
            raise ConfigError(f"{place}: there is no column {self._column!r} or {_PATH!r}; add one")
        cell = row.get(_PATH, "")
        if is_empty(cell):
            return ()
        unpacked = self._path.parent / "images" / self._path.stem
        folder = unpacked if unpacked.is_dir() else self._path.parent
        return tuple(path_beside(name, folder, place) for name in _several(cell, place))

    def _referred(self, name: str, header: tuple[str, ...], place: str) -> str:
        if self._offsets is None:
            self._offsets = _referred_offsets(self._path, self._index, self._column)
        if name not in self._offsets:
            raise ImageError(
                f"{place}: {self._column} {name!r} is neither a picture nor the {self._index} of a row that has one; "
                "get a whole copy of the file"
            )
        return record_at(self._path, "\t", header, self._offsets[name])[self._column].strip()


def _referred_offsets(path: Path, index: str, column: str) -> dict[str, int]:
    """Where each row begins whose picture another row refers to."""
    offsets: dict[str, int] = {}
    names: set[str] = set()
    for record in read_records(path, "\t"):
        cell = record.row.get(column, "").strip()
        if len(cell) <= _REFERENCE_CHARS:
            names.add(cell)
        else:
            offsets[record.row.get(index, "")] = record.offset
    return {name: offsets[name] for name in names & offsets.keys()}


def _several(cell: str, place: str) -> tuple[str, ...]:
    """The texts of a cell that is one, or a list of them as Python writes it."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return (cell,)
    try:
        return tuple(map(str, parse_list(cell, "image")))
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error
