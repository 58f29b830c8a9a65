"""Verdicts: read one out of a reply, and its score out of the log probabilities of its tokens."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

from pyvision.strategies.vdebugger.programs import FUNCTION
from pyvision.strategies.vdebugger.trace_format import blocks_of
from pyvision.text.replies import without_thinking
from pyvision.types import Reply, TokenLogprob

# ---- Where a program is at fault: read a critic's marks, mark a program, keep a change within the marks.


OPEN, CLOSE = "<<<BUG>>>", "<<<BUG/>>>"
_MARKED = re.compile(
    r"<<<\s*BUG\s*>>>(.*?)<<<\s*(?:BUG\s*/|/\s*BUG|END[ _]?BUG)\s*>>>", re.DOTALL | re.IGNORECASE
)
_ANY_MARK = re.compile(r"<<<\s*(?:/\s*|END[ _]?)?BUG\s*/?\s*>>>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """program[start:end], as characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Marks:
    """What a critic has marked. fault: why it is less than one place in the program; None if it is one."""

    spans: tuple[Span, ...] = ()
    fault: str | None = None


def marks_in(reply: str, program: str) -> Marks:
    """The spans that a reply marks. What is compared are the characters that are no white space.

    Either the program was written out again with marks in it, or only the marked part stands there: that has to
    occur in the program once. Several spans are all kept.
    """
    text = without_thinking(reply)
    if _MARKED.search(text) is None:
        return Marks(fault="half a mark" if _ANY_MARK.search(text) else "nothing is marked")
    spans = _in_whole(text, program) or _in_parts(text, program)
    if not spans:
        return Marks(fault="what is marked is not in the program, or more than once")
    if len(spans) < len(_MARKED.findall(text)):
        return Marks(spans, "some of what is marked is not in the program, or more than once")
    return Marks(spans, "several spans are marked" if len(spans) > 1 else None)


def mark_program(program: str, spans: tuple[Span, ...]) -> str:
    """The program with its spans between marks."""
    for span in sorted(spans, key=lambda each: each.start, reverse=True):
        inside = program[span.start : span.end]
        program = f"{program[: span.start]}{OPEN}{inside}{CLOSE}{program[span.end :]}"
    return program


def within(old: str, new: str, spans: tuple[Span, ...]) -> str:
    """The new program with every line restored that was changed outside the lines of the spans."""
    lines, others = old.splitlines(), new.splitlines()
    allowed = {
        number
        for span in spans
        for number in range(_line_of(old, span.start), _line_of(old, max(span.start, span.end - 1)) + 1)
    }
    kept: list[str] = []
    for change, start, end, at, to in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        if change != "equal" and _touches(range(start, end), allowed, start):
            before = next((n for n in range(start, end) if n in allowed), end)
            after = next((n + 1 for n in reversed(range(start, end)) if n in allowed), end)
            # Lines at the edges of a change that carry no mark answer each other one by one.
            put_in = others[at + before - start : max(at, to - (end - after))]
            kept += [*lines[start:before], *put_in, *lines[after:end]]
        else:
            kept += lines[start:end]
    return "\n".join(kept)


def line_span(program: str, first: int, last: int) -> Span:
    """Lines, counted from 1, without the white space around them."""
    lines = program.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    text = "".join(lines[first - 1 : last])
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def _in_whole(text: str, program: str) -> tuple[Span, ...]:
    """By a copy of the program with marks in it."""
    found = re.search(rf"(?:<<<\s*BUG\s*>>>\s*)?(?:async )?def {FUNCTION}\b", text)
    begin = found.start() if found else 0
    places = [place for place, letter in enumerate(program) if not letter.isspace()]
    letters = "".join(program.split())
    copy, spans = _unmark(text[begin:])
    offset = letters.find(_header_on(copy, program))
    if offset < 0 or not copy.startswith(letters[offset:]):
        return ()
    real = [(start + offset, end + offset) for start, end in spans if start < end <= len(letters) - offset]
    return tuple(Span(places[start], places[end - 1] + 1) for start, end in real)


def _header_on(copy: str, program: str) -> str:
    """What the copy begins with, up to the length of a signature."""
    header = "".join(next((line for line in program.splitlines() if FUNCTION in line), "").split())
    return header if copy.startswith(header) and header else "\0"


def _unmark(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The letters of a text without marks, and where its marked parts are in them."""
    letters, spans, at = "", [], 0
    for found in _MARKED.finditer(text):
        letters += "".join(_ANY_MARK.sub("", text[at : found.start()]).split())
        inside = "".join(_ANY_MARK.sub("", found[1]).split())
        spans.append((len(letters), len(letters) + len(inside)))
        letters += inside
        at = found.end()
    return letters + "".join(_ANY_MARK.sub("", text[at:]).split()), spans


def _in_parts(text: str, program: str) -> tuple[Span, ...]:
    """By each marked part alone, where it occurs once."""
    spans = []
    for found in _MARKED.finditer(text):
        pattern = r"\s*".join(map(re.escape, "".join(_ANY_MARK.sub("", found[1]).split())))
        places = [each.span() for each in re.finditer(pattern, program)] if pattern else []
        if len(places) == 1:
            spans.append(Span(*places[0]))
    return tuple(dict.fromkeys(spans))


def _touches(changed: range, allowed: set[int], at: int) -> bool:
    if changed:
        return any(number in allowed for number in changed)
    return at in allowed or at - 1 in allowed  # lines that were put in, at the edge of a span or inside it


def _line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place)


Word: TypeAlias = Literal["right", "wrong", "unclear"]
_WORD = re.compile(r"(?P<negated>\bnot\s+|n't\s+)?\b(?P<word>right|correct|wrong|incorrect)\b", re.IGNORECASE)
_FIRST = re.compile(r"[\s>*_`#\"'.:-]*(?P<word>right|correct|wrong|incorrect)\b", re.IGNORECASE)
_OPENING_CHARS = 200  # within which a verdict that is not the first word has to stand


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a critic says of a program. score: P(right) against P(wrong), None without log probabilities.

    is_accepted: by the score where there is one and a threshold, else by the word.
    """

    word: Word
    is_accepted: bool
    score: float | None = None
    marks: Marks = field(default_factory=Marks)

    def told(self, program: str) -> dict[str, Any]:
        """Plain values for an event; `mark_program` is the program with its marks."""
        spans = [
            {"start": span.start, "end": span.end, "text": program[span.start : span.end]}
            for span in self.marks.spans
        ]
        return {
            "verdict": self.word,
            "score": self.score,
            "accepted": self.is_accepted,
            "spans": spans,
            "fault": None if self.is_accepted else self.marks.fault,
            "marked": mark_program(program, self.marks.spans),
        }


def read_word(reply: str) -> Word:
    """The first word of a reply if it is a verdict, else the only verdict in its first 200 characters."""
    text = without_thinking(reply)
    first = _FIRST.match(text)
    if first:
        return _plain(first["word"])
    said = {
        _opposite(_plain(found["word"])) if found["negated"] else _plain(found["word"])
        for found in _WORD.finditer(text[:_OPENING_CHARS])
    }
    return said.pop() if len(said) == 1 else "unclear"


def score_in(reply: Reply) -> float | None:
    """P(right) / (P(right) + P(wrong)) at the token where the verdict begins; None where that cannot be told."""
    found = _FIRST.match(reply.text)
    at = _token_at(reply.logprobs, found.start("word")) if found else None
    if at is None:
        return None
    right = _probability(at, "right", "correct")
    wrong = _probability(at, "wrong", "incorrect")
    return right / (right + wrong) if right + wrong > 0 else None


def verdict_of(reply: Reply, marks: Marks, threshold: float | None) -> Verdict:
    """Accepted is what scores above the threshold, and without a score or a threshold what is called right."""
    word, score = read_word(reply.text), None if threshold is None else score_in(reply)
    if word == "unclear" and marks.spans:
        word = "wrong"  # who marks a fault need not say so
    accepted = word == "right" if score is None or threshold is None else score > threshold
    return Verdict(word, accepted, score, marks)


def _plain(word: str) -> Word:
    return "right" if word.lower() in ("right", "correct") else "wrong"


def _opposite(word: Word) -> Word:
    return "wrong" if word == "right" else "right"


def _token_at(tokens: tuple[TokenLogprob, ...], place: int) -> TokenLogprob | None:
    """The token that holds the character at this place of the reply."""
    end = 0
    for token in tokens:
        end += len(token.token)
        if end > place:
            return token
    return None


def _probability(token: TokenLogprob, *words: str) -> float:
    """Of the tokens that begin one of the words; two spellings of a token are two tokens."""
    likely = dict(token.top) | {token.token: token.logprob}
    return math.fsum(
        math.exp(min(0.0, logprob))
        for text, logprob in likely.items()
        if (start := text.strip(" \n\t*_`\"'").lower()) and any(word.startswith(start) for word in words)
    )


_JUDGED = re.compile(
    r"^\W*block\W*(\d{1,3})\W+(right|wrong|correct|incorrect)\b", re.IGNORECASE | re.MULTILINE
)


def marks_of_blocks(reply: str, program: str) -> tuple[Marks, bool]:
    """The first block that is called wrong, and whether all were called right."""
    judged = [(int(number), word.lower() in ("right", "correct")) for number, word in _JUDGED.findall(reply)]
    blocks = blocks_of(program)
    wrong = [number for number, right in judged if not right and 1 <= number <= len(blocks)]
    if wrong:
        block = blocks[wrong[0] - 1]
        return Marks((line_span(program, block.first, block.last),)), False
    return Marks(fault="no block is called wrong"), bool(judged) and all(right for _, right in judged)
