"""Search an index: documents by words, pictures by looks; and say what it holds. Thread-safe."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from pyvision.tools.retrieval.database import reading
from pyvision.tools.retrieval.entries import Hit, ImageFeatures, hit_of
from pyvision.tools.retrieval.image_descriptors import describer, descriptor_of
from pyvision.tools.retrieval.image_features import features_of
from pyvision.tools.retrieval.image_search import Like, Pictures, pictures_of
from pyvision.tools.retrieval.text_search import Statistics, find_passages, statistics_of
from pyvision.types import Picture

_PASSAGE = """
SELECT p.id, p.title, p.text, p.url, f.path FROM passages AS p JOIN files AS f ON f.id = p.file WHERE p.id = ?
"""


@dataclass(frozen=True, slots=True)
class Info:
    """What an index holds. files: kind -> how many; unfinished: those that an interrupted run left in part.
    describer: of its pictures, empty for our own."""

    path: str
    bytes: int
    version: int
    files: dict[str, int]
    passages: int
    pictures: int
    unfinished: int
    describer: str


class Index:
    """An index, to search.

    Every search opens the file anew, which takes about a millisecond: so threads share no connection, and a file
    that was replaced is noticed. The looks of pictures are kept until they change.

    Every method raises ConfigError for a file that is missing or no index, ToolError while it is locked.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._pictures: Pictures | None = None
        self._statistics: Statistics | None = None

    def documents(self, query: str, count: int = 5) -> tuple[Hit, ...]:
        """Passages and captions by the words of a query, the best first; scores as in texts.py."""
        with reading(self.path) as database:
            return find_passages(database, self._statistics_of(database), query, count)

    def identical(self, picture: Picture, count: int = 5) -> tuple[Hit, ...]:
        """Copies of a picture, also scaled or compressed ones. Raises ImageError."""
        features = self._features_of(picture)
        with reading(self.path) as database:
            found = self._pictures_of(database).copies(features, count)
            return _hits(database, found, lambda one: one.sameness)

    def similar(self, picture: Picture, count: int = 5) -> tuple[Hit, ...]:
        """Pictures of similar colours and forms, or alike to the index's network, the best first. Raises ImageError."""
        features = self._features_of(picture)
        with reading(self.path) as database:
            found = self._pictures_of(database).like(features, count)
            return _hits(database, found, lambda one: one.likeness)

    def info(self) -> Info:
        """What it holds."""
        with reading(self.path) as database:
            files = dict(database.execute("SELECT kind, count(*) FROM files GROUP BY kind ORDER BY kind"))
            passages, pictures, unfinished = (
                database.execute(f"SELECT count(*) FROM {what}").fetchone()[0]
                for what in ("passages", "pictures", "files WHERE NOT is_whole")
            )
            version = database.execute("PRAGMA user_version").fetchone()[0]
            size = self.path.stat().st_size
            name = descriptor_of(database)
            return Info(str(self.path), size, version, files, passages, pictures, unfinished, name)

    def _features_of(self, picture: Picture) -> ImageFeatures:
        with reading(self.path) as database:
            describe = describer(descriptor_of(database))
        return features_of(picture, describe)

    def _pictures_of(self, database: sqlite3.Connection) -> Pictures:
        with self._lock:  # one thread loads, the others wait for what it loads
            self._pictures = pictures_of(database, self._pictures)
            return self._pictures

    def _statistics_of(self, database: sqlite3.Connection) -> Statistics:
        with self._lock:
            self._statistics = statistics_of(database, self._statistics)
            return self._statistics


def _hits(
    database: sqlite3.Connection, found: Sequence[Like], score: Callable[[Like], float]
) -> tuple[Hit, ...]:
    rows = ((one, database.execute(_PASSAGE, (one.passage,)).fetchone()) for one in found)
    return tuple(hit_of(row, score(one), is_same=one.is_copy) for one, row in rows)
