"""Split text and Markdown into passages with titles, and passages and queries into index terms.

A passage is one or more whole paragraphs of one section; a paragraph that is longer than a passage is split at the
end of a sentence or else of a word. Tables, lists and code count as paragraphs.

A term is a word without case, accents and English plural (the S stemmer of Harman 1991, "How effective is suffixing?",
JASIS 42(1)). Chinese and Japanese are written without spaces, so each of their characters is a term.
Not covered: other inflections, synonyms, compounds, Thai and other scripts without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

PASSAGE_CHARS = 1000  # about 200 words: a model reads several whole passages
TITLE_CHARS = 120
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FRONT_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)|[。！？]")

MAX_WORD_CHARS = 64  # a longer one is data: base64, a hash
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_PLURALS = (  # ending; letters before it in words that are not plurals; replacement
    ("ies", ("e", "a"), "y"),
    ("es", ("a", "e", "o"), "e"),
    ("s", ("u", "s"), ""),
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text with the title of its section or document; for an image, its caption."""

    title: str
    text: str
    url: str = ""


def markdown_passages(text: str, name: str) -> Iterator[Passage]:
    """The passages of a Markdown file. Title: from the front matter or the first heading, and the section's heading.

    name: the title of a file without one.
    """
    text = _normalize_newlines(text)
    front = _FRONT_MATTER.match(text)
    given = _FRONT_TITLE.search(front[1]) if front else None
    sections = list(_sections(text[front.end() :] if front else text))
    headings = [heading for heading, _ in sections if heading]
    title = short_title(given[1]) if given else headings[0] if headings else name
    for heading, body in sections:
        own = title if heading in ("", title) else f"{title} — {heading}"
        for part in split(body):
            yield Passage(own, part)


def text_passages(text: str, name: str) -> Iterator[Passage]:
    """The passages of a plain text. Its title is the first line if that is a short paragraph, otherwise `name`."""
    text = _normalize_newlines(text).strip()
    first, _, rest = text.partition("\n")
    if rest.startswith("\n") and len(first) <= TITLE_CHARS and not _SENTENCE_END.search(first[-2:]):
        name, text = first.strip(), rest
    for part in split(text):
        yield Passage(name, part)


def split(text: str) -> Iterator[str]:
    """The paragraphs of a text, joined up to the length of a passage."""
    passage = ""
    for paragraph in re.split(r"\n\s*\n", text):
        for part in _parts(paragraph.strip()):
            if passage and len(passage) + len(part) + 2 > PASSAGE_CHARS:
                yield passage
                passage = ""
            passage = f"{passage}\n\n{part}" if passage else part
    if passage:
        yield passage


def short_title(text: str) -> str:
    """A title on one line, shortened to TITLE_CHARS."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def tokenize(text: str) -> list[str]:
    """The terms of a text, in order; any character that is not a letter or a digit separates them."""
    return [_singular(word[:MAX_WORD_CHARS]) for word in _WORD.findall(_fold(text))]


def query_terms(query: str, limit: int) -> tuple[str, ...]:
    """The different terms of a query, in order, at most `limit`."""
    return tuple(islice(dict.fromkeys(tokenize(query)), limit))


def _normalize_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """(heading, body); the first heading may be empty. A # inside a code fence is not a heading."""
    heading, body, fence = "", list[str](), ""
    for line in text.split("\n"):
        if opening := _FENCE.match(line):
            fence = "" if fence == opening[1] else fence or opening[1]
        if not fence and (found := _HEADING.match(line)):
            yield heading, "\n".join(body)
            heading, body = short_title(found[2]), []
        else:
            body.append(line)
    yield heading, "\n".join(body)


def _parts(paragraph: str) -> Iterator[str]:
    """A paragraph; if it is too long, pieces of it."""
    while len(paragraph) > PASSAGE_CHARS:
        end = _break(paragraph[:PASSAGE_CHARS])
        yield paragraph[:end].strip()
        paragraph = paragraph[end:].strip()
    if paragraph:
        yield paragraph


def _break(start: str) -> int:
    """Where to split: after the last sentence end in the second half, else before its last word, else at the end."""
    half = len(start) // 2
    ends = [found.end() for found in _SENTENCE_END.finditer(start, half)]
    if ends:
        return ends[-1]
    spaces = [
        place
        for place, (before, after) in enumerate(pairwise(start), 1)
        if before.isspace() > after.isspace()
    ]
    return spaces[-1] if spaces and spaces[-1] > half else len(start)


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(character for character in parts if not unicodedata.combining(character))
    return unicodedata.normalize("NFKC", plain)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s"):
        return word
    for ending, exceptions, replacement in _PLURALS:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return word if stem.endswith(exceptions) else stem + replacement
    return word
