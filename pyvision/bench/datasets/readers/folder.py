"""A CSV with pictures beside it: columns image or images, question, answer, and optional ones.

Optional: id (else the rows are numbered from 0), category, context, choices (a list) or A, B, C and so on. Several
paths have `;` between them. Other columns are metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pyvision.bench.datasets.readers.cells import pictures_in
from pyvision.bench.datasets.readers.guessing import guess_columns
from pyvision.bench.datasets.readers.ids import Ids
from pyvision.bench.datasets.readers.rows import Columns, rows_in, sample_of
from pyvision.bench.datasets.readers.separated import read_records
from pyvision.bench.samples import Sample

_BETWEEN = ";"


def read_csv(path: Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a file, one row at a time; a picture is looked for, not read. Raises ConfigError."""
    ids, known = Ids(), columns
    for number, record in enumerate(read_records(path, ",")):
        known = known or guess_columns(record.row, f"{path}: line 1")
        place = f"{path}: line {record.line}"
        for row in rows_in(record.row, known, place):
            pictures = partial(_pictures, folder=path.parent, place=place)
            sample = sample_of(row, known, place, number, pictures)
            ids.add(sample.id, path, record.line)
            yield sample


def _pictures(cell: object, folder: Path, place: str) -> tuple[bytes | Path, ...]:
    return pictures_in(_paths(str(cell or "")), folder, place)


def _paths(cell: str) -> list[str]:
    """The paths in a cell; base64 behind `data:` has a `;` of its own."""
    parts = [cell] if cell.startswith("data:") else cell.split(_BETWEEN)
    return [part.strip() for part in parts if part.strip()]
