"""Read a critic's reply: its verdict, the score of the verdict, and the part of the program that it marks as faulty."""

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

Word: TypeAlias = Literal["right", "wrong", "unclear"]
NOTHING_MARKED = "nothing is marked"
OPEN, CLOSE = "<<<BUG>>>", "<<<BUG/>>>"
_MARKED = re.compile(
    r"<<<\s*BUG\s*>>>((?:(?!<<<\s*BUG\s*>>>).)*?)<<<\s*(?:BUG\s*/|/\s*BUG|END[ _]?BUG)\s*>>>",
    re.DOTALL | re.IGNORECASE,
)  # up to the next opening mark: linear
_ANY_MARK = re.compile(r"<<<\s*(?:/\s*|END[ _]?)?BUG\s*/?\s*>>>", re.IGNORECASE)
_WORD = re.compile(r"(?P<negated>\bnot\s+|n't\s+)?\b(?P<word>right|correct|wrong|incorrect)\b", re.IGNORECASE)
_FIRST = re.compile(r"[\s>*_`#\"'.:-]*(?P<word>right|correct|wrong|incorrect)\b", re.IGNORECASE)
_WORDS = r"(right|wrong|correct|incorrect)\b"
_JUDGED_BLOCK = re.compile(
    rf"^[^\w\n]{{0,20}}(?:\d{{1,3}}[.):][^\w\n]{{0,20}})?block[\W_]{{0,20}}(\d{{1,3}})\W{{1,20}}(?:is\W{{1,20}})?{_WORDS}",
    re.IGNORECASE | re.MULTILINE,
)
_JUDGED_NUMBER = re.compile(
    rf"^[^\w\n]{{0,20}}(\d{{1,3}})[^\w\n]{{1,20}}{_WORDS}", re.IGNORECASE | re.MULTILINE
)
_QUOTES = str.maketrans(
    dict.fromkeys('"‘’“”`', "'")
)  # a copy may have other quotation marks than the program
_CODE = re.compile(
    rf"^[ \t]*(?:`{{3,}}|~{{3,}}).*?(?:^[ \t]*(?:`{{3,}}|~{{3,}})[ \t]*$|\Z)|^[ \t]*def {FUNCTION}\b.*?(?=^\S|\Z)",
    re.DOTALL | re.MULTILINE,
)
_CORRECTION = re.compile(
    r"^[\W_]{0,10}(?:\d{1,2}[.)]\s{1,9})?(?:(?:here(?: is|'s) )?the )?correct(?:ion|ed)\b[^\n=()]{0,40}$",
    re.IGNORECASE | re.MULTILINE,
)
_PROSE_CHARS = 1000
_OPENING_CHARS = 200  # a verdict that is not the first word has to appear within these


@dataclass(frozen=True, slots=True)
class Span:
    """program[start:end], counted in characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Marks:
    """What a critic has marked. fault: what is wrong with the marks; None if they are exactly one span."""

    spans: tuple[Span, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A critic's judgement of a program. score: P(right) against P(wrong), None without log probabilities.

    is_accepted: decided by the score if there is a score and a threshold, else by the word. prose: what the critic
    wrote beside its verdict and the program, for a refiner that gets no mark. correction: the program that it wrote in
    place of the one it rejects, if it was asked for one. by_critic: False if no critic was asked.
    """

    word: Word
    is_accepted: bool
    score: float | None = None
    marks: Marks = field(default_factory=Marks)
    prose: str = ""
    correction: str | None = None
    by_critic: bool = True

    def plain(self, program: str) -> dict[str, Any]:
        """Plain values for an event; `marked` is the program with its marks."""
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
            "prose": self.prose,
            "corrected": self.correction is not None,
            "by_critic": self.by_critic,
            "marked": mark_program(program, self.marks.spans),
        }


def verdict_of(reply: Reply, marks: Marks, threshold: float | None) -> Verdict:
    """A program is accepted if it scores above the threshold; without a score or a threshold, if it is called right."""
    word, score = read_word(reply.text), None if threshold is None else score_in(reply)
    if word == "unclear" and marks.spans:
        word = "wrong"  # marking a fault is a verdict
    accepted = word == "right" if score is None or threshold is None else score > threshold
    return Verdict(word, accepted, score, marks, "" if accepted or marks.spans else prose_of(reply.text))


def split_correction(reply: str) -> tuple[str, str]:
    """A critic's reply up to its heading "Correction", and what follows it; a heading before the first mark is none."""
    text = without_thinking(reply)
    marked = _MARKED.search(text)
    heading = _CORRECTION.search(text, marked.end() if marked else 0)
    if heading is None:
        return reply, ""
    return reply.removesuffix(text[heading.start() :]), text[heading.end() :]


def read_word(reply: str) -> Word:
    """The first word of a reply if it is a verdict, else the only verdict in its first 200 characters."""
    text = without_thinking(reply)
    first = _FIRST.match(text)
    if first:
        return _plain(first["word"])
    verdicts = {
        _opposite(_plain(found["word"])) if found["negated"] else _plain(found["word"])
        for found in _WORD.finditer(text[:_OPENING_CHARS])
    }
    return verdicts.pop() if len(verdicts) == 1 else "unclear"


def prose_of(reply: str) -> str:
    """What a critic wrote in words: without its verdict, code blocks and a copy of the program; cut after a while."""
    text = _CODE.sub("", _ANY_MARK.sub("", without_thinking(reply)))
    text = _FIRST.sub("", text, count=1).lstrip(" \t\n.:;,*_`-–—")
    return " ".join(text.split())[:_PROSE_CHARS]


def score_in(reply: Reply) -> float | None:
    """P(right) / (P(right) + P(wrong)) at the token where the verdict begins; None if that cannot be computed."""
    found = _FIRST.match(reply.text)
    at = _token_at(reply.logprobs, found.start("word")) if found else None
    if at is None:
        return None
    right = _probability(at, "right", "correct")
    wrong = _probability(at, "wrong", "incorrect")
    return right / (right + wrong) if right + wrong > 0 else None


def marks_in(reply: str, program: str) -> Marks:
    """The spans that a reply marks. White space is ignored when the reply is compared with the program.

    The reply holds either the whole program with marks in it, or only the marked part, which then has to occur in
    the program exactly once. If there are several spans, all of them are returned.
    """
    text = without_thinking(reply)
    if _MARKED.search(text) is None:
        return Marks(fault="half a mark" if _ANY_MARK.search(text) else NOTHING_MARKED)
    spans = _spans_of_copy(text, program) or _spans_of_parts(text, program)
    if not spans:
        return Marks(fault="the marked text is not in the program, or occurs more than once")
    if len(spans) < len(_MARKED.findall(text)):
        return Marks(spans, "some of the marked text is not in the program, or occurs more than once")
    return Marks(spans, "several spans are marked" if len(spans) > 1 else None)


def marks_of_blocks(reply: str, program: str) -> tuple[Marks, bool]:
    """The first block that is called wrong, and whether all blocks were called right."""
    found = _JUDGED_BLOCK.findall(reply) or _JUDGED_NUMBER.findall(reply)
    judged = [(int(number), word.lower() in ("right", "correct")) for number, word in found]
    blocks = blocks_of(program)
    wrong = [number for number, right in judged if not right and 1 <= number <= len(blocks)]
    if wrong:
        block = blocks[wrong[0] - 1]
        return Marks((line_span(program, block.first, block.last),)), False
    return Marks(fault="no block is called wrong"), bool(judged) and all(right for _, right in judged)


def mark_program(program: str, spans: tuple[Span, ...]) -> str:
    """The program with its spans between marks."""
    for span in sorted(spans, key=lambda each: each.start, reverse=True):
        inside = program[span.start : span.end]
        program = f"{program[: span.start]}{OPEN}{inside}{CLOSE}{program[span.end :]}"
    return program


def restore_unmarked(old: str, new: str, spans: tuple[Span, ...]) -> str:
    """The new program, with every change outside the lines of the spans undone."""
    lines, others = old.splitlines(), new.splitlines()
    allowed = {
        number
        for span in spans
        for number in range(_line_of(old, span.start), _line_of(old, max(span.start, span.end - 1)) + 1)
    }
    result: list[str] = []
    for change, start, end, at, to in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        if change != "equal" and _touches(range(start, end), allowed, start):
            before = next((n for n in range(start, end) if n in allowed), end)
            after = next((n + 1 for n in reversed(range(start, end)) if n in allowed), end)
            # Unmarked lines at the edges of a change correspond to each other one by one.
            inserted = others[at + before - start : max(at, to - (end - after))]
            result += [*lines[start:before], *inserted, *lines[after:end]]
        else:
            result += lines[start:end]
    return "\n".join(result)


def line_span(program: str, first: int, last: int) -> Span:
    """Lines, counted from 1, without the white space around them."""
    lines = program.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    text = "".join(lines[first - 1 : last])
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


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


def _probability(token: TokenLogprob, *verdicts: str) -> float:
    """The probability of all tokens that begin one of the words; two spellings of a token are two tokens."""
    likely = dict(token.top) | {token.token: token.logprob}
    return math.fsum(
        math.exp(min(0.0, logprob))
        for text, logprob in likely.items()
        if (start := text.strip(" \n\t*_`\"'").lower()) and any(word.startswith(start) for word in verdicts)
    )


def _spans_of_copy(text: str, program: str) -> tuple[Span, ...]:
    """The spans in a copy of the whole program that has marks in it."""
    found = re.search(rf"(?:<<<\s*BUG\s*>>>\s*)?(?:async )?def {FUNCTION}\b", text)
    begin = found.start() if found else 0
    places = [place for place, letter in enumerate(program) if not letter.isspace()]
    letters = "".join(program.split()).translate(_QUOTES)
    copy, spans = _unmark(text[begin:].translate(_QUOTES))
    offset = letters.find(_header_in(copy, program))
    if offset < 0 or not copy.startswith(letters[offset:]):
        return ()
    real = [(start + offset, end + offset) for start, end in spans if start < end <= len(letters) - offset]
    return tuple(Span(places[start], places[end - 1] + 1) for start, end in real)


def _header_in(copy: str, program: str) -> str:
    """The program's `def` line if the copy begins with it, else a text that occurs nowhere."""
    line = next((line for line in program.splitlines() if FUNCTION in line), "")
    header = "".join(line.split()).translate(_QUOTES)
    return header if copy.startswith(header) and header else "\0"


def _unmark(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The letters of a text without its marks, and where the marked parts are in them."""
    letters, spans, at = "", [], 0
    for found in _MARKED.finditer(text):
        letters += "".join(_ANY_MARK.sub("", text[at : found.start()]).split())
        inside = "".join(_ANY_MARK.sub("", found[1]).split())
        spans.append((len(letters), len(letters) + len(inside)))
        letters += inside
        at = found.end()
    return letters + "".join(_ANY_MARK.sub("", text[at:]).split()), spans


def _spans_of_parts(text: str, program: str) -> tuple[Span, ...]:
    """Each marked part that occurs in the program exactly once."""
    spans = []
    program = program.translate(_QUOTES)
    for found in _MARKED.finditer(text):
        letters = "".join(_ANY_MARK.sub("", found[1]).split()).translate(_QUOTES)
        pattern = r"\s*".join(map(re.escape, letters))
        places = [each.span() for each in re.finditer(pattern, program)] if pattern else []
        if len(places) == 1:
            spans.append(Span(*places[0]))
    return tuple(dict.fromkeys(spans))


def _touches(changed: range, allowed: set[int], at: int) -> bool:
    if changed:
        return any(number in allowed for number in changed)
    return at in allowed or at - 1 in allowed  # inserted lines, at the edge of a span or inside it


def _line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place)
