"""Search the images of an index: copies, and the most similar ones.

All image features are held in memory and compared with the query in blocks. A copy differs in at most 10 of the 128
bits of both hashes and has a similarity of 0.94 or more, so that flags of one pattern in other colours are not copies.
On drawn images (benchmarks/index.py), copies scaled to a quarter and saved as JPEG of quality 60 stay within that.
100,000 images take 120 MB of memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyvision.tools.retrieval.image_features import ImageFeatures

if TYPE_CHECKING:
    from numpy import float32, int64, uint8, uint64
    from numpy.typing import NDArray

COPY_BITS = 10
COPY_SIMILARITY = 0.94
# Numbers compared at once: few enough that BLAS uses one thread. Two would wait for each other on a busy machine.
_BLOCK = 65_536


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


def load_images(database: sqlite3.Connection, cached: ImageMatrix | None) -> ImageMatrix:
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
