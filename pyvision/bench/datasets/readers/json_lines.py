"""JSON lines: one sample a line, its pictures in files beside it.

A line is an object with `id`, `question`, `images` (paths relative to the file) and `target`, and may have `choices`,
`context` and `category`; whatever else it holds is metadata. Empty lines are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pyvision.bench.datasets.readers.cells import pictures_in
from pyvision.bench.datasets.readers.ids import Ids
from pyvision.bench.datasets.readers.rows import Columns, Row, rows_in, sample_of
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError

COLUMNS = Columns()


def read_json_lines(path: Path, columns: Columns | None = None) -> Iterator[Sample]:
    """The samples of a file, one line at a time; a picture is looked for, not read. Raises ConfigError."""
    columns = columns or COLUMNS
    folder, ids = path.parent, Ids()
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        for row in rows_in(_object(line, place), columns, place):
            _check_images(row, columns, place)
            pictures = partial(pictures_in, folder=folder, place=place)
            sample = sample_of(row, columns, place, number - 1, pictures)
            ids.add(sample.id, path, number)
            yield sample


def _check_images(row: Row, columns: Columns, place: str) -> None:
    """A question without a picture has to say so: else one that was lost would not be noticed."""
    if not any(name in row for name in columns.images):
        raise ConfigError(f"{place}: field {columns.images[0]!r} is missing; add it, [] for no picture")


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, in bytes: a line that is no text must not hide the number of the next."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from error


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{place}: no JSON at column {error.colno} ({error.msg}); mend the line") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place}: no UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of brackets
        raise ConfigError(f"{place}: cannot be read as JSON ({error}); mend the line") from error
    if not isinstance(row, dict):
        raise ConfigError(f'{place}: holds a {type(row).__name__}; give an object such as {{"id": …}}')
    return row
