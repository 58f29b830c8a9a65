"""Turn text into the words that are indexed and looked for; the same for passages and for queries.

Words are folded: no case, no accents, no English plural (the S stemmer of Harman 1991, "How effective is suffixing?",
JASIS 42(1)). Chinese and Japanese are written without spaces, so there each character is a word of its own.
Not covered: other inflections, synonyms, compounds, Thai and other scripts without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

MAX_WORD_CHARS = 64  # longer ones are data: base64, hashes
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_PLURALS = (  # ending, what stands before it in words that are no plural, what takes its place
    ("ies", ("e", "a"), "y"),
    ("es", ("a", "e", "o"), "e"),
    ("s", ("u", "s"), ""),
)


def words_in(text: str) -> list[str]:
    """The words of a text in order, folded; what is neither letter nor digit parts them."""
    return [_singular(word[:MAX_WORD_CHARS]) for word in _WORD.findall(_fold(text))]


def query_words(query: str, limit: int) -> tuple[str, ...]:
    """The different words of a query in order, at most so many."""
    return tuple(islice(dict.fromkeys(words_in(query)), limit))


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(character for character in parts if not unicodedata.combining(character))
    return unicodedata.normalize("NFKC", plain)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s"):
        return word
    for ending, exceptions, instead in _PLURALS:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return word if stem.endswith(exceptions) else stem + instead
    return word
