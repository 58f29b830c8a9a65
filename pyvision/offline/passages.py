"""Answer a question from passages by rules: the sentence nearest to its words, and in it what its kind asks for.

Covered: when, how many and other quantities, who, where, what and which, in plain English sentences that use the words
of the question. Not covered: anything that has to be understood, such as negation, comparison or other words for the
same thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_PASSAGE = re.compile(r"Title:[ \t]*([^\n]*)\n\s*Content:[ \t]*(.*?)(?=\n\s*Title:|\n\]|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])|\n+")
_WORD = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    """
    a an the of in on at to for by from with and or is are was were be been does do did has have had it its this that
    these those what which who whom whose when where how many much there their as into about name called
    """.split()  # noqa: SIM905 - a list of words is read more easily as a text
)
_STEM = 5  # letters that two forms of a word have in common, as a rule of thumb
_DATE = re.compile(
    r"\b(?:\d{1,2} )?(?:(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r" (?:\d{1,2}, )?)?[12]\d{3}\b"
)
_QUANTITY = re.compile(r"(?<![\w.])\d[\d,.]*\d(?:\s?[a-zA-Zµ°%²³/]+)?|(?<![\w.])\d(?:\s?[a-zA-Zµ°%²³/]+)?")
_MEASURES = (  # how a question asks for it, and how a text says it
    ("deep", "depth"),
    ("long", "length", "lasted"),
    ("wide", "width", "breadth"),
    ("tall", "high", "height"),
    ("heavy", "weighs", "weight"),
    ("old", "age"),
    ("fast", "speed"),
)
_NAME = r"[A-Z][\w'-]+(?:(?: of| de| van| der| the)? [A-Z][\w'-]+)*"
_BY = re.compile(rf"\b(?:by|was|is|named|called)\s+(?:the\s+)?({_NAME})")
_AT = re.compile(rf"\b(?:in|at|near|on|from|to)\s+(?:the\s+)?({_NAME})")
_ANY_NAME = re.compile(rf"\b({_NAME})")
_IS = r"\s+(?:[\w-]+\s+){0,4}?(?:is|was|are|were)\s+(?:called |named )?(?:an? |the )?([^.,;()\n]{1,60})"


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text under a title."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Extract:
    """A short answer, the sentence that holds it, the title that it stands under, and the place of its passage."""

    answer: str
    sentence: str
    title: str
    place: int = 0


def passages_in(text: str) -> list[Passage]:
    """The Title and Content blocks of a search's output."""
    return [Passage(title.strip().rstrip(","), content.strip()) for title, content in _PASSAGE.findall(text)]


def find_extract(question: str, text: str) -> Extract | None:
    """The answer that the best sentence gives, or None where no sentence shares a word and has one to give."""
    wanted, extract = _stems(question) | _stems(" ".join(_measure(question))), _extractor(question)
    scored = sorted(_score(wanted, passages_in(text)), key=lambda each: -each[0])
    for _, sentence, title, place in scored:
        found = extract(sentence, question)
        if found:
            return Extract(found, sentence, title, place)
    return None


def _score(wanted: frozenset[str], passages: list[Passage]) -> Iterator[tuple[int, str, str, int]]:
    """A word of the question counts twice in the sentence; one that stands in the title too counts there only once."""
    for place, passage in enumerate(passages):
        titled = _stems(passage.title)
        for sentence in _SENTENCE.split(passage.text):
            own = (_stems(sentence) & wanted) - titled
            if own:
                yield 2 * len(own) + len(titled & wanted), " ".join(sentence.split()), passage.title, place


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in _STOP)


def _extractor(question: str) -> Callable[[str, str], str | None]:
    plain = question.casefold()
    kinds = (
        (r"\bwhen\b|\b(?:which|what) (?:year|date|century)\b", _when),
        (r"\bhow (?:many|much|tall|high|long|wide|deep|heavy|old|far|large|big|fast)\b", _how_many),
        (r"\bwho(?:m|se)?\b", _who),
        (r"\bwhere\b|\b(?:in|on|at) (?:which|what)\b", _where),
    )
    return next((extract for wording, extract in kinds if re.search(wording, plain)), _what)


def _when(sentence: str, question: str) -> str | None:
    found = _DATE.search(sentence)
    return found[0].strip() if found else None


def _how_many(sentence: str, question: str) -> str | None:
    """The quantity that stands nearest to the measure that is asked for, else the first one."""
    quantities = list(_QUANTITY.finditer(sentence))
    names = "|".join(_measure(question))
    named = re.search(rf"\b(?:{names})\b", sentence, re.IGNORECASE) if names else None
    if named:
        quantities.sort(key=lambda found: max(found.start() - named.end(), named.start() - found.end()))
    return quantities[0][0].strip(" .,") if quantities else None


def _measure(question: str) -> tuple[str, ...]:
    """The words for what a question wants to have measured; none where it measures nothing."""
    asked = re.search(r"\bhow (\w+)\b", question.casefold())
    return next((words for words in _MEASURES if asked and asked[1] in words), ())


def _who(sentence: str, question: str) -> str | None:
    return _new(_BY, sentence, question) or _new(_ANY_NAME, sentence, question)


def _where(sentence: str, question: str) -> str | None:
    return _new(_AT, sentence, question) or _what(sentence, question)


def _what(sentence: str, question: str) -> str | None:
    """What a word of the question `is`, else the first name that is not in the question."""
    words = [word for word in re.findall(r"[a-z]+", question.casefold()) if word not in _STOP]
    for word in words:
        found = re.search(rf"\b{word}\w*{_IS}", sentence, re.IGNORECASE)
        if found and not _stems(found[1]) <= _stems(question):
            return found[1].strip()
    return _new(_ANY_NAME, sentence, question)


def _new(pattern: re.Pattern[str], sentence: str, question: str) -> str | None:
    known = _stems(question)
    names = (str(name) for name in pattern.findall(sentence))
    return next((name for name in names if _stems(name) and not _stems(name) & known), None)
