"""Restore the results database of an experiment that is damaged: `pyvision bench recover DIR`.

Every record and sample that can be read is copied into a new database; the damaged one stays beside it. What cannot be
read, `bench run` restores from the run folders, without asking a model; scores by rules are computed again.
Not covered: bytes that changed inside of a value and leave it valid, since SQLite has no checksums.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from pyvision.bench.runner.recorder import FolderLock, create_database
from pyvision.bench.samples import Record
from pyvision.bench.store import (
    DATABASE,
    RECORD_COLUMNS,
    RUNS,
    SAMPLE_COLUMNS,
    SCORE_COLUMNS,
    Store,
    put,
    put_if_new,
    read_configuration,
    sample_of_row,
    score_of_row,
)
from pyvision.config.files import explain_os_errors
from pyvision.errors import ConfigError, EndReason, RunFolderError
from pyvision.trajectory import CONFIG

_RECORDS = (*RECORD_COLUMNS, "attempt", "run", "ended_at")
_SCORES = ("sample_id", "repeat", "metric", *SCORE_COLUMNS)


@dataclass(frozen=True, slots=True)
class Recovered:
    """records: those in the new database. runs: run folders without a record. damaged: None if nothing was damaged."""

    records: int
    runs: int
    damaged: Path | None


def recover(folder: Path) -> Recovered:
    """Replace a damaged database by what can be read of it; one that is intact stays as it is.

    Raises ConfigError for a folder without an experiment or in use, RunFolderError when a write fails.
    """
    if not any(folder.glob("results*.sqlite")) and not (folder / CONFIG).is_file():
        raise ConfigError(f"{str(folder)!r}: holds no experiment; give the folder of a `bench run`")
    with closing(FolderLock(folder)):
        damaged = None if _is_intact(folder) else _replace(folder)
        with Store(folder) as store:
            records = len(store.attempts())
            runs = {path.name for path in (folder / RUNS).iterdir()} if (folder / RUNS).is_dir() else set()
            return Recovered(records, len(runs - store.runs()), damaged)


def _is_intact(folder: Path) -> bool:
    try:
        with Store(folder) as store, closing(sqlite3.connect(folder / DATABASE)) as database:
            read = list(store.records()), list(store.samples()), store.scores(), store.configuration
            check = database.execute("PRAGMA integrity_check").fetchone()
            return bool(read) and check == ("ok",)
    except (ConfigError, RunFolderError, sqlite3.Error, ValueError, TypeError):
        return False


def _replace(folder: Path) -> Path:
    """Put a new database in the place of the damaged one; returns where that one is now."""
    damaged = _set_aside(folder)
    with closing(sqlite3.connect(damaged)) as old:
        old.text_factory = lambda data: data.decode("utf-8")  # strict, so that a damaged text is noticed
        about = dict(_read(old, "experiment", ("key", "value"), "key"))
        configuration = _find_configuration(folder, about)

        def copy(new: sqlite3.Connection) -> None:
            for key in ("metric", "total", "began_at"):
                if isinstance(about.get(key), str):
                    new.execute(put("experiment", ("key", "value")), (key, about[key]))
            _copy_results(old, new, folder)

        create_database(folder, configuration, copy)
    return damaged


def _set_aside(folder: Path) -> Path:
    """Rename the damaged database with its log. After a kill between the two, the next call continues."""
    number = 1
    while (folder / f"results.damaged-{number}.sqlite").exists():
        number += 1
    if not (folder / DATABASE).exists() and number > 1:
        return folder / f"results.damaged-{number - 1}.sqlite"
    damaged = folder / f"results.damaged-{number}.sqlite"
    with explain_os_errors(folder, "check the permissions"):
        (folder / f"{DATABASE}-shm").unlink(missing_ok=True)
        for ending in ("-wal", ""):  # the log first: a log without its database would damage the next one
            with suppress(FileNotFoundError):
                (folder / f"{DATABASE}{ending}").rename(damaged.with_name(damaged.name + ending))
    return damaged


def _find_configuration(folder: Path, about: dict[Any, Any]) -> dict[str, Any]:
    with suppress(json.JSONDecodeError, TypeError):
        return read_configuration(about)
    for path in (folder / CONFIG, *sorted((folder / RUNS).glob(f"*/{CONFIG}"))):
        with suppress(OSError, ValueError):
            return dict(json.loads(path.read_bytes()))
    raise ConfigError(f"{str(folder)!r}: the configuration of the experiment cannot be read from any file")


def _copy_results(old: sqlite3.Connection, new: sqlite3.Connection, folder: Path) -> None:
    records = [row for row in _read_records(old) if _is_record(row)]
    samples = {row[0]: row for row in _read(old, "samples", SAMPLE_COLUMNS, "id") if _is_sample(row, folder)}
    for sample_id in {row[0] for row in records} - samples.keys():
        for row in _rows(old, f"SELECT {', '.join(SAMPLE_COLUMNS)} FROM samples WHERE id = ?", sample_id):
            if _is_sample(row, folder):
                samples[sample_id] = row
    usable = [row for row in records if row[0] in samples]
    keys = {row[:2] for row in usable}
    scores = [
        row
        for row in _read(old, "scores", _SCORES, "metric, sample_id, repeat")
        if row[:2] in keys and _is_score(row)
    ]
    new.execute("BEGIN")
    new.executemany(put_if_new("samples", SAMPLE_COLUMNS), samples.values())
    new.executemany(put_if_new("records", _RECORDS), usable)
    new.executemany(put_if_new("scores", _SCORES), scores)
    new.execute("COMMIT")


def _read_records(old: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """From both ends, then one by one between them, in the order in which they were written."""
    columns = ", ".join(("rowid", *_RECORDS))
    found: dict[int, tuple[Any, ...]] = {}
    for order in ("ASC", "DESC"):
        for rowid, *row in _rows(old, f"SELECT {columns} FROM records ORDER BY rowid {order}"):
            if rowid in found:
                break
            found[rowid] = tuple(row)
    for number in range(1, max(found, default=0)):
        if number not in found:
            for rowid, *row in _rows(old, f"SELECT {columns} FROM records WHERE rowid = ?", number):
                found[rowid] = tuple(row)
    return (found[number] for number in sorted(found))


def _read(
    old: sqlite3.Connection, table: str, columns: tuple[str, ...], key: str
) -> Iterator[tuple[Any, ...]]:
    """The rows before the first damaged page of a table, and those behind the last one."""
    for order in ("ASC", "DESC"):
        by = ", ".join(f"{each} {order}" for each in key.split(", "))
        yield from _rows(old, f"SELECT {', '.join(columns)} FROM {table} ORDER BY {by}")


def _rows(old: sqlite3.Connection, statement: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement until the first that cannot be read."""
    with suppress(sqlite3.Error, UnicodeDecodeError):
        yield from old.execute(statement, values)


def _is_record(row: tuple[Any, ...]) -> bool:
    record = Record(*row[: len(RECORD_COLUMNS)])
    attempt, run, ended_at = row[len(RECORD_COLUMNS) :]
    counts = (record.repeat, record.input_tokens, record.output_tokens, record.turns, record.cells, attempt)
    try:
        datetime.fromisoformat(ended_at)
    except (TypeError, ValueError):
        return False
    return (
        all(isinstance(each, str) for each in (record.sample_id, record.category, run))
        and all(isinstance(each, int) and each >= 0 for each in counts)
        and record.end_reason in get_args(EndReason)
    )


def _is_sample(row: tuple[Any, ...], folder: Path) -> bool:
    try:
        sample = sample_of_row(row, folder)
    except (TypeError, ValueError):
        return False
    return all(isinstance(each, str) for each in (sample.id, sample.text, sample.category))


def _is_score(row: tuple[Any, ...]) -> bool:
    try:
        score = score_of_row(row[3:])
    except (TypeError, ValueError):
        return False
    return score.value is None or (isinstance(score.value, float) and isinstance(score.why, str))
