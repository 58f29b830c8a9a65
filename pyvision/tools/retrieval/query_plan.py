"""Plan which passages a search by words looks at, so that it takes some milliseconds among 100,000 passages.

A search costs about 1 µs for each passage that it scores and 0.1 µs for each that a common word stands in: hence the
bounds. What is lost by them:

* The rarest words that stand in at most 4,000 passages together are rare: all of these are scored, by all words that
  count. The others are common. They count, from the rarest on, while they stand in 100,000 passages together, so that
  of a long query the commonest do not. One that stands in more than half of all passages, which bm25 weighs by nothing,
  counts only where nothing else does.
* Of passages with common words alone those are scored, 3,000 at most, where one of these words is at its weightiest or
  two of the four rarest are marked (marks.py). Where no word has 200 marks, the 500 oldest passages with the rarest
  word, and 500 with another besides, are scored too.

The order of work is that of MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995). Of the
best ten that bm25 over all passages finds, `python -m benchmarks.index` tells how many are found so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pyvision.tools.retrieval.postings import postings_of

MAX_RARE = 4_000
MAX_COMMON = 100_000
MAX_WEIGHTY = 3_000
MAX_PAIRED = 4  # words: pairs grow with their square
MAX_OLDEST = 500
ENOUGH = 200  # passages with a word at its weightiest, before lower levels are left out


@dataclass(frozen=True, slots=True)
class Search:
    """What is to be matched, in the language of FTS5, and how many of the passages that match are scored."""

    match: str
    rows: int


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a query that count, each the rarest first."""

    rare: tuple[str, ...]
    common: tuple[str, ...]


def split_words(frequencies: Mapping[str, int], passages: int) -> Words:
    """Which words count. frequencies: of each word that is known; passages: how many there are."""
    order = sorted(frequencies, key=lambda word: (frequencies[word], word))
    rare = _within(order, frequencies, MAX_RARE)
    telling = [word for word in order[len(rare) :] if 2 * frequencies[word] <= passages]
    common = _within(telling, frequencies, MAX_COMMON)
    return Words(rare, common if rare or common else tuple(order[:1]))


def for_rare(words: Words) -> tuple[Search, ...]:
    """Those for passages with a rare word: by rare words alone, then by all words where a common one is there too."""
    if not words.rare:
        return ()
    alone = Search(_any(words.rare), MAX_RARE)
    return (alone, Search(_all(words.rare, words.common), MAX_RARE)) if words.common else (alone,)


def for_common(words: Words, frequencies: Mapping[str, int]) -> tuple[Search, ...]:
    """Those for passages with common words alone. frequencies: of words and of marks that are there."""
    common = words.common
    marks = [[mark for mark in postings_of(word) if mark in frequencies] for word in common]
    rows = MAX_WEIGHTY // len(common)
    weighty = [_any(_weightiest(some, frequencies, rows)) for some in marks if some]
    weighty += [_all(*pair) for pair in combinations(filter(None, marks[:MAX_PAIRED]), 2)]
    found = Search(f"({' OR '.join(f'({one})' for one in weighty)}) AND {_all(common)}", MAX_WEIGHTY)
    if any(sum(frequencies[mark] for mark in some) >= ENOUGH for some in marks):
        return (found,)
    return (found, *_oldest(common)) if weighty else _oldest(common)


def _oldest(common: Sequence[str]) -> tuple[Search, ...]:
    first, others = common[:1], common[1:]
    alone = Search(_any(first), MAX_OLDEST)
    return (alone, Search(_all(first, others), MAX_OLDEST)) if others else (alone,)


def _within(words: Sequence[str], frequencies: Mapping[str, int], most: int) -> tuple[str, ...]:
    """The first of the words that stand in so many passages together."""
    taken, rows = list[str](), 0
    for word in words:
        rows += frequencies[word]
        if rows > most:
            break
        taken.append(word)
    return tuple(taken)


def _weightiest(marks: Iterable[str], frequencies: Mapping[str, int], most: int) -> list[str]:
    taken, rows = list[str](), 0
    for mark in marks:
        if rows >= ENOUGH and rows + frequencies[mark] > most:
            break
        rows += frequencies[mark]
        taken.append(mark)
    return taken


def _all(*groups: Sequence[str]) -> str:
    """One of each group."""
    return " AND ".join(f"({_any(group)})" for group in groups)


def _any(words: Sequence[str]) -> str:
    # A word in quotation marks means itself and nothing else to FTS5; none holds a quotation mark (words.py).
    return " OR ".join(f'"{word}"' for word in words)
