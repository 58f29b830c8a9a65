"""Read a table of comma or tab separated values row by row, so that memory does not grow with the file.

Fields may be quoted and hold line ends, as pandas writes them. A row is found again by its offset in the file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pyvision.errors import ConfigError

_FIELD_CHARS = 2**30  # several pictures of the largest size in one field, as base64


@dataclass(frozen=True, slots=True)
class Record:
    """One row: column -> text, the line on which it starts (from 1), and its offset in bytes."""

    row: dict[str, str]
    line: int
    offset: int


def read_records(path: Path, delimiter: str) -> Iterator[Record]:
    """The rows of a table with a header, in order; empty lines are passed over. Raises ConfigError."""
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
                yield Record(_row(header, fields, f"{path}: line {line}"), line, offset)


def record_at(path: Path, delimiter: str, header: tuple[str, ...], offset: int) -> dict[str, str]:
    """The row that begins at this offset."""
    with _open(path) as file:
        file.seek(offset)
        fields = next(_rows(_Lines(file, path), path, delimiter), [])
        return _row(header, fields, f"{path}: byte {offset}")


class _Lines:
    """The lines of a file as text, with the place that was reached."""

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
                    f"{self._path}: line {self.number}: no UTF-8 at byte {error.start}; save the file as UTF-8"
                ) from error


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from error


def _rows(lines: _Lines, path: Path, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(
        max(csv.field_size_limit(), _FIELD_CHARS)
    )  # one for the process; 128 KiB at its start
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        raise ConfigError(f"{path}: line {lines.number}: {error}; write the file again") from error


def _check_header(fields: list[str], path: Path) -> tuple[str, ...]:
    if not fields:
        raise ConfigError(f"{path}: is empty; its first line has to name the columns")
    twice = {name for name in fields if fields.count(name) > 1}
    if twice:
        raise ConfigError(f"{path}: line 1: column {min(twice)!r} stands there twice; rename one")
    return tuple(fields)


def _row(header: tuple[str, ...], fields: list[str], place: str) -> dict[str, str]:
    if len(fields) != len(header):
        raise ConfigError(
            f"{place}: has {len(fields)} fields where the header names {len(header)}; "
            "is a quotation mark not closed, or the file cut short?"
        )
    return dict(zip(header, fields, strict=True))
