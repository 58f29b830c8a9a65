"""Search an index: passages by bm25, images by their features; and count what it holds. Thread-safe.

Passages are ranked by the bm25 of SQLite's FTS5, with terms of a title counting double. Scoring every passage that
contains any word of a question would score nearly all of a large index, so that only passages with at least one of the
rarest terms are candidates: as many terms as occur in MAX_CANDIDATES passages together, and at least one. The others
count in the scores of the candidates, except those in more than half of all passages, whose weight in bm25 is zero.

All image features are held in memory and compared with the query in blocks. A copy differs in at most 10 of the 128
bits of both hashes and has a similarity of 0.94 or more, so that flags of one pattern in other colours are not copies.
On drawn images (benchmarks/index.py), copies scaled to a quarter and saved as JPEG of quality 60 stay within that.
100,000 images take 120 MB of memory.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from pyvision.tools.retrieval.database import embedder_name, open_reader
from pyvision.tools.retrieval.image_features import ImageFeatures, features_of, load_embedder
from pyvision.tools.retrieval.passages import query_terms
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy import float32, int64, uint8, uint64
    from numpy.typing import NDArray

MAX_QUERY_TERMS = 64
MAX_CANDIDATES = 10_000  # passages; scoring one takes about a microsecond
COPY_BITS = 10
COPY_SIMILARITY = 0.94
# Numbers compared at once: few enough that BLAS uses one thread. Two would wait for each other on a busy machine.
_BLOCK = 65_536
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
            self._images = _load_images(database, self._images)
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


@dataclass(frozen=True, slots=True)
class ImageMatch:
    """An image compared with the query. passage: its caption. bits: how many of the 128 bits of the hashes differ."""

    passage: int
    similarity: float
    bits: int

    @property
    def is_copy(self) -> bool:
        return self.bits <= COPY_BITS and self.similarity >= COPY_SIMILARITY

    @property
    def copy_score(self) -> float:
        """0 to 1; 1 for the same pixels."""
        return self.similarity * (1 - self.bits / 128)


@dataclass(frozen=True, slots=True)
class ImageMatrix:
    """The features of all n images at one revision: passages (n), hashes (n x 2), descriptors (n x numbers)."""

    revision: int
    passages: NDArray[int64]
    hashes: NDArray[uint64]
    descriptors: NDArray[float32]

    def most_similar(self, features: ImageFeatures, count: int) -> list[ImageMatch]:
        """The `count` most similar images, best first."""
        from numpy import argsort, flatnonzero, partition

        similarity = self._similarity(features)
        count = min(count, len(similarity))
        if not count:
            return []
        distance = -similarity
        last = partition(distance, count - 1)[count - 1]  # ten times as fast as sorting all of them
        near = flatnonzero(distance <= last)
        best = near[argsort(distance[near], kind="stable")[:count]]
        return self._matches(best, similarity[best], self._bits(features, best))

    def copies(self, features: ImageFeatures, count: int) -> list[ImageMatch]:
        """At most `count` copies, best first."""
        from numpy import flatnonzero

        bits = self._bits(features, slice(None))
        near = flatnonzero(bits <= COPY_BITS)
        if not len(near):
            return []
        found = self._matches(near, self.descriptors[near] @ _vector(features), bits[near])
        return sorted((one for one in found if one.is_copy), key=lambda one: -one.copy_score)[:count]

    def _matches(
        self, rows: NDArray[int64], similarity: NDArray[float32], bits: NDArray[uint8]
    ) -> list[ImageMatch]:
        return [
            ImageMatch(int(passage), min(1.0, float(each)), int(differing))
            for passage, each, differing in zip(self.passages[rows], similarity, bits, strict=True)
        ]

    def _bits(self, features: ImageFeatures, rows: NDArray[int64] | slice) -> NDArray[uint8]:
        from numpy import bitwise_count, frombuffer, uint64

        dhash, phash = frombuffer(features.dhash + features.phash, uint64)
        hashes = self.hashes[rows]
        found: NDArray[uint8] = bitwise_count(hashes[:, 0] ^ dhash) + bitwise_count(hashes[:, 1] ^ phash)
        return found

    def _similarity(self, features: ImageFeatures) -> NDArray[float32]:
        from numpy import concatenate, float32, zeros

        one = _vector(features)
        parts = [block @ one for block in self._blocks()]
        return concatenate(parts) if parts else zeros(0, float32)

    def _blocks(self) -> Iterator[NDArray[float32]]:
        rows = max(1, _BLOCK // max(1, self.descriptors.shape[1]))
        for start in range(0, len(self.descriptors), rows):
            yield self.descriptors[start : start + rows]


def _load_images(database: sqlite3.Connection, cached: ImageMatrix | None) -> ImageMatrix:
    """The images of the index; the cached ones if none has changed."""
    from numpy import array, float16, float32, frombuffer, int64, uint64

    revision = database.execute("SELECT value FROM about WHERE key = 'pictures_revision'").fetchone()[0]
    if cached and cached.revision == revision:
        return cached
    query = "SELECT passage, dhash, phash, descriptor FROM pictures ORDER BY passage"
    rows = database.execute(query).fetchall()
    hashes = frombuffer(b"".join(row[1] + row[2] for row in rows), uint64).reshape(-1, 2)
    length = len(rows[0][3]) // 2 if rows else 0  # of float16 numbers
    descriptors = frombuffer(b"".join(row[3] for row in rows), float16).reshape(len(rows), length)
    return ImageMatrix(revision, array([row[0] for row in rows], int64), hashes, descriptors.astype(float32))


def _vector(features: ImageFeatures) -> NDArray[float32]:
    from numpy import float16, float32, frombuffer

    return frombuffer(features.descriptor, float16).astype(float32)
