"""The tables of results.sqlite: how samples, records and scores become rows and values again."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from pyvision.bench.samples import JudgeInfo, Record, Sample, Score
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
    value REAL, why TEXT NOT NULL, parsed TEXT, judge TEXT, unscored TEXT,
    PRIMARY KEY (metric, sample_id, repeat)
) WITHOUT ROWID;
"""

RECORD_COLUMNS = tuple(field.name for field in fields(Record))
SCORE_COLUMNS = ("value", "why", "parsed", "judge", "unscored")
_ADDED_SCORE_COLUMNS = ("judge", "unscored")  # databases of before hold these facts in `why` only
_JUDGE_IN_WORDS = re.compile(
    r"judge (?P<model>.*), (?P<prompt>judge/\w+\.md) (?P<version>[0-9a-f]{8}): (?P<verdict>.*)", re.DOTALL
)
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
    parsed = None if score.parsed is None else clean(score.parsed)
    judge = None if score.judge is None else clean(json.dumps(asdict(score.judge)))
    return score.value, clean(score.why), parsed, judge, score.unscored


def score_of_row(row: tuple[Any, ...]) -> Score:
    """The score that `score_row` made a row of."""
    value, why, parsed, judge, unscored = row
    return Score(value, why, parsed, JudgeInfo(**json.loads(judge)) if judge else None, unscored)


def read_scores(database: sqlite3.Connection, metric: str) -> Iterator[tuple[str, int, Score]]:
    """Sample id, repeat and score of each score by a metric; also of a database of before."""
    is_old = _lacks_columns(database)
    columns = [column for column in SCORE_COLUMNS if not (is_old and column in _ADDED_SCORE_COLUMNS)]
    chosen = f"SELECT sample_id, repeat, {', '.join(columns)} FROM scores WHERE metric = ?"
    with closing(database.execute(chosen, (metric,))) as cursor:
        for sample_id, repeat, *row in cursor:
            yield sample_id, repeat, _score_of_old_row(*row) if is_old else score_of_row(tuple(row))


def add_score_columns(database: sqlite3.Connection) -> None:
    """Give a database of before the columns that it lacks, filled from the words in `why`."""
    if not _lacks_columns(database):
        return
    database.execute("BEGIN IMMEDIATE")
    for column in _ADDED_SCORE_COLUMNS:
        database.execute(f"ALTER TABLE scores ADD COLUMN {column} TEXT")
    rows = database.execute("SELECT value, why, parsed, sample_id, repeat, metric FROM scores").fetchall()
    database.executemany(
        "UPDATE scores SET judge = ?, unscored = ? WHERE sample_id = ? AND repeat = ? AND metric = ?",
        [(*score_row(_score_of_old_row(*row[:3]), str)[3:], *row[3:]) for row in rows],
    )
    database.execute("COMMIT")


def _lacks_columns(database: sqlite3.Connection) -> bool:
    return "judge" not in {row[1] for row in database.execute("PRAGMA table_info(scores)")}


def _score_of_old_row(value: float | None, why: str, parsed: str | None) -> Score:
    found = _JUDGE_IN_WORDS.fullmatch(why)
    judge = JudgeInfo(**found.groupdict()) if found else None
    if judge is not None and judge.verdict == "no verdict could be read":
        judge = replace(judge, verdict=None)
    failed = "no verdict" if judge else why.partition(":")[0]
    return Score(value, why, parsed, judge, failed if value is None else None)


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
