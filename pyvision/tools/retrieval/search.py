"""An index to search: its passages, ranked by bm25, and its images (image_search.py). Thread-safe.

Passages are ranked by the bm25 of SQLite's FTS5, with terms of a title counting double. Scoring every passage that
contains any word of a question would score nearly all of a large index, so that only passages with at least one of the
rarest terms are candidates: as many terms as occur in MAX_CANDIDATES passages together, and at least one. The others
count in the scores of the candidates, except those in more than half of all passages, whose weight in bm25 is zero.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from threading import Lock

from pyvision.tools.retrieval.database import embedder_name, open_reader
from pyvision.tools.retrieval.image_features import ImageFeatures, features_of, load_embedder
from pyvision.tools.retrieval.image_search import ImageMatch, ImageMatrix, load_images
from pyvision.tools.retrieval.passages import query_terms
from pyvision.types import Picture

MAX_QUERY_TERMS = 64
MAX_CANDIDATES = 10_000  # passages; scoring one takes about a microsecond
_BM25_LIMIT = 2.2  # k1 + 1, with the k1 of SQLite: the most that a term contributes, in units of its rarity
_BEST = """
SELECT rowid, -bm25(words, 2.0, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score DESC, rowid LIMIT ?
"""
_PASSAGE = """
SELECT p.id, p.title, p.text, p.url, f.path FROM passages AS p JOIN files AS f ON f.id = p.file WHERE p.id = ?
"""


@dataclass(frozen=True, slots=True)
class Info:
    """What an index holds. files: kind -> number; unfinished: files that an interrupted update left incomplete.

    embedder: the name of the embedder of its images, empty if it has none.
    """

    path: str
    bytes: int
    version: int
    files: dict[str, int]
    passages: int
    pictures: int
    unfinished: int
    embedder: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. score: 0 to 1, comparable within one kind of search. is_same: an exact or near duplicate.

    is_near: no duplicate, but the nearest that the collection holds.
    """

    id: int
    title: str
    text: str
    url: str
    path: str
    score: float
    is_same: bool = False
    is_near: bool = False


class Index:
    """An index to search.

    Every search opens the file again, which takes about a millisecond, so that threads share no connection and a
    replaced file is noticed. Image features and term statistics are cached until they change.

    Every method raises ConfigError if the file is missing or not an index, ToolError while it is locked.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._images: ImageMatrix | None = None
        self._statistics: _Statistics | None = None

    def documents(self, query: str, count: int = 5) -> tuple[Hit, ...]:
        """Passages and captions for the words of a query, best first."""
        with open_reader(self.path) as database:
            return _find_passages(database, self._load_statistics(database), query, count)

    def identical(self, picture: Picture, count: int = 5) -> tuple[Hit, ...]:
        """Copies of an image, also scaled or compressed ones. Raises ImageError."""
        features = self._features_of(picture)
        with open_reader(self.path) as database:
            copies = self._load_images(database).copies(features, count)
            return _hits(database, copies, lambda one: one.copy_score)

    def similar(self, picture: Picture, count: int = 5) -> tuple[Hit, ...]:
        """Images with similar colours and shapes, or similar to the index's network, best first. Raises ImageError."""
        features = self._features_of(picture)
        with open_reader(self.path) as database:
            similar = self._load_images(database).most_similar(features, count)
            return _hits(database, similar, lambda one: one.similarity)

    def info(self) -> Info:
        """What the index holds."""
        with open_reader(self.path) as database:
            files = dict(database.execute("SELECT kind, count(*) FROM files GROUP BY kind ORDER BY kind"))
            passages, pictures, unfinished = (
                database.execute(f"SELECT count(*) FROM {what}").fetchone()[0]
                for what in ("passages", "pictures", "files WHERE NOT is_whole")
            )
            version = database.execute("PRAGMA user_version").fetchone()[0]
            size = self.path.stat().st_size
            name = embedder_name(database)
            return Info(str(self.path), size, version, files, passages, pictures, unfinished, name)

    def _features_of(self, picture: Picture) -> ImageFeatures:
        with open_reader(self.path) as database:
            embed = load_embedder(embedder_name(database))
        return features_of(picture, embed)

    def _load_images(self, database: sqlite3.Connection) -> ImageMatrix:
        with self._lock:  # one thread loads them, the others wait for it
            self._images = load_images(database, self._images)
            return self._images

    def _load_statistics(self, database: sqlite3.Connection) -> _Statistics:
        with self._lock:
            self._statistics = _load_statistics(database, self._statistics)
            return self._statistics


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Of one revision of the index. frequencies: term -> how many passages contain it, filled as queries need it."""

    revision: int
    passages: int
    frequencies: dict[str, int] = field(default_factory=dict)

    def rarity(self, term: str) -> float:
        """The inverse document frequency, as in SQLite's bm25."""
        frequency = self.frequencies[term]
        return max(1e-6, math.log((self.passages - frequency + 0.5) / (frequency + 0.5)))


def _load_statistics(database: sqlite3.Connection, cached: _Statistics | None) -> _Statistics:
    """The statistics of the index; the cached ones if nothing has changed."""
    revision = database.execute("SELECT value FROM about WHERE key = 'revision'").fetchone()[0]
    if cached and cached.revision == revision:
        return cached
    return _Statistics(revision, database.execute("SELECT count(*) FROM passages").fetchone()[0])


def _find_passages(
    database: sqlite3.Connection, statistics: _Statistics, query: str, count: int
) -> tuple[Hit, ...]:
    """At most `count` hits. score: the fraction of the highest score that these terms can reach."""
    frequencies = _frequencies(database, statistics, query_terms(query, MAX_QUERY_TERMS))
    rare, common = split_terms(frequencies, statistics.passages)
    if not rare:
        return ()
    matches = [_any(rare), f"({_any(rare)}) AND ({_any(common)})"] if common else [_any(rare)]
    scores = dict[int, float]()
    for (
        match
    ) in matches:  # the second one adds what common terms contribute: a passage counts with its higher score
        for passage, score in database.execute(_BEST, (match, count)):
            scores[passage] = max(score, scores.get(passage, 0.0))
    best = sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:count]
    highest = _BM25_LIMIT * sum(map(statistics.rarity, [*rare, *common]))
    return tuple(_hit(database, passage, min(1.0, score / highest)) for passage, score in best)


def split_terms(frequencies: Mapping[str, int], passages: int) -> tuple[list[str], list[str]]:
    """The rare terms, one of which a passage must contain, and the others that count; rarest first.

    frequencies: term -> how many of all `passages` contain it.
    """
    by_rarity = sorted(frequencies, key=lambda term: (frequencies[term], term))
    candidates = accumulate(frequencies[term] for term in by_rarity)
    count = max(1, sum(each <= MAX_CANDIDATES for each in candidates))
    return by_rarity[:count], [term for term in by_rarity[count:] if 2 * frequencies[term] <= passages]


def _frequencies(
    database: sqlite3.Connection, statistics: _Statistics, terms: Sequence[str]
) -> dict[str, int]:
    """Of the terms that occur in the index."""
    known = statistics.frequencies
    for term in terms:
        if term not in known:
            row = database.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
            known[term] = row[0] if row else 0
    return {term: known[term] for term in terms if known[term]}


def _any(terms: Sequence[str]) -> str:
    # FTS5 takes a quoted term literally; no term contains a quotation mark (see `tokenize`).
    return " OR ".join(f'"{term}"' for term in terms)


def _hits(
    database: sqlite3.Connection, matches: Sequence[ImageMatch], score: Callable[[ImageMatch], float]
) -> tuple[Hit, ...]:
    return tuple(_hit(database, one.passage, score(one), is_same=one.is_copy) for one in matches)


def _hit(database: sqlite3.Connection, passage: int, score: float, *, is_same: bool = False) -> Hit:
    number, title, text, url, path = database.execute(_PASSAGE, (passage,)).fetchone()
    return Hit(number, title, text, url, path, score, is_same)
