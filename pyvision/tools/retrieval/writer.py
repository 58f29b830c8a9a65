"""Write passages and pictures into an index, in batches that are there as a whole or not at all."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError
from pyvision.tools.retrieval.database import writing
from pyvision.tools.retrieval.entries import Found, ImageFeatures, Passage
from pyvision.tools.retrieval.image_descriptors import descriptor_of
from pyvision.tools.retrieval.postings import postings_in
from pyvision.tools.retrieval.words import words_in

BATCH_PASSAGES = 500
BATCH_S = 1.0  # what a kill may cost
_REMOVE = "INSERT INTO words (words, rowid, title, text, marks) VALUES ('delete', ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as the index knows it. passages: how many are written; is_whole: whether those are all."""

    id: int
    size: int
    mtime_ns: int
    sha256: str
    companion: str
    passages: int
    is_whole: bool


@contextmanager
def open_writer(path: Path) -> Iterator[Writer]:
    """A writer; what it wrote last is committed at the end unless an error ends it. Raises ConfigError."""
    with writing(path) as database:
        writer = Writer(database)
        yield writer
        writer.flush()


class Writer:
    """The one that writes. A transaction is open from the first change of a batch to `flush`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._written = 0
        self._began = time.monotonic()
        self._touches_pictures = False

    def entries(self) -> dict[str, Entry]:
        """Path -> what is known of every file."""
        chosen = "SELECT path, id, size, mtime_ns, sha256, companion, passages, is_whole FROM files"
        return {row[0]: _entry(row) for row in self._database.execute(chosen)}

    def describer(self, wanted: str | None) -> str:
        """The name of the describer of pictures, from now on the wanted one where the index holds none yet.

        Raises ConfigError for another one than that of the pictures that are there.
        """
        known = descriptor_of(self._database)
        if wanted is None or wanted == known:
            return known
        if self._database.execute("SELECT EXISTS (SELECT 1 FROM pictures)").fetchone()[0]:
            told = f"embeds pictures by {known}" if known else "describes pictures by colours and gradients"
            raise ConfigError(f"--embed {wanted}: this index {told}; give another file: --index FILE")
        self._change("INSERT OR REPLACE INTO about VALUES ('describer', ?)", wanted)
        self.flush()
        return wanted

    def begin(self, found: Found, sha256: str) -> int:
        """Make the entry of a file; returns its id."""
        values = found.path, found.kind, found.size, found.mtime_ns, sha256, found.companion
        columns = "path, kind, size, mtime_ns, sha256, companion, passages, is_whole"
        cursor = self._change(f"INSERT INTO files ({columns}) VALUES (?, ?, ?, ?, ?, ?, 0, 0)", *values)
        return cursor.lastrowid or 0

    def write(self, file: int, passage: Passage, features: ImageFeatures | None = None) -> None:
        """Append a passage to a file, a picture's with its looks."""
        values = file, passage.title, passage.text, passage.url
        cursor = self._change("INSERT INTO passages (file, title, text, url) VALUES (?, ?, ?, ?)", *values)
        words = _words(passage.title, passage.text)
        insert = "INSERT INTO words (rowid, title, text, marks) VALUES (?, ?, ?, ?)"
        self._change(insert, cursor.lastrowid, *words)
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
        """Say that all of a file is written."""
        self._change("UPDATE files SET is_whole = 1 WHERE id = ?", file)
        self._count()

    def touch(self, file: int, found: Found) -> None:
        """Note that a file with the same content has another time."""
        self._change("UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?", found.size, found.mtime_ns, file)

    def drop(self, file: int) -> None:
        """Forget a file and all that was in it."""
        chosen = "SELECT id, title, text FROM passages WHERE file = ?"
        for row, title, text in self._change(chosen, file).fetchall():
            self._change(_REMOVE, row, *_words(title, text))
        of_file = "passage IN (SELECT id FROM passages WHERE file = ?)"
        gone = self._change(f"DELETE FROM pictures WHERE {of_file}", file)
        self._touches_pictures |= gone.rowcount > 0
        self._change("DELETE FROM passages WHERE file = ?", file)
        self._change("DELETE FROM files WHERE id = ?", file)

    def flush(self) -> None:
        """Make all that was written last, and let readers see it."""
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


def _entry(row: Sequence[Any]) -> Entry:
    _, file, size, mtime_ns, sha256, companion, passages, is_whole = row
    return Entry(file, size, mtime_ns, sha256, companion, passages, bool(is_whole))


def _words(title: str, text: str) -> tuple[str, ...]:
    """What is indexed of a passage: the words of its title, those of its text, its marks."""
    of_title, of_text = words_in(title), words_in(text)
    return tuple(" ".join(words) for words in (of_title, of_text, postings_in(of_title, of_text)))
