"""Find passages by the words of a query, the best first.

The order is that of bm25 as SQLite computes it, words of a title counting double, marks (marks.py) in nothing but the
length of a passage. Any of the words will do. Rare words are looked for first, and what common ones add is looked up
for their passages alone; other passages with common words follow only where they could be among the best, and the
weightiest of them (plans.py, where the bounds are).
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from pyvision.tools.retrieval.entries import Hit, hit_of
from pyvision.tools.retrieval.postings import TITLE_WEIGHT, postings_of
from pyvision.tools.retrieval.query_plan import Search, for_common, for_rare, split_words
from pyvision.tools.retrieval.words import query_words

MAX_QUERY_WORDS = 64
_BM25_LIMIT = 2.2  # k1 + 1, with the k1 of SQLite: what a word is worth at most in units of its rarity
_BEST = f"""
SELECT id, -score FROM (
  SELECT rowid AS id, bm25(words, {TITLE_WEIGHT}, 1.0, 0.0) AS score FROM words WHERE words MATCH ? LIMIT ?
) ORDER BY score, id LIMIT ?
"""
_PASSAGE = """
SELECT p.id, p.title, p.text, p.url, f.path FROM passages AS p JOIN files AS f ON f.id = p.file WHERE p.id = ?
"""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of one state of the index.

    frequencies: word or mark -> how many passages it stands in; grows as they are asked for.
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
    words = split_words(frequencies, statistics.passages)
    rarity = {word: _rarity(statistics.passages, frequencies[word]) for word in (*words.rare, *words.common)}
    found = _best(_score(database, for_rare(words), count), count)
    if words.common and (
        len(found) < count or found[-1][1] < _likely(words.common, rarity, statistics.passages / count)
    ):
        marks = _frequencies(database, statistics, chain.from_iterable(map(postings_of, words.common)))
        others = _score(database, for_common(words, {**frequencies, **marks}), count)
        found = _best(chain(found, others), count)
    most = _BM25_LIMIT * sum(rarity.values())
    rows = ((database.execute(_PASSAGE, (passage,)).fetchone(), score) for passage, score in found)
    return tuple(hit_of(row, min(1.0, score / most)) for row, score in rows)


def _likely(common: Iterable[str], rarity: Mapping[str, float], passages_each: float) -> float:
    """What the last hit may come to by common words alone: each once, but no more than chance brings together.

    passages_each: how many passages there are for each hit. Words that do not hang together meet in one of them while
    the sum of their rarities stays below its logarithm.
    """
    return min(sum(rarity[word] for word in common), math.log(max(1.0, passages_each)))


def _score(
    database: sqlite3.Connection, searches: Iterable[Search], count: int
) -> Iterator[tuple[int, float]]:
    for search in searches:
        yield from database.execute(_BEST, (search.match, search.rows, count))


def _best(scored: Iterable[tuple[int, float]], count: int) -> list[tuple[int, float]]:
    """The best passages with their scores. A search without all words of a passage scores it too low."""
    scores = dict[int, float]()
    for passage, score in scored:
        scores[passage] = max(score, scores.get(passage, 0.0))
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:count]


def _frequencies(
    database: sqlite3.Connection, statistics: Statistics, words: Iterable[str]
) -> dict[str, int]:
    """Of those words or marks that there are."""
    known, found = statistics.frequencies, dict[str, int]()
    for word in words:
        if word not in known:
            row = database.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
            known[word] = row[0] if row else 0
        if known[word]:
            found[word] = known[word]
    return found


def _rarity(passages: int, frequency: int) -> float:
    """The inverse document frequency as SQLite's bm25 has it."""
    return max(1e-6, math.log((passages - frequency + 0.5) / (frequency + 0.5)))
