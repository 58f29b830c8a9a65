"""Find passages by the words of a query, the best first.

The order is that of bm25 as SQLite computes it, words of a title counting double. Any of the words will do. A query
takes about a microsecond for each passage that one of its words stands in; so words are taken from the rarest on,
until together they stand in 20,000 passages, and commoner ones, which bm25 weighs little, do not count. Where even the
rarest is commoner than that, the 20,000 oldest passages with it are looked at. Below that the order is exact.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyvision.tools.index.entries import Hit, hit_of
from pyvision.tools.index.words import query_words

MAX_QUERY_WORDS = 64
MAX_PASSAGES = 20_000
_BM25_LIMIT = 2.2  # k1 + 1, with the k1 of SQLite: what a word is worth at most in units of its rarity
_FIND = f"""
SELECT p.id, p.title, p.text, p.url, f.path, -best.score FROM (
  SELECT id, score FROM (
    SELECT rowid AS id, bm25(words, 2.0, 1.0) AS score FROM words WHERE words MATCH ? LIMIT {MAX_PASSAGES}
  ) ORDER BY score, id LIMIT ?
) AS best JOIN passages AS p ON p.id = best.id JOIN files AS f ON f.id = p.file ORDER BY best.score, p.id
"""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of one state of the index.

    frequencies: word -> how many passages it stands in; grows as words are asked for.
    """

    revision: int
    passages: int
    frequencies: dict[str, int] = field(default_factory=dict)


def statistics_of(database: sqlite3.Connection, before: Statistics | None) -> Statistics:
    """Those of the index as it is now, the former ones if nothing changed."""
    revision = database.execute("SELECT value FROM about WHERE key = 'revision'").fetchone()[0]
    if before and before.revision == revision:
        return before
    return Statistics(revision, database.execute("SELECT count(*) FROM passages").fetchone()[0])


def find_passages(
    database: sqlite3.Connection, statistics: Statistics, query: str, count: int
) -> tuple[Hit, ...]:
    """At most `count` hits. score: the share of the most that these words could come to in one passage."""
    frequencies = _frequencies(database, statistics, query_words(query, MAX_QUERY_WORDS))
    words = _taken(frequencies)
    if not words:
        return ()
    best = _BM25_LIMIT * sum(_rarity(statistics.passages, frequencies[word]) for word in words)
    # A word in quotation marks means itself and nothing else to FTS5; none holds a quotation mark (words.py).
    rows = database.execute(_FIND, (" OR ".join(f'"{word}"' for word in words), count))
    return tuple(hit_of(row, min(1.0, row[5] / best)) for row in rows)


def _frequencies(
    database: sqlite3.Connection, statistics: Statistics, words: Sequence[str]
) -> Mapping[str, int]:
    known = statistics.frequencies
    for word in words:
        if word not in known:
            row = database.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
            known[word] = row[0] if row else 0
    return {word: known[word] for word in words if known[word]}


def _taken(frequencies: Mapping[str, int]) -> list[str]:
    taken, rows = list[str](), 0
    for word in sorted(frequencies, key=lambda word: (frequencies[word], word)):
        rows += frequencies[word]
        if taken and rows > MAX_PASSAGES:
            break
        taken.append(word)
    return taken


def _rarity(passages: int, frequency: int) -> float:
    """The inverse document frequency as SQLite's bm25 has it."""
    return max(1e-6, math.log((passages - frequency + 0.5) / (frequency + 0.5)))
