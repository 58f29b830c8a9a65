"""Verdicts: read one out of a reply, and its score out of the log probabilities of its tokens."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pyvision.strategies.vdebugger.fault_spans import Marks, mark_program
from pyvision.text.replies import without_thinking
from pyvision.types import Reply, TokenLogprob

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
