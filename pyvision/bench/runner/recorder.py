"""Write the results of an experiment: the run folder of a sample first, then its record in one transaction.

A sample counts if and only if its record exists. A killed runner leaves at most a run folder without a record, which
the next runner replaces. SQLite commits with a write-ahead log and synchronous=FULL.
Not covered: a power failure may lose the run folder of a sample, never its record.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import socket
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pyvision.bench.experiment import differences
from pyvision.bench.harness import card_hash
from pyvision.bench.runner.answering import Finished, Job
from pyvision.bench.samples import Score
from pyvision.bench.store import (
    DATABASE,
    FORMAT,
    HARNESS,
    PICTURES,
    RECORD_COLUMNS,
    RUNS,
    SAMPLE_COLUMNS,
    SCHEMA,
    SCORE_COLUMNS,
    VERSION,
    Store,
    add_score_columns,
    explain_errors,
    put,
    put_if_new,
    record_row,
    sample_row,
    score_row,
)
from pyvision.errors import ConfigError, RunFolderError
from pyvision.events import Event, RunStarted
from pyvision.text.sanitize import Redactor
from pyvision.trajectory import IMAGES, TrajectoryWriter, picture_file

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARS = 60
_LOCK_FILE = "runner.lock"
_PUT_SAMPLE = put("samples", SAMPLE_COLUMNS)
_PUT_SAMPLE_IF_NEW = put_if_new("samples", SAMPLE_COLUMNS)
_PUT_RECORD = put("records", (*RECORD_COLUMNS, "attempt", "run", "ended_at"))
_PUT_SCORE = put("scores", ("sample_id", "repeat", "metric", *SCORE_COLUMNS))


class Recorder:
    """The only writer of an experiment's folder; holds its lock until `close`. Used by one thread.

    Creates the folder, or resumes one of the same configuration. secrets: redacted in every text.
    Raises ConfigError for a folder of another configuration or in use by another runner, RunFolderError when a write
    fails; earlier records stay intact.
    """

    def __init__(  # noqa: PLR0913 - each is passed once, here
        self,
        folder: Path,
        configuration: Mapping[str, Any],
        *,
        metric: str,
        total: int | None = None,
        harness: Mapping[str, Any] | None = None,
        setup: Mapping[str, Any] | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        """metric: key of the scores. total: number of expected records. setup: for the config.json of each run.

        harness: the card of this runner (`bench.harness`), which is added to those of earlier ones.
        """
        self.folder = folder
        self._setup = setup or {}
        self._secrets = secrets
        self._redactor = Redactor(secrets)
        configuration = self._redactor.value(configuration)
        self._metric = metric
        with explain_errors(folder):
            (folder / PICTURES).mkdir(parents=True, exist_ok=True)
            (folder / RUNS).mkdir(exist_ok=True)
        self._lock = _Lock(folder)
        try:
            if (folder / DATABASE).is_file():
                _check_same(folder, configuration)
            else:
                _create(folder, configuration)
            self._database = _open_database(folder)
            self._remember("metric", metric)
            if total is not None:
                self._remember("total", str(total))
            if harness is not None:
                self._add_harness(self._redactor.value(harness))
        except BaseException:
            self._lock.close()
            raise

    def write(self, finished: Finished, score: Score) -> None:
        """Write a finished job: its trajectory, sample, record and score."""
        job = finished.job
        run = run_name(job) if finished.events else ""
        if run:
            self._write_run(self.folder / RUNS / run, finished.events)
        record = record_row(finished.record, self._clean)
        sample = sample_row(job.sample, _find_image_files(finished.events), self._clean)
        key = (job.sample.id, job.repeat)
        with explain_errors(self.folder), self._transaction():
            # a job that failed before its images were read must not replace a sample that has them
            self._database.execute(_PUT_SAMPLE if run else _PUT_SAMPLE_IF_NEW, sample)
            self._database.execute(_PUT_RECORD, (*record, job.attempt, run, _now()))
            self._database.execute("DELETE FROM scores WHERE sample_id = ? AND repeat = ?", key)
            self._database.execute(_PUT_SCORE, (*key, self._metric, *score_row(score, self._clean)))

    def write_scores(self, scores: Mapping[tuple[str, int], Score]) -> None:
        """Replace all scores of this recorder's metric."""
        rows = [(*key, self._metric, *score_row(score, self._clean)) for key, score in scores.items()]
        with explain_errors(self.folder), self._transaction():
            self._database.execute("DELETE FROM scores WHERE metric = ?", (self._metric,))
            self._database.executemany(_PUT_SCORE, rows)

    def close(self) -> None:
        """Merge the write-ahead log into the database, and release the lock."""
        with suppress(sqlite3.Error):  # with a reader or a full disk, the log stays beside the database
            self._database.execute("PRAGMA journal_mode = DELETE")
        with suppress(sqlite3.Error):
            self._database.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_run(self, folder: Path, events: Sequence[Event]) -> None:
        """Write the trajectory, with its images in the folder that all runs of the experiment share."""
        with explain_errors(self.folder):
            shutil.rmtree(folder, ignore_errors=True)  # left without a record by a killed runner
            folder.mkdir()
            (folder / IMAGES).symlink_to(Path("..", "..", PICTURES), target_is_directory=True)
        with TrajectoryWriter(folder, self._setup, secrets=self._secrets) as trajectory:
            for event in events:
                trajectory.write(event)

    def _remember(self, key: str, value: str) -> None:
        with explain_errors(self.folder):
            self._database.execute(put("experiment", ("key", "value")), (key, value))

    def _add_harness(self, card: Mapping[str, Any]) -> None:
        row = (f"{HARNESS}{card_hash(card)}", json.dumps({"since": _now(), "card": card}))
        with explain_errors(self.folder):
            self._database.execute(put_if_new("experiment", ("key", "value")), row)

    def _clean(self, value: Any) -> Any:
        """Plain values without secrets; text also without lone surrogates."""
        redacted = self._redactor.value(value)
        return _SURROGATE.sub("\ufffd", redacted) if isinstance(redacted, str) else redacted

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk has rolled it back already
                self._database.execute("ROLLBACK")
            raise


def run_name(job: Job) -> str:
    """The folder of a job's trajectory: readable, and unique for every sample id."""
    readable = _UNSAFE.sub("_", job.sample.id).strip("._")[:_NAME_CHARS] or "sample"
    hashed = sha256(job.sample.id.encode()).hexdigest()[:8]
    again = f"-attempt{job.attempt}" if job.attempt > 1 else ""
    return f"{readable}-{hashed}-{job.repeat}{again}"


def _find_image_files(events: Sequence[Event]) -> tuple[str, ...]:
    """The image files of the question, relative to the folder of the experiment."""
    if not events or not isinstance(events[0], RunStarted):
        return ()
    return tuple(picture_file(picture).replace(IMAGES, PICTURES, 1) for picture in events[0].question.images)


def _create(folder: Path, configuration: Mapping[str, Any]) -> None:
    """Create the database under a temporary name, then rename it."""
    part = folder / f"{DATABASE}.part"
    about = {
        "format": FORMAT,
        "version": str(VERSION),
        "configuration": json.dumps(configuration),
        "began_at": _now(),
    }
    with explain_errors(folder):
        part.unlink(missing_ok=True)
        database = sqlite3.connect(part, isolation_level=None)
        try:
            database.executescript(SCHEMA)
            database.executemany(put("experiment", ("key", "value")), list(about.items()))
        finally:
            database.close()
        part.replace(folder / DATABASE)


def _check_same(folder: Path, configuration: Mapping[str, Any]) -> None:
    with Store(folder) as store:
        changed = differences(store.configuration, configuration)
    if changed:
        raise ConfigError(
            f"{str(folder)!r}: holds results of another configuration ({'; '.join(changed)}); choose another --out"
        )


def _open_database(folder: Path) -> sqlite3.Connection:
    with explain_errors(folder):
        database = sqlite3.connect(folder / DATABASE, timeout=30.0, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        add_score_columns(database)
    return database


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class _Lock:
    """The lock on a folder, held until `close` or the end of the process. Raises ConfigError when it is taken.

    Not covered: file systems on which flock has no effect between machines, such as some network file systems.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / _LOCK_FILE
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFolderError(f"{str(path)!r}: {error.strerror}; choose another --out") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._sign()
        except BlockingIOError:
            holder = os.read(self._descriptor, 200).decode(errors="replace").strip() or "another process"
            os.close(self._descriptor)
            raise ConfigError(
                f"{str(folder)!r}: {holder} is writing to it; wait for it, or choose another --out"
            ) from None
        except OSError as error:
            os.close(self._descriptor)
            raise RunFolderError(
                f"{str(path)!r}: {error.strerror}; choose another --out, or free some space"
            ) from error

    def close(self) -> None:
        """Release the lock. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _sign(self) -> None:
        """Write down who holds the lock, for the error message of the next runner."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
