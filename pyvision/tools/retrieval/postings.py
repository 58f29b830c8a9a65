"""Mark the words that weigh much in a passage, so that the best passages with a common word are found without the rest.

A mark is the word with its level from 1 to 9 (`river_3`); the lowest stands for a word that is said a little more than
once in a passage of usual length, or once in a shorter one, each further one for a quarter more. Most words of a
passage have none. Marks stand in a column of their own that counts nothing in the ranking but for the length of the
passage. Levels hang on nothing but the passage, so that they are the same when it is removed. The idea is that of
impact-ordered indexes (Anh, de Kretser, Moffat, "Vector-space ranking with effective early termination", SIGIR 2001).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

LEVELS = 9
TITLE_WEIGHT = 2  # how often a word of a title counts
_USUAL_LENGTH = 110  # words
_LEVELS_OF_A_DOUBLING = 3
_LEAST = 2 ** (1 / _LEVELS_OF_A_DOUBLING)  # the weight of the lowest level
_B = 0.75  # how much of bm25 hangs on the length, as in SQLite


def postings_in(title: Sequence[str], text: Sequence[str]) -> list[str]:
    """The marks of a passage, of its folded words."""
    weights = Counter(text)
    for word in title:
        weights[word] += TITLE_WEIGHT
    usual = 1 - _B + _B * (len(title) + len(text)) / _USUAL_LENGTH
    least = usual * _LEAST
    return [_mark(word, _level(weight / usual)) for word, weight in weights.items() if weight >= least]


def postings_of(word: str) -> Iterator[str]:
    """All the marks that a word can have, the weightiest first."""
    return (_mark(word, level) for level in range(LEVELS, 0, -1))


def _mark(word: str, level: int) -> str:
    return f"{word}_{level}"  # no word has a low line (words.py), so none is taken for a mark


def _level(weight: float) -> int:
    return max(1, min(LEVELS, math.floor(_LEVELS_OF_A_DOUBLING * math.log2(weight))))
