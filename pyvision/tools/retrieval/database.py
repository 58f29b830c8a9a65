"""The SQLite file of an index: its tables, its version, how it is opened, and how passages are written to it.

Readers never wait for the writer and only see whole batches (write-ahead log). One process writes at a time: it holds
a lock on a file next to the index, which the operating system releases whenever that process ends. Not covered:
network file systems without flock or shared memory.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyvision.errors import ConfigError, PyVisionError, ToolError
from pyvision.tools.retrieval.image_features import OWN, ImageFeatures
from pyvision.tools.retrieval.passages import Passage, tokenize
from pyvision.tools.retrieval.scan import SourceFile

DEFAULT = Path(".pyvision/index.sqlite")
VARIABLE = "PYVISION_INDEX"
APPLICATION = 0x50565831  # application_id in the file header
VERSION = 3  # user_version in the file header; raised when the tables or their contents change

BATCH_PASSAGES = 500
BATCH_S = 1.0  # at most this much work is lost if the process is killed
_DELETE_TERMS = "INSERT INTO words (words, rowid, title, text) VALUES ('delete', ?, ?, ?)"

# Readers cache data by revision; revisions start at random, so that a replaced file is never mistaken for the old one.
# The table `words` gets terms (see `passages.tokenize`), so its tokenizer only has to split them at spaces; it stores
# no text (content=''), as `passages` does.
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
CREATE VIRTUAL TABLE words USING fts5 (title, text, content='', tokenize="unicode61");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
INSERT INTO about VALUES ('revision', random() / 2), ('pictures_revision', random() / 2);
"""


def index_path(given: str | Path | None, environment: Mapping[str, str]) -> Path:
    """The path of the index: as given, else PYVISION_INDEX, else .pyvision/index.sqlite in the working folder."""
    return Path(given or environment.get(VARIABLE) or DEFAULT).absolute()


@contextmanager
def open_reader(path: Path, timeout_s: float = 5.0) -> Iterator[sqlite3.Connection]:
    """A snapshot of the index, for reading.

    Raises ConfigError if the file is missing or not an index, ToolError while another program locks it.
    """
    with explain_errors(path), closing(_open(path, timeout_s)) as database:
        _check(path, database)
        database.execute("BEGIN")
        yield database


@contextmanager
def open_writer(path: Path) -> Iterator[Writer]:
    """A writer of the index, which is created if it is missing; commits at the end, unless an exception ends it.

    Raises ConfigError for a file that is not an index, or if another process writes to it.
    """
    with explain_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            _lock(path),
            closing(sqlite3.connect(path, timeout=5.0, isolation_level=None)) as database,
        ):
            if not database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                _create_tables(database)
            _check(path, database)
            database.execute(
                "PRAGMA synchronous = NORMAL"
            )  # a power failure costs the last batches, not the file
            writer = Writer(database)
            yield writer
            writer.flush()


def embedder_name(database: sqlite3.Connection) -> str:
    """The name of the embedder whose vectors an index holds; OWN if it has none."""
    row = database.execute("SELECT value FROM about WHERE key = 'describer'").fetchone()
    return str(row[0]) if row else OWN


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file in the index. passages: how many are written; is_whole: whether these are all."""

    id: int
    size: int
    mtime_ns: int
    sha256: str
    companion: str
    passages: int
    is_whole: bool


class Writer:
    """Writes to the index. A transaction is open from the first change of a batch to `flush`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._written = 0
        self._began = time.monotonic()
        self._touches_pictures = False

    def entries(self) -> dict[str, IndexedFile]:
        """Path -> entry, for every file."""
        chosen = "SELECT path, id, size, mtime_ns, sha256, companion, passages, is_whole FROM files"
        return {row[0]: _entry(row) for row in self._database.execute(chosen)}

    def choose_embedder(self, wanted: str | None) -> str:
        """The name of the embedder for images: the wanted one if the index has no images yet, else its own.

        Raises ConfigError if the wanted one differs from that of the images in the index.
        """
        known = embedder_name(self._database)
        if wanted is None or wanted == known:
            return known
        if self._database.execute("SELECT EXISTS (SELECT 1 FROM pictures)").fetchone()[0]:
            current = f"the embedder {known}" if known else "colours and gradients, without an embedder"
            raise ConfigError(
                f"--embed {wanted}: the images in this index use {current}; give another file: --index FILE"
            )
        self._change("INSERT OR REPLACE INTO about VALUES ('describer', ?)", wanted)
        self.flush()
        return wanted

    def begin(self, found: SourceFile, sha256: str) -> int:
        """Create the entry of a file; returns its id."""
        values = found.path, found.kind, found.size, found.mtime_ns, sha256, found.companion
        columns = "path, kind, size, mtime_ns, sha256, companion, passages, is_whole"
        cursor = self._change(f"INSERT INTO files ({columns}) VALUES (?, ?, ?, ?, ?, ?, 0, 0)", *values)
        return cursor.lastrowid or 0

    def write(self, file: int, passage: Passage, features: ImageFeatures | None = None) -> None:
        """Append a passage to a file; that of an image with its features."""
        values = file, passage.title, passage.text, passage.url
        cursor = self._change("INSERT INTO passages (file, title, text, url) VALUES (?, ?, ?, ?)", *values)
        terms = _terms(passage.title, passage.text)
        self._change("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", cursor.lastrowid, *terms)
        if features:
            self._touches_pictures = True
            parts = (
                features.sha256,
                features.width,
                features.height,
                features.dhash,
                features.phash,
                features.descriptor,
            )
            self._change("INSERT INTO pictures VALUES (?, ?, ?, ?, ?, ?, ?)", cursor.lastrowid, *parts)
        self._change("UPDATE files SET passages = passages + 1 WHERE id = ?", file)
        self._count()

    def end(self, file: int) -> None:
        """Mark a file as completely written."""
        self._change("UPDATE files SET is_whole = 1 WHERE id = ?", file)
        self._count()

    def touch(self, file: int, found: SourceFile) -> None:
        """Record a new size and time of a file with the same content."""
        self._change("UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?", found.size, found.mtime_ns, file)

    def delete(self, file: int) -> None:
        """Delete a file and its passages."""
        chosen = "SELECT id, title, text FROM passages WHERE file = ?"
        for row, title, text in self._change(chosen, file).fetchall():
            self._change(_DELETE_TERMS, row, *_terms(title, text))
        of_file = "passage IN (SELECT id FROM passages WHERE file = ?)"
        gone = self._change(f"DELETE FROM pictures WHERE {of_file}", file)
        self._touches_pictures |= gone.rowcount > 0
        self._change("DELETE FROM passages WHERE file = ?", file)
        self._change("DELETE FROM files WHERE id = ?", file)

    def flush(self) -> None:
        """Commit the batch, so that readers see it."""
        if self._database.in_transaction:
            keys = "('revision', 'pictures_revision')" if self._touches_pictures else "('revision')"
            self._change(f"UPDATE about SET value = value + 1 WHERE key IN {keys}")
            self._database.execute("COMMIT")
        self._written, self._began, self._touches_pictures = 0, time.monotonic(), False

    def _count(self) -> None:
        self._written += 1
        if self._written >= BATCH_PASSAGES or time.monotonic() - self._began >= BATCH_S:
            self.flush()

    def _change(self, statement: str, *values: object) -> sqlite3.Cursor:
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")
        return self._database.execute(statement, values)


def _entry(row: Sequence[Any]) -> IndexedFile:
    _, file, size, mtime_ns, sha256, companion, passages, is_whole = row
    return IndexedFile(file, size, mtime_ns, sha256, companion, passages, bool(is_whole))


def _terms(title: str, text: str) -> tuple[str, str]:
    """What is indexed of a passage: the terms of its title and of its text."""
    return " ".join(tokenize(title)), " ".join(tokenize(text))


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite and the file system, each as one line."""
    try:
        yield
    except sqlite3.Error as error:
        raise _format(path, error) from error
    except OSError as error:
        raise ConfigError(
            f"index {str(path)!r}: {error.strerror}; choose another file with --index or {VARIABLE}"
        ) from error


def _format(path: Path, error: sqlite3.Error) -> PyVisionError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the upper bits are details
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return ToolError(f"index {str(path)!r}: locked by another program; try again later")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        why = "not an SQLite database, or a damaged one"
        return ConfigError(
            f"index {str(path)!r}: {why}; delete it and build it again with `pyvision index add PATH`"
        )
    if code == sqlite3.SQLITE_FULL:
        return ConfigError(
            f"index {str(path)!r}: the disk is full; free some space and run the command again"
        )
    return ConfigError(f"index {str(path)!r}: {error}; check the permissions of the file and its folder")


def _open(path: Path, timeout_s: float) -> sqlite3.Connection:
    if not path.is_file():
        raise ConfigError(
            f"index {str(path)!r}: no such file; create it with `pyvision index add PATH --index FILE`"
        )
    # Readers share memory through a file next to it. Where that cannot be created, nobody can write either.
    is_immutable = not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()
    address = f"file:{quote(os.fsencode(path))}?mode=ro{'&immutable=1' if is_immutable else ''}"
    return sqlite3.connect(address, uri=True, timeout=timeout_s, isolation_level=None)


def _check(path: Path, database: sqlite3.Connection) -> None:
    application, version = (
        database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        raise ConfigError(
            f"index {str(path)!r}: an empty file or another program's database; give another file with --index"
        )
    if version != VERSION:
        raise ConfigError(
            f"index {str(path)!r}: has version {version}, but this release reads version {VERSION}; "
            "delete it and build it again with `pyvision index add PATH`"
        )


def _create_tables(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    header = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    database.executescript(f"BEGIN; {_TABLES} {header} COMMIT;")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    descriptor = os.open(f"{path}-writer", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path) -> None:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 100, 0).decode(errors="replace") or "another process"
        raise ConfigError(
            f"index {str(path)!r}: {holder} is writing to it; wait until it has finished, or give another --index"
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"process {os.getpid()}".encode(), 0)
