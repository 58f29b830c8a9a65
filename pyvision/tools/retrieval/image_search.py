"""Find pictures by their looks: all of them are held in memory and compared with one, in blocks.

A copy is what differs in at most 10 of the 128 bits of both hashes and is alike by 0.94 or more, so that two flags
of one pattern in different colours are none. On drawn pictures (benchmarks/index.py) copies that were scaled to a
quarter and saved as JPEG of quality 60 stay within that. 100,000 pictures take 120 MB of memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyvision.tools.retrieval.entries import ImageFeatures

if TYPE_CHECKING:
    from numpy import float32, int64, uint8, uint64
    from numpy.typing import NDArray

COPY_BITS = 10
COPY_LIKENESS = 0.94
# Numbers compared at once: so few that BLAS does it in one thread. Two wait for each other on a busy machine.
_BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class Like:
    """A picture that is like another. passage: its caption's. bits: of 128, how many of the hashes' differ."""

    passage: int
    likeness: float
    bits: int

    @property
    def is_copy(self) -> bool:
        return self.bits <= COPY_BITS and self.likeness >= COPY_LIKENESS

    @property
    def sameness(self) -> float:
        """0 to 1: 1 for the very same pixels."""
        return self.likeness * (1 - self.bits / 128)


@dataclass(frozen=True, slots=True)
class Pictures:
    """The looks of all n pictures at one revision: passages (n), hashes (n x 2), descriptors (n x numbers)."""

    revision: int
    passages: NDArray[int64]
    hashes: NDArray[uint64]
    descriptors: NDArray[float32]

    def like(self, features: ImageFeatures, count: int) -> list[Like]:
        """The `count` pictures that are most alike, the best first."""
        from numpy import argsort, flatnonzero, partition

        likeness = self._likeness(features)
        count = min(count, len(likeness))
        if not count:
            return []
        distance = -likeness
        last = partition(distance, count - 1)[count - 1]  # a tenth of the time that sorting all of them takes
        near = flatnonzero(distance <= last)
        best = near[argsort(distance[near], kind="stable")[:count]]
        return self._format(best, likeness[best], self._bits(features, best))

    def copies(self, features: ImageFeatures, count: int) -> list[Like]:
        """At most `count` copies, the best first."""
        from numpy import flatnonzero

        bits = self._bits(features, slice(None))
        near = flatnonzero(bits <= COPY_BITS)
        if not len(near):
            return []
        found = self._format(near, self.descriptors[near] @ _vector(features), bits[near])
        return sorted((one for one in found if one.is_copy), key=lambda one: -one.sameness)[:count]

    def _format(self, places: NDArray[int64], likeness: NDArray[float32], bits: NDArray[uint8]) -> list[Like]:
        """What is said of pictures at some places; likeness, bits: of these."""
        return [
            Like(int(passage), min(1.0, float(alike)), int(differing))
            for passage, alike, differing in zip(self.passages[places], likeness, bits, strict=True)
        ]

    def _bits(self, features: ImageFeatures, places: NDArray[int64] | slice) -> NDArray[uint8]:
        from numpy import bitwise_count, frombuffer, uint64

        dhash, phash = frombuffer(features.dhash + features.phash, uint64)
        hashes = self.hashes[places]
        found: NDArray[uint8] = bitwise_count(hashes[:, 0] ^ dhash) + bitwise_count(hashes[:, 1] ^ phash)
        return found

    def _likeness(self, features: ImageFeatures) -> NDArray[float32]:
        from numpy import concatenate, float32, zeros

        one = _vector(features)
        parts = [block @ one for block in self._blocks()]
        return concatenate(parts) if parts else zeros(0, float32)

    def _blocks(self) -> Iterator[NDArray[float32]]:
        rows = max(1, _BLOCK // max(1, self.descriptors.shape[1]))
        for start in range(0, len(self.descriptors), rows):
            yield self.descriptors[start : start + rows]


def pictures_of(database: sqlite3.Connection, before: Pictures | None) -> Pictures:
    """The pictures of the index as it is now, the former ones if none changed."""
    from numpy import array, float16, float32, frombuffer, int64, uint64

    revision = database.execute("SELECT value FROM about WHERE key = 'pictures_revision'").fetchone()[0]
    if before and before.revision == revision:
        return before
    chosen = "SELECT passage, dhash, phash, descriptor FROM pictures ORDER BY passage"
    rows = database.execute(chosen).fetchall()
    hashes = frombuffer(b"".join(row[1] + row[2] for row in rows), uint64).reshape(-1, 2)
    length = len(rows[0][3]) // 2 if rows else 0  # of float16 numbers
    descriptors = frombuffer(b"".join(row[3] for row in rows), float16).reshape(len(rows), length)
    return Pictures(revision, array([row[0] for row in rows], int64), hashes, descriptors.astype(float32))


def _vector(features: ImageFeatures) -> NDArray[float32]:
    from numpy import float16, float32, frombuffer

    return frombuffer(features.descriptor, float16).astype(float32)
