"""Read CSV, TSV and JSON lines, row by row, so that memory does not grow with the file.

CSV and TSV: fields may be quoted and contain line breaks, as pandas writes them. A row can be found again by its
offset in the file.

A CSV of samples has the columns image or images, question, answer, and optionally id (else rows are numbered from 0),
category, context, choices (a list) or A, B, C and so on. Several image paths are separated by `;`. Other columns are
metadata. Images are files beside the table.

A line of JSON lines is an object with `id`, `question`, `images` (paths relative to the file) and `target`, and
optionally `choices`, `context` and `category`; all else is metadata. Empty lines are skipped.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from pyvision.bench.datasets.cells import read_images
from pyvision.bench.datasets.rows import Columns, Ids, Row, expand_row, guess_columns, make_sample
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

_FIELD_CHARS = 2**30  # several images of the largest size in one field, as base64
_PATH_SEPARATOR = ";"


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: column -> text, the line on which it starts (from 1), and its offset in bytes."""

    row: dict[str, str]
    line: int
    offset: int


def read_csv(path: Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a CSV file, one row at a time; images are located, not read. Raises ConfigError."""
    ids, known = Ids(), columns
    for number, record in enumerate(read_records(path, ",")):
        known = known or guess_columns(record.row, f"{path}: line 1")
        place = f"{path}: line {record.line}"
        for row in expand_row(record.row, known, place):
            image_reader = partial(_csv_images, folder=path.parent, place=place)
            sample = make_sample(row, known, place, number, image_reader)
            ids.add(sample.id, path, record.line)
            yield sample


def read_json_lines(path: Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a file of JSON lines, one at a time; images are located, not read. Raises ConfigError."""
    columns = columns or Columns()
    folder, ids = path.parent, Ids()
    for number, line in enumerate(_read_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        for row in expand_row(_parse_object(line, place), columns, place):
            _check_images(row, columns, place)
            image_reader = partial(read_images, folder=folder, place=place)
            sample = make_sample(row, columns, place, number - 1, image_reader)
            ids.add(sample.id, path, number)
            yield sample


def read_records(path: Path, delimiter: str) -> Iterator[TableRow]:
    """The rows of a table with a header, in order; empty lines are skipped. Raises ConfigError."""
    with _open(path) as file:
        lines = _Lines(file, path)
        rows = _rows(lines, path, delimiter)
        header = _check_header(next(rows, []), path)
        while True:
            line, offset = lines.number + 1, lines.offset
            fields = next(rows, None)
            if fields is None:
                return
            if fields:
                yield TableRow(_row(header, fields, f"{path}: line {line}"), line, offset)


def record_at(path: Path, delimiter: str, header: tuple[str, ...], offset: int) -> dict[str, str]:
    """The row that begins at this offset."""
    with _open(path) as file:
        file.seek(offset)
        fields = next(_rows(_Lines(file, path), path, delimiter), [])
        return _row(header, fields, f"{path}: byte {offset}")


def _csv_images(cell: object, folder: Path, place: str) -> tuple[bytes | Path, ...]:
    return read_images(_parse_paths(str(cell or "")), folder, place)


def _parse_paths(cell: str) -> list[str]:
    """The paths in a cell; a data URL contains a `;` itself."""
    parts = [cell] if cell.startswith("data:") else cell.split(_PATH_SEPARATOR)
    return [part.strip() for part in parts if part.strip()]


def _check_images(row: Row, columns: Columns, place: str) -> None:
    """A question without images must say so, or a missing image would go unnoticed."""
    if not any(name in row for name in columns.images):
        raise ConfigError(f"{place}: field {columns.images[0]!r} is missing; add it, or [] for no image")


def _read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as bytes, so that an undecodable line does not shift the line numbers."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from error


def _parse_object(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{place}: invalid JSON at column {error.colno} ({error.msg}); fix the line"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place}: invalid UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise ConfigError(f"{place}: cannot be read as JSON ({error}); fix the line") from error
    if not isinstance(row, dict):
        raise ConfigError(f'{place}: holds a {type(row).__name__}; expected an object such as {{"id": …}}')
    return row


class _Lines:
    """The lines of a file as text, with the current line number and offset."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self.number = 0
        self.offset = file.tell()

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.number += 1
            self.offset += len(line)
            try:
                yield line.decode("utf-8-sig" if self.offset == len(line) else "utf-8")
            except UnicodeDecodeError as error:
                raise ConfigError(
                    f"{self._path}: line {self.number}: invalid UTF-8 at byte {error.start}; save the file as UTF-8"
                ) from error


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from error


def _rows(lines: _Lines, path: Path, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(
        max(csv.field_size_limit(), _FIELD_CHARS)
    )  # of the whole process; by default 128 KiB
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        raise ConfigError(f"{path}: line {lines.number}: {error}; create the file again") from error


def _check_header(fields: list[str], path: Path) -> tuple[str, ...]:
    if not fields:
        raise ConfigError(f"{path}: is empty; its first line must name the columns")
    twice = {name for name in fields if fields.count(name) > 1}
    if twice:
        raise ConfigError(f"{path}: line 1: column {min(twice)!r} occurs twice; rename one")
    return tuple(fields)


def _row(header: tuple[str, ...], fields: list[str], place: str) -> dict[str, str]:
    if len(fields) != len(header):
        raise ConfigError(
            f"{place}: has {len(fields)} fields where the header has {len(header)}; "
            "is a quotation mark unclosed, or the file truncated?"
        )
    return dict(zip(header, fields, strict=True))
