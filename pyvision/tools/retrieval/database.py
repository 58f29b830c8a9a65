"""The SQLite file of an index: its tables, its version, how it is opened to read and to write.

Readers never wait for the writer and see whole batches only (write-ahead log). One process writes at a time: it
holds a lock on a file beside the index, which the kernel lets go of however that process ends. Not covered: network
file systems on which flock or shared memory does nothing.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from pyvision.errors import ConfigError, PyVisionError, ToolError

DEFAULT = Path(".pyvision/index.sqlite")
VARIABLE = "PYVISION_INDEX"
APPLICATION = 0x50565831  # in the header of the file: this is an index of ours
VERSION = 2  # in the header too; raised when the tables or what is in them change

# Revisions tell readers what they may keep; they begin at random, so that another file is never taken for the same
# one. The words are folded already (words.py), so the tokenizer has only to part them at spaces and to
# leave the low line in marks (marks.py). The table of the words keeps no text (content=''): passages do.
_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL, companion TEXT NOT NULL, passages INTEGER NOT NULL,
  is_whole INTEGER NOT NULL
);
CREATE TABLE passages (
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files, title TEXT NOT NULL, text TEXT NOT NULL,
  url TEXT NOT NULL
);
CREATE INDEX passages_of_file ON passages (file);
CREATE TABLE pictures (
  passage INTEGER PRIMARY KEY REFERENCES passages, sha256 TEXT NOT NULL, width INTEGER NOT NULL,
  height INTEGER NOT NULL, dhash BLOB NOT NULL, phash BLOB NOT NULL, descriptor BLOB NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (title, text, marks, content='', tokenize="unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
INSERT INTO about VALUES ('revision', random() / 2), ('pictures_revision', random() / 2);
"""


def index_path(given: str | Path | None, environment: Mapping[str, str]) -> Path:
    """Where the index lies: as given, else as PYVISION_INDEX says, else in .pyvision of the working folder."""
    return Path(given or environment.get(VARIABLE) or DEFAULT).absolute()


@contextmanager
def reading(path: Path, wait_s: float = 5.0) -> Iterator[sqlite3.Connection]:
    """One state of the index, to read.

    Raises ConfigError for a file that is missing or no index, ToolError while another program locks it.
    """
    with explain_errors(path), closing(_open(path, wait_s)) as database:
        _check(path, database)
        database.execute("BEGIN")
        yield database


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """The index, to write; made where there is none. What is not committed is undone at the end.

    Raises ConfigError for a file that is no index, or when another process writes.
    """
    with explain_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            _lock(path),
            closing(sqlite3.connect(path, timeout=5.0, isolation_level=None)) as database,
        ):
            if not database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                _make_tables(database)
            _check(path, database)
            database.execute(
                "PRAGMA synchronous = NORMAL"
            )  # a power cut costs the last batches, not the file
            yield database


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Errors of the database and the disk as one line each."""
    try:
        yield
    except sqlite3.Error as error:
        raise _format(path, error) from error
    except OSError as error:
        raise ConfigError(
            f"index {str(path)!r}: {error.strerror}; choose another file with --index or {VARIABLE}"
        ) from error


def _format(path: Path, error: sqlite3.Error) -> PyVisionError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the upper bits go into detail
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return ToolError(f"index {str(path)!r}: another program keeps it locked; try again when that is done")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        why = "is no SQLite database, or a damaged one"
        return ConfigError(f"index {str(path)!r}: {why}; delete it and run `pyvision index add` again")
    if code == sqlite3.SQLITE_FULL:
        return ConfigError(f"index {str(path)!r}: the disk is full; make room and run the command again")
    return ConfigError(f"index {str(path)!r}: {error}; see who may read and write there")


def _open(path: Path, wait_s: float) -> sqlite3.Connection:
    if not path.is_file():
        raise ConfigError(
            f"index {str(path)!r}: there is none; `pyvision index add PATH --index FILE` makes one"
        )
    # Readers share memory in a file beside it. Where none can be made nobody can be writing either.
    is_fixed = not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()
    address = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if is_fixed else ''}"
    return sqlite3.connect(address, uri=True, timeout=wait_s, isolation_level=None)


def _check(path: Path, database: sqlite3.Connection) -> None:
    application, version = (
        database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        raise ConfigError(
            f"index {str(path)!r}: is an empty file or another program's database; give another with --index"
        )
    if version != VERSION:
        raise ConfigError(
            f"index {str(path)!r}: is of version {version}, this release reads {VERSION}; "
            "delete it and run `pyvision index add` again"
        )


def _make_tables(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    header = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    database.executescript(f"BEGIN; {_TABLES} {header} COMMIT;")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    descriptor = os.open(f"{path}-writer", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 100, 0).decode(errors="replace") or "another process"
        raise ConfigError(
            f"index {str(path)!r}: {holder} is writing to it; wait until that is done, or give another --index"
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"process {os.getpid()}".encode(), 0)
