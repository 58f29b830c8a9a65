"""Write the results of an experiment: the run folder of a sample first, then its record.

A sample counts if and only if its record exists. `prepare` writes the run folder, in the thread that answered the
sample; `commit` writes the records of all samples that ended meanwhile in one transaction, so that one write to the
disk is shared by many. Whatever goes wrong with one sample becomes an error record of that sample.

A run folder that is complete and has no record, because the runner was killed between the two or because the database
was damaged, gets its record from `adopt`, without another request to the model.

SQLite commits with a write-ahead log and synchronous=FULL.
Not covered: a power failure may lose the run folder of a sample, never its record.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from pyvision.bench.experiment import differences
from pyvision.bench.harness_card import card_hash
from pyvision.bench.runner.answering import Finished, Job, summarise
from pyvision.bench.runner.kept_replies import REPLIES, KeptReplies, ReplyFolder
from pyvision.bench.runner.run_folders import RunFolders, attempt_of, first_run_name, run_name
from pyvision.bench.samples import INFRASTRUCTURE, Record, Sample, Score
from pyvision.bench.store import (
    DATABASE,
    FORMAT,
    HARNESS,
    PICTURES,
    RECORD_COLUMNS,
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
from pyvision.errors import ConfigError, PyVisionError, RunFolderError
from pyvision.events import Event, RunStarted
from pyvision.text.redaction import Redactor
from pyvision.text.sanitize import replace_surrogates
from pyvision.trajectory import IMAGES, picture_file

_PREPARED_AT_ONCE = (
    4  # more threads would only take the interpreter from each other, at every call of the disk
)
_LOCK_FILE = "runner.lock"
_ASKED_AGAIN = ("interrupted", "model_error")  # what a reply itself may have caused needs another reply
_PUT_SAMPLE = put("samples", SAMPLE_COLUMNS)
_PUT_SAMPLE_IF_NEW = put_if_new("samples", SAMPLE_COLUMNS)
_PUT_RECORD = put("records", (*RECORD_COLUMNS, "attempt", "run", "ended_at"))
_PUT_SCORE = put("scores", ("sample_id", "repeat", "metric", *SCORE_COLUMNS))

Grade: TypeAlias = Callable[[Record, Sample], Score]


@dataclass(frozen=True, slots=True)
class FinishedSample:
    """A finished sample, ready for the database. run: its folder in RUNS; empty if it has none."""

    finished: Finished
    score: Score
    run: str
    sample: tuple[Any, ...]
    record: tuple[Any, ...]


class Recorder(Store):
    """The only writer of an experiment's folder; holds its lock until `close`.

    Used by one thread, except for `prepare`. Creates the folder, or resumes one of the same configuration.
    secrets: redacted in every text. Raises ConfigError for a folder of another configuration or in use by another
    runner, RunFolderError when a write fails; earlier records stay intact.
    """

    def __init__(  # noqa: PLR0913 - what an experiment consists of
        self,
        folder: Path,
        configuration: Mapping[str, Any],
        *,
        metric: str,
        total: int | None = None,
        harness: Mapping[str, Any] | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        """metric: key of the scores. total: number of expected records.

        harness: the card of this runner (`bench.harness_card`), which is added to those of earlier ones.
        """
        self._redactor = Redactor(secrets)
        self._recorded_configuration = self._redactor.value(configuration)
        self._metric = metric
        self._few = threading.Semaphore(_PREPARED_AT_ONCE)
        with explain_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(folder)
        try:
            if not (folder / DATABASE).is_file():
                create_database(folder, self._recorded_configuration)
            super().__init__(folder)
            with explain_errors(folder):
                self._replies = ReplyFolder(folder / REPLIES, secrets)
        except BaseException:
            self._lock.close()
            raise
        try:
            self._check_same()
            self._runs = RunFolders(folder, self._recorded_configuration, secrets)
            with explain_errors(folder):
                self._prepare_to_write()
            self._remember("metric", metric)
            if total is not None:
                self._remember("total", str(total))
            if harness is not None:
                self._add_harness(self._redactor.value(harness))
        except BaseException:
            self.close()
            raise

    def prepare(self, finished: Finished, grade: Grade, *, is_written: bool = False) -> FinishedSample:
        """Grade the answer, write the run folder unless it is written already, build the rows; may run in any thread.

        An exception becomes an error record; only RunFolderError is raised, when the disk refuses the data.
        """
        run = run_name(finished.job) if finished.events else ""
        with self._few:
            try:
                if run and not is_written:
                    self._runs.write(run, finished.events)
                if finished.record.end_reason not in _ASKED_AGAIN:
                    self._replies.remove(first_run_name(finished.job))
                return self._entry(finished, grade(finished.record, finished.job.sample), run)
            except RunFolderError:
                raise
            except Exception as error:  # noqa: BLE001 - it must not end the run of the other samples
                return self._error_entry(finished, run, error)

    def open_replies(self, job: Job) -> KeptReplies:
        """What was kept of the replies to this job, in all its attempts."""
        return self._replies.open(first_run_name(job))

    def write(self, finished: Finished, score: Score) -> None:
        """Write one finished job with this score."""
        self.commit((self.prepare(finished, lambda record, sample: score),))

    def commit(self, entries: Sequence[FinishedSample]) -> tuple[FinishedSample, ...]:
        """Write the entries in one transaction; returns them as they were written."""
        try:
            self._write(entries)
        except RunFolderError:
            raise
        except Exception:  # noqa: BLE001 - a value that the database cannot hold; only its sample fails
            return tuple(map(self._commit_alone, entries))
        return tuple(entries)

    def adopt(self, job: Job, runs: Collection[str], grade: Grade) -> FinishedSample | None:
        """The entry of a job that was answered in one of these runs without a record; None if it was not.

        Only a run of the same configuration that is complete and did not fail counts.
        """
        for run in sorted(runs, key=attempt_of, reverse=True):
            again = replace(job, attempt=attempt_of(run))
            events = self._runs.read_complete(run) if again.attempt >= job.attempt else ()
            if events and (record := summarise(again, events)).end_reason not in INFRASTRUCTURE:
                return self.prepare(Finished(again, record, events), grade, is_written=True)
        return None

    def runs_without_record(self) -> Mapping[str, Sequence[str]]:
        """Name of the first attempt -> the names of all attempts that have a folder and no record."""
        return self._runs.by_first_attempt(without=self.runs())

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
            super().close()
        self._replies.close()
        self._lock.close()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / DATABASE, timeout=30.0, isolation_level=None)

    def _prepare_to_write(self) -> None:
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        add_score_columns(self._database)

    def _check_same(self) -> None:
        changed = differences(self.configuration, self._recorded_configuration)
        if changed:
            raise ConfigError(
                f"{str(self.folder)!r}: holds results of another configuration ({'; '.join(changed)}); "
                "choose another --out"
            )

    def _entry(self, finished: Finished, score: Score, run: str) -> FinishedSample:
        sample = sample_row(finished.job.sample, _find_image_files(finished.events), self._clean)
        return FinishedSample(finished, score, run, sample, record_row(finished.record, self._clean))

    def _error_entry(self, finished: Finished, run: str, error: Exception) -> FinishedSample:
        """What can be recorded of a sample that cannot be recorded as it is; the next run tries it again."""
        why = str(error) if isinstance(error, PyVisionError) else f"{type(error).__name__}: {error}"
        job = finished.job
        sample_id = job.sample.id.encode("utf-8", "backslashreplace").decode()
        sample = Sample(sample_id, job.sample.text, (), None, category=job.sample.category)
        record = Record(
            sample_id, job.repeat, sample.category, None, "error", f"it cannot be recorded: {why}"
        )
        failed = Finished(replace(job, sample=sample), record, (), finished.fatal)
        return self._entry(failed, Score(None, "error"), run)

    def _commit_alone(self, entry: FinishedSample) -> FinishedSample:
        try:
            self._write((entry,))
        except RunFolderError:
            raise
        except Exception as error:  # noqa: BLE001 - as in `commit`
            entry = self._error_entry(entry.finished, entry.run, error)
            self._write((entry,))
        return entry

    def _write(self, entries: Sequence[FinishedSample]) -> None:
        now = _now()
        with explain_errors(self.folder), self._transaction():
            for entry in entries:
                job = entry.finished.job
                key = (job.sample.id, job.repeat)
                # a job that failed before its images were read must not replace a sample that has them
                put_sample = _PUT_SAMPLE if entry.finished.events else _PUT_SAMPLE_IF_NEW
                self._database.execute(put_sample, entry.sample)
                self._database.execute(_PUT_RECORD, (*entry.record, job.attempt, entry.run, now))
                self._database.execute("DELETE FROM scores WHERE sample_id = ? AND repeat = ?", key)
                row = (*key, self._metric, *score_row(entry.score, self._clean))
                self._database.execute(_PUT_SCORE, row)

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
        return replace_surrogates(redacted) if isinstance(redacted, str) else redacted

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


def _find_image_files(events: Sequence[Event]) -> tuple[str, ...]:
    """The image files of the question, relative to the folder of the experiment."""
    if not events or not isinstance(events[0], RunStarted):
        return ()
    return tuple(picture_file(picture).replace(IMAGES, PICTURES, 1) for picture in events[0].question.images)


def create_database(
    folder: Path,
    configuration: Mapping[str, Any],
    copy: Callable[[sqlite3.Connection], None] = lambda database: None,
) -> None:
    """Create the database under a temporary name, let `copy` fill it, then rename it."""
    part = folder / f"{DATABASE}.part"
    about = {
        "format": FORMAT,
        "version": str(VERSION),
        "configuration": json.dumps(configuration),
        "began_at": _now(),
    }
    with explain_errors(folder):
        for name in (
            part.name,
            f"{DATABASE}-wal",
            f"{DATABASE}-shm",
        ):  # a log of another database would damage this one
            (folder / name).unlink(missing_ok=True)
        database = sqlite3.connect(part, isolation_level=None)
        try:
            database.executescript(SCHEMA)
            database.executemany(put("experiment", ("key", "value")), list(about.items()))
            copy(database)
        finally:
            database.close()
        part.replace(folder / DATABASE)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class FolderLock:
    """The lock on a folder, held until `close` or the end of the process. Raises ConfigError when it is taken.

    Not covered: file systems on which flock has no effect between machines, such as some network file systems.
    """

    def __init__(self, folder: Path) -> None:
        import fcntl

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
                f"{str(path)!r}: {error.strerror}; choose another --out, or make room there"
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
