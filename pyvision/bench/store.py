"""Read the results of an experiment: its configuration, samples, records and scores; also while it runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from pyvision.bench.samples import INFRASTRUCTURE, Record, Sample, Score
from pyvision.bench.schema import (
    DATABASE,
    FORMAT,
    RECORD_COLUMNS,
    RUNS,
    SAMPLE_COLUMNS,
    VERSION,
    read_scores,
    record_of_row,
    sample_of_row,
)
from pyvision.errors import ConfigError, RunFolderError


class Store:
    """The folder of one experiment, to read. Used by one thread; close it, or use it in a `with`.

    A sample counts when and only when its record is here. Raises ConfigError for a folder that holds no
    experiment, RunFolderError for one that cannot be read.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        with explain_errors(self.folder):
            self._database = _open(self.folder)
            _check_format(self.folder, self._about)

    @property
    def configuration(self) -> dict[str, Any]:
        """The fingerprint that it was begun with."""
        return dict(json.loads(self._about["configuration"]))

    @property
    def total(self) -> int | None:
        """How many records a complete experiment holds, repeats included; None where nobody could know yet."""
        total = self._about.get("total")
        return None if total is None else int(total)

    @property
    def default_metric(self) -> str | None:
        """NAME:FLAVOUR by which the samples were graded when they ended."""
        return self._about.get("metric")

    def metrics(self) -> tuple[str, ...]:
        """Every metric that there are scores of."""
        return tuple(metric for (metric,) in self._rows("SELECT DISTINCT metric FROM scores ORDER BY metric"))

    def samples(self) -> Iterator[Sample]:
        """Every sample that has a record, by id; its images are files in this folder."""
        for row in self._rows(f"SELECT {', '.join(SAMPLE_COLUMNS)} FROM samples ORDER BY id"):
            yield sample_of_row(row, self.folder)

    def records(self) -> Iterator[Record]:
        """Every record, in the order in which they were written first."""
        for row in self._rows(f"SELECT {', '.join(RECORD_COLUMNS)} FROM records ORDER BY rowid"):
            yield record_of_row(row)

    def scores(self, metric: str | None = None) -> Mapping[tuple[str, int], Score]:
        """(sample id, repeat) -> score, by this metric (NAME:FLAVOUR) or the default one. Raises ConfigError."""
        metric = metric or self.default_metric or ""
        known = self.metrics()
        if metric not in known and known:
            raise ConfigError(
                f"{self.folder}: no scores by {metric!r}; there are those by {', '.join(known)}"
            )
        with explain_errors(self.folder):
            found = read_scores(self._database, metric)
            return {(sample_id, repeat): score for sample_id, repeat, score in found}

    def finished(self) -> set[tuple[str, int]]:
        """(sample id, repeat) of every record that says something about the model."""
        unscored = ", ".join(f"'{reason}'" for reason in sorted(INFRASTRUCTURE))
        chosen = f"SELECT sample_id, repeat FROM records WHERE end_reason NOT IN ({unscored})"
        return {(row[0], row[1]) for row in self._rows(chosen)}

    def attempts(self) -> dict[tuple[str, int], int]:
        """(sample id, repeat) -> how often it was tried, for each record."""
        return {
            (row[0], row[1]): row[2] for row in self._rows("SELECT sample_id, repeat, attempt FROM records")
        }

    def run_folder(self, sample_id: str, repeat: int = 0) -> Path | None:
        """Where the trajectory of a record lies; None where there is no record, or it failed before it began."""
        chosen = "SELECT run FROM records WHERE sample_id = ? AND repeat = ?"
        for (run,) in self._rows(chosen, sample_id, repeat):
            folder = self.folder / RUNS / run
            return folder if run and folder.is_dir() else None
        return None

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _about(self) -> dict[str, str]:
        return dict(self._rows("SELECT key, value FROM experiment"))

    def _rows(self, statement: str, *values: Any) -> Iterator[Any]:
        with explain_errors(self.folder), closing(self._database.execute(statement, values)) as cursor:
            yield from cursor


@contextmanager
def explain_errors(folder: Path) -> Iterator[None]:
    """Errors of the database and the disk in words. Raises RunFolderError."""
    try:
        yield
    except sqlite3.Error as error:
        why = f"{str(folder / DATABASE)!r}: {error}"
        raise RunFolderError(f"{why}; make room there, or see who may write in this folder") from error
    except OSError as error:
        raise RunFolderError(f"{str(folder)!r}: {error.strerror}; choose another --out") from error


def _open(folder: Path) -> sqlite3.Connection:
    path = folder / DATABASE
    if not path.is_file():
        raise ConfigError(f"{str(folder)!r}: holds no experiment; `bench run DATASET --out DIR` makes one")
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None)


def _check_format(folder: Path, about: Mapping[str, str]) -> None:
    written = about.get("format"), about.get("version")
    if written != (FORMAT, str(VERSION)):
        told = " ".join(part or "?" for part in written)
        raise ConfigError(f"{str(folder)!r}: is {told}; this release reads {FORMAT} {VERSION}")
