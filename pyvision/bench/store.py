"""The results database of an experiment (results.sqlite): its tables, its rows as values, and `Store`, which reads it.

`Store` also reads while an experiment runs. `runner/recorder.py` is the only writer: a store that also writes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyvision.bench.samples import INFRASTRUCTURE, JudgeInfo, Record, Sample, Score
from pyvision.errors import ConfigError, RunFolderError
from pyvision.types import Closing

DATABASE, PICTURES, RUNS = "results.sqlite", "pictures", "runs"
FORMAT, VERSION = "pyvision-benchmark", 1
HARNESS = "harness:"  # before the hash of a card, as a key of the table `experiment`

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
SAMPLE_COLUMNS = ("id", "text", "images", "target", "choices", "context", "category", "metadata")
_ADDED_SCORE_COLUMNS = ("judge", "unscored")  # older databases have these facts only in `why`
_DAMAGE = (1, 11, 26, 522)  # SQLITE_ERROR (a table is missing), CORRUPT, NOTADB, IOERR_SHORT_READ
_ERRORS_OF_VALUES = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.ProgrammingError)
_JUDGE_AS_TEXT = re.compile(
    r"judge (?P<model>.*), (?P<prompt>judge/\w+\.md) (?P<version>[0-9a-f]{8}): (?P<verdict>.*)", re.DOTALL
)


class Store(Closing):
    """The folder of one experiment, opened for reading by one thread; close it, or use it in a `with`.

    A sample counts if and only if its record is here. Raises ConfigError for a folder without an experiment,
    RunFolderError for one that cannot be read.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        with explain_errors(self.folder):
            self._database = self._connect()
            try:
                _check_format(self.folder, self._about)
            except BaseException:
                self._database.close()
                raise

    @property
    def configuration(self) -> dict[str, Any]:
        """What the numbers depend on, as written when the experiment began."""
        with explain_errors(self.folder):
            return read_configuration(self._about)

    @property
    def total(self) -> int | None:
        """How many records a complete experiment has, with repeats; None if that was not known when it began."""
        total = self._about.get("total")
        return None if total is None else int(total)

    @property
    def default_metric(self) -> str | None:
        """The NAME:FLAVOUR that the samples were graded by when they ended, or last."""
        return self._about.get("metric")

    def harnesses(self) -> dict[str, dict[str, Any]]:
        """The harness cards under which it was begun and resumed, by hash, in order; none in older experiments."""
        query = "SELECT key, value FROM experiment WHERE key LIKE ?"
        found = [(key, json.loads(value)) for key, value in self._rows(query, f"{HARNESS}%")]
        found.sort(key=lambda row: row[1]["since"])
        return {key.removeprefix(HARNESS): value["card"] for key, value in found}

    def metrics(self) -> tuple[str, ...]:
        """Every metric with scores."""
        return tuple(metric for (metric,) in self._rows("SELECT DISTINCT metric FROM scores ORDER BY metric"))

    def samples(self) -> Iterator[Sample]:
        """Every sample that has a record, by id; its images are files in this folder."""
        for row in self._rows(f"SELECT {', '.join(SAMPLE_COLUMNS)} FROM samples ORDER BY id"):
            with explain_errors(self.folder):
                sample = sample_of_row(row, self.folder)
            yield sample

    def records(self) -> Iterator[Record]:
        """Every record, in the order in which they were first written."""
        for row in self._rows(f"SELECT {', '.join(RECORD_COLUMNS)} FROM records ORDER BY rowid"):
            yield record_of_row(row)

    def scores(self, metric: str | None = None) -> Mapping[tuple[str, int], Score]:
        """(sample id, repeat) -> score, by this metric (NAME:FLAVOUR) or the default one. Raises ConfigError."""
        metric = metric or self.default_metric or ""
        known = self.metrics()
        if metric not in known and known:
            raise ConfigError(f"{self.folder}: no scores by {metric!r}; scores exist by {', '.join(known)}")
        with explain_errors(self.folder):
            found = read_scores(self._database, metric)
            return {(sample_id, repeat): score for sample_id, repeat, score in found}

    def find_finished(self) -> set[tuple[str, int]]:
        """(sample id, repeat) of every record that did not end in an infrastructure failure."""
        unscored = ", ".join(f"'{reason}'" for reason in sorted(INFRASTRUCTURE))
        query = f"SELECT sample_id, repeat FROM records WHERE end_reason NOT IN ({unscored})"
        return {(row[0], row[1]) for row in self._rows(query)}

    def attempts(self) -> dict[tuple[str, int], int]:
        """(sample id, repeat) -> how often it was tried, for each record."""
        return {
            (row[0], row[1]): row[2] for row in self._rows("SELECT sample_id, repeat, attempt FROM records")
        }

    def runs(self) -> set[str]:
        """The name of each folder in RUNS that belongs to a record."""
        return {run for (run,) in self._rows("SELECT run FROM records WHERE run <> ''")}

    def run_folder(self, sample_id: str, repeat: int = 0) -> Path | None:
        """The folder of a record's trajectory; None if there is no record, or it failed before it began."""
        query = "SELECT run FROM records WHERE sample_id = ? AND repeat = ?"
        for (run,) in self._rows(query, sample_id, repeat):
            folder = self.folder / RUNS / run
            return folder if run and folder.is_dir() else None
        return None

    def close(self) -> None:
        self._database.close()

    def _connect(self) -> sqlite3.Connection:
        return _open_to_read(self.folder)

    @property
    def _about(self) -> dict[str, str]:
        return dict(self._rows("SELECT key, value FROM experiment"))

    def _rows(self, statement: str, *values: Any) -> Iterator[Any]:
        with explain_errors(self.folder), closing(self._database.execute(statement, values)) as cursor:
            yield from cursor


@contextmanager
def explain_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the database and the disk into RunFolderError.

    A value that the database cannot hold is an error of the caller and passes unchanged.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, _ERRORS_OF_VALUES):
            raise
        way_out = _recover_hint(folder) if _is_damage(error) else "make room there, or check the permissions"
        raise RunFolderError(f"{str(folder / DATABASE)!r}: {error}; {way_out}") from error
    except json.JSONDecodeError as error:
        raise RunFolderError(f"{str(folder / DATABASE)!r}: {error}; {_recover_hint(folder)}") from error
    except OSError as error:
        raise RunFolderError(f"{str(folder)!r}: {error.strerror}; choose another --out") from error


def read_configuration(about: Mapping[str, str]) -> dict[str, Any]:
    """The configuration in the rows of the table `experiment`. Raises JSONDecodeError for one that is damaged."""
    found = json.loads(about.get("configuration", ""))
    if not isinstance(found, dict):
        raise json.JSONDecodeError("the configuration is not an object", about["configuration"], 0)
    return found


def put(table: str, columns: tuple[str, ...]) -> str:
    """The statement that writes one row, replacing one with the same key."""
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
    return f"{_insert(table, columns)} ON CONFLICT DO UPDATE SET {changes}"


def put_if_new(table: str, columns: tuple[str, ...]) -> str:
    """The statement that writes one row unless there is one with the same key."""
    return f"{_insert(table, columns)} ON CONFLICT DO NOTHING"


def record_row(record: Record, clean: Callable[[str], str]) -> tuple[Any, ...]:
    """Its values in the order of RECORD_COLUMNS; the id is unchanged."""
    values = {name: getattr(record, name) for name in RECORD_COLUMNS}
    for name in ("answer", "error", "category"):
        values[name] = values[name] if values[name] is None else clean(values[name])
    return tuple(values.values())


def record_of_row(row: tuple[Any, ...]) -> Record:
    """The record of a row that `record_row` made."""
    return Record(**dict(zip(RECORD_COLUMNS, row, strict=True)))


def sample_row(sample: Sample, images: tuple[str, ...], clean: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Its values in the order of SAMPLE_COLUMNS; images: files relative to the folder of the experiment.

    Raises ConfigError for a target that cannot be written as JSON.
    """
    try:
        json.dumps(sample.target)  # `clean` would turn a set into a list
        target = json.dumps(clean(sample.target))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"sample {sample.id!r}: its target cannot be written as JSON ({error})") from error
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
    """The sample of a row that `sample_row` made; its images are files now."""
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
    """The score of a row that `score_row` made."""
    value, why, parsed, judge, unscored = row
    return Score(value, why, parsed, JudgeInfo(**json.loads(judge)) if judge else None, unscored)


def read_scores(database: sqlite3.Connection, metric: str) -> Iterator[tuple[str, int, Score]]:
    """Sample id, repeat and score of each score by a metric; also of a database of an older release."""
    is_old = _lacks_columns(database)
    columns = [column for column in SCORE_COLUMNS if not (is_old and column in _ADDED_SCORE_COLUMNS)]
    query = f"SELECT sample_id, repeat, {', '.join(columns)} FROM scores WHERE metric = ?"
    with closing(database.execute(query, (metric,))) as cursor:
        for sample_id, repeat, *row in cursor:
            yield sample_id, repeat, _score_of_old_row(*row) if is_old else score_of_row(tuple(row))


def add_score_columns(database: sqlite3.Connection) -> None:
    """Add the columns that a database of an older release lacks, filled from the text in `why`."""
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


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is the problem; text that is not UTF-8 has no code."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code in _DAMAGE or code & 0xFF in _DAMAGE


def _recover_hint(folder: Path) -> str:
    command = shlex.join(("pyvision", "bench", "recover", str(folder)))
    return f"it is damaged: `{command}` restores what can be read"


def _open_to_read(folder: Path) -> sqlite3.Connection:
    path = folder / DATABASE
    if not path.is_file():
        raise ConfigError(f"{str(folder)!r}: holds no experiment; `bench run DATASET --out DIR` creates one")
    address = f"file:{quote(os.fsencode(path.resolve()))}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None)


def _check_format(folder: Path, about: Mapping[str, str]) -> None:
    if "format" not in about:
        raise RunFolderError(f"{str(folder / DATABASE)!r}: holds no format; {_recover_hint(folder)}")
    written = about["format"], about.get("version")
    if written != (FORMAT, str(VERSION)):
        found = " ".join(part or "?" for part in written)
        raise ConfigError(f"{str(folder)!r}: the format is {found}; this release reads {FORMAT} {VERSION}")


def _lacks_columns(database: sqlite3.Connection) -> bool:
    return "judge" not in {row[1] for row in database.execute("PRAGMA table_info(scores)")}


def _score_of_old_row(value: float | None, why: str, parsed: str | None) -> Score:
    found = _JUDGE_AS_TEXT.fullmatch(why)
    judge = JudgeInfo(**found.groupdict()) if found else None
    if judge is not None and judge.verdict == "no verdict could be read":
        judge = replace(judge, verdict=None)
    failed = "no verdict" if judge else why.partition(":")[0]
    return Score(value, why, parsed, judge, failed if value is None else None)


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
