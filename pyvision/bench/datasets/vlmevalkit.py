"""Read VLMEvalKit's TSV files, whose images are base64, lists of it, files, or stored in another row of the file.

Format: https://github.com/open-compass/VLMEvalKit, docs/en/Development.md. Unlike there, an option whose text is
None, NA or null stays an option (pandas takes it for empty). As there, rows without an image are skipped, and a
reference must lead to a row that holds images itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

from pyvision.bench.datasets.cells import decode_base64, find_beside, is_empty, parse_list
from pyvision.bench.datasets.rows import Columns, Ids, Row, expand_row, make_sample
from pyvision.bench.datasets.tables import TableRow, read_records, record_at
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
_REFERENCE_CHARS = 64  # a cell up to this length is the index of the row that holds the image
_PATH = "image_path"
_CIRCLE = 1_000_000  # the k-th rotation of a question has its index + k * 1,000,000


def read_vlmevalkit(path: Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a file, one row at a time. Raises ConfigError and ImageError.

    Each rotation of circular evaluation is a separate sample, with `index` and `circular_base` in its metadata.
    """
    columns = columns or COLUMNS
    images, ids, texts = _Images(path, columns), Ids(), columns
    for number, record in enumerate(read_records(path, "\t")):
        place = f"{path}: line {record.line}"
        texts = texts if number else _text_columns(columns, record.row)
        for row in expand_row(record.row, columns, place):
            found = images.of(record, place)
            if found:
                sample = replace(_make_row_sample(row, columns, texts, place, number), images=found)
                ids.add(sample.id, path, record.line)
                yield sample


def _text_columns(columns: Columns, row: Row) -> Columns:
    """The text columns; of the option columns those that exist, unless it is only one, which would mean a list."""
    choices = tuple(name for name in columns.choices if name in row)
    return replace(columns, images=(), choices=columns.choices if len(choices) == 1 else choices)


def _make_row_sample(row: Row, columns: Columns, texts: Columns, place: str, number: int) -> Sample:
    own = {name: value for name, value in row.items() if name != _PATH and name not in columns.images}
    sample = make_sample(own, texts, place, number, lambda _: ())
    index = sample.id
    if not (index.isascii() and index.isdigit() and len(index) <= 18):
        return sample
    numbers = {"index": int(index), "circular_base": int(index) % _CIRCLE}
    return replace(sample, metadata={**sample.metadata, **numbers})


class _Images:
    """Finds the images of a row. Rows that others refer to are located once, at the first reference."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self._path, self._index, self._column = path, columns.id, columns.images[0]
        self._offsets: dict[str, int] | None = None

    def of(self, record: TableRow, place: str) -> tuple[bytes | Path, ...]:
        """The images of a row; empty if its cells are. Raises ImageError."""
        cell = record.row.get(self._column, "").strip()
        if is_empty(cell):
            return self._files(record.row, place)
        if len(cell) <= _REFERENCE_CHARS:
            cell = self._read_reference(cell, tuple(record.row), place)
        return tuple(decode_base64(each, place) for each in _split_cell(cell, place))

    def _files(self, row: Row, place: str) -> tuple[Path, ...]:
        """Files beside the table, or in the folder `images/NAME` if it exists, as VLMEvalKit does."""
        if self._column not in row and _PATH not in row:
            raise ConfigError(f"{place}: there is no column {self._column!r} or {_PATH!r}; add one")
        cell = row.get(_PATH, "")
        if is_empty(cell):
            return ()
        unpacked = self._path.parent / "images" / self._path.stem
        folder = unpacked if unpacked.is_dir() else self._path.parent
        return tuple(find_beside(name, folder, place) for name in _split_cell(cell, place))

    def _read_reference(self, name: str, header: tuple[str, ...], place: str) -> str:
        if self._offsets is None:
            self._offsets = _find_referenced(self._path, self._index, self._column)
        if name not in self._offsets:
            raise ImageError(
                f"{place}: {self._column} {name!r} is neither an image nor the {self._index} of a row that has one; "
                "get a complete copy of the file"
            )
        return record_at(self._path, "\t", header, self._offsets[name])[self._column].strip()


def _find_referenced(path: Path, index: str, column: str) -> dict[str, int]:
    """The offset of each row whose image another row refers to."""
    offsets: dict[str, int] = {}
    names: set[str] = set()
    for record in read_records(path, "\t"):
        cell = record.row.get(column, "").strip()
        if len(cell) <= _REFERENCE_CHARS:
            names.add(cell)
        else:
            offsets[record.row.get(index, "")] = record.offset
    return {name: offsets[name] for name in names & offsets.keys()}


def _split_cell(cell: str, place: str) -> tuple[str, ...]:
    """The cell itself, or the texts of a list as Python writes it."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return (cell,)
    try:
        return tuple(map(str, parse_list(cell, "image")))
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error
