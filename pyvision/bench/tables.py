"""The tables of results.sqlite: how samples, records and scores become rows and values again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pyvision.bench.samples import Record, Sample, Score
from pyvision.errors import ConfigError

DATABASE, PICTURES, RUNS = "results.sqlite", "pictures", "runs"
FORMAT, VERSION = "pyvision-benchmark", 1

SCHEMA = """
CREATE TABLE experiment (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE samples (
    id TEXT PRIMARY KEY, text TEXT NOT NULL, images TEXT NOT NULL, target TEXT NOT NULL, choices TEXT NOT NULL,
    context TEXT NOT NULL, category TEXT NOT NULL, metadata TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE records (
    sample_id TEXT NOT NULL REFERENCES samples (id), repeat INTEGER NOT NULL, category TEXT NOT NULL,
    answer TEXT, end_reason TEXT NOT NULL, error TEXT,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
    cost REAL, seconds REAL NOT NULL, turns INTEGER NOT NULL, cells INTEGER NOT NULL, figures INTEGER NOT NULL,
    sent_pixels INTEGER NOT NULL,
    attempt INTEGER NOT NULL, run TEXT NOT NULL, ended_at TEXT NOT NULL,
    PRIMARY KEY (sample_id, repeat)
);
CREATE TABLE scores (
    sample_id TEXT NOT NULL, repeat INTEGER NOT NULL, metric TEXT NOT NULL,
    value REAL, why TEXT NOT NULL, parsed TEXT,
    PRIMARY KEY (metric, sample_id, repeat)
) WITHOUT ROWID;
"""

RECORD_COLUMNS = tuple(field.name for field in fields(Record))
SCORE_COLUMNS = ("value", "why", "parsed")
SAMPLE_COLUMNS = ("id", "text", "images", "target", "choices", "context", "category", "metadata")


def put(table: str, columns: tuple[str, ...]) -> str:
    """The statement that writes one row, in the place of one with the same key."""
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
    return f"{_insert(table, columns)} ON CONFLICT DO UPDATE SET {changes}"


def put_if_new(table: str, columns: tuple[str, ...]) -> str:
    """The statement that writes one row where there is none with the same key."""
    return f"{_insert(table, columns)} ON CONFLICT DO NOTHING"


def record_row(record: Record, clean: Callable[[str], str]) -> tuple[Any, ...]:
    """Its values in the order of RECORD_COLUMNS; the id stays as it is."""
    values = {name: getattr(record, name) for name in RECORD_COLUMNS}
    for name in ("answer", "error", "category"):
        values[name] = values[name] if values[name] is None else clean(values[name])
    return tuple(values.values())


def record_of_row(row: tuple[Any, ...]) -> Record:
    """The record that `record_row` made a row of."""
    return Record(**dict(zip(RECORD_COLUMNS, row, strict=True)))


def sample_row(sample: Sample, images: tuple[str, ...], clean: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Its values in the order of SAMPLE_COLUMNS; images: files relative to the folder of the experiment.

    Raises ConfigError for a target that JSON cannot hold.
    """
    try:
        target = json.dumps(clean(sample.target))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"sample {sample.id!r}: its target is not what JSON can hold ({error})") from error
    metadata = json.dumps(clean(sample.metadata), default=str)
    return (
        sample.id,
        clean(sample.text),
        json.dumps(images),
        target,
        json.dumps(clean(sample.choices)),
        clean(sample.context),
        clean(sample.category),
        metadata,
    )


def sample_of_row(row: tuple[Any, ...], folder: Path) -> Sample:
    """The sample that `sample_row` made a row of; its images are files now."""
    values: Mapping[str, Any] = dict(zip(SAMPLE_COLUMNS, row, strict=True))
    return Sample(
        id=values["id"],
        text=values["text"],
        images=tuple(folder / name for name in json.loads(values["images"])),
        target=json.loads(values["target"]),
        choices=tuple(json.loads(values["choices"])),
        context=values["context"],
        category=values["category"],
        metadata=json.loads(values["metadata"]),
    )


def score_row(score: Score, clean: Callable[[str], str]) -> tuple[Any, ...]:
    """Its values in the order of SCORE_COLUMNS."""
    return score.value, clean(score.why), None if score.parsed is None else clean(score.parsed)


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
