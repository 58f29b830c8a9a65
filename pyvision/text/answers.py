"""What counts as the answer of a reply that was asked for nothing else, and the words of a yes-or-no question.

Every strategy reads its last reply here: a box, a tag, a stated answer (`replies.find_answer`), or a reply so short
that all of it is the answer ("B", "a red car"). A longer one without any of these holds no answer, and is asked for it
again (`agent.asking`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyvision.errors import FormatError
from pyvision.text.boxed_answers import clean_answer
from pyvision.text.refusals import is_refusal
from pyvision.text.replies import find_answer, holds_code, last_resort_answer
from pyvision.types import Answer, Reply

_MOST_WORDS, _MOST_CHARS = 6, 80  # of a reply that is nothing but its answer
_NO_ANSWER = re.compile(  # of a model that continues, asks or declines
    r"\b(?:i|i['’]m|i['’]ll|we|let|sorry|unable|cannot|can['’]t|please|ok(?:ay)?|sure|wait|hmm+|looking|thinking)\b"
    r"|[?？,，…`<>{}\\]\Z|：|:(?:\s|\Z)|\bthe (?:final |correct )?answer\b|\.\.\Z|\A[<{\[`#]",
    re.IGNORECASE,
)
_PAIRS = (("yes", "no"), ("true", "false"), ("correct", "incorrect"), ("right", "wrong"))
_BETWEEN = (  # "yes or no", "Yes/No", "A. Yes B. No", "true, or is it false"
    r"[\"'”’*_`)]*(?:,?\s*(?:or|and|vs\.?)\s+(?:(?:is it|simply|just)\s+)?|\s*[/|,]\s*|\s+\(?[A-Z][.):]\s*)[\"'“‘*_`(]*"
)
_ASKED = re.compile(
    "|".join(
        rf"\b(?P<{yes}>{yes}){_BETWEEN}{no}\b|\b{no}{_BETWEEN}(?P<{yes}_last>{yes})\b" for yes, no in _PAIRS
    ),
    re.IGNORECASE,
)
_TRUE, _FALSE = {"yes", "true"}, {"no", "false"}


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a reply cannot be used, in words for the model that is asked again."""

    why: str


def read_answer(reply: Reply) -> Answer | Missing:
    """The answer of a reply that was asked for one, or what it lacks."""
    if reply.finish == "refusal":
        return Missing("it refused")
    try:
        found = find_answer(reply.text)
    except FormatError as error:
        return Missing(str(error))
    if found is None and reply.finish != "length":
        found = find_bare(reply.text)
    if found is not None:
        return Answer(found)
    whole = last_resort_answer(reply.text)
    if reply.finish == "length":
        return Missing("it was cut before its answer")
    return Missing(r"it states no answer, in \boxed{answer} or otherwise" if whole else "it is empty")


def answer_without_form(reply: Reply) -> Answer:
    """A reply without an answer in any known form: all of it, as a last resort, or why there is none.

    A reply that only declines is a refusal in words.
    """
    match reply.finish:
        case "refusal":
            return Answer(None, "refused", remark=reply.text)
        case "length":
            return Answer(None, "truncated", remark="the reply was cut before its answer; raise max_tokens")
        case _:
            whole = last_resort_answer(reply.text)
    if not whole:
        return Answer(None, "no_answer", remark="the reply was empty")
    if is_refusal(whole):
        return Answer(None, "refused", remark=reply.text)
    return Answer(whole, is_last_resort=True)


def find_bare(text: str) -> str | None:
    """The whole of a reply of a few words that states something, cleaned; else None."""
    whole = last_resort_answer(text) or ""
    if len(whole) > _MOST_CHARS or len(whole.split()) > _MOST_WORDS or "\n" in whole or holds_code(text):
        return None
    return None if _NO_ANSWER.search(whole) else clean_answer(whole) or None


def truth_word(*, value: bool, question: str) -> str:
    """A truth value in the words that the question asks for ("true or false?", "Answer Yes or No."); else yes or no.

    question: with its choices. The words are capitalised if the question capitalises both.
    """
    asked = list(_ASKED.finditer(question))
    if not asked:
        return "yes" if value else "no"
    yes, no = _pair_of(asked[-1])
    word = yes if value else no
    both = re.findall(rf"\b(?:{yes}|{no})\b", asked[-1][0], re.IGNORECASE)
    if all(each.isupper() for each in both):
        return word.upper()
    return word.title() if all(each[0].isupper() for each in both) else word


def in_words_of(question: str, answer: str) -> str:
    """The answer; one that is only a truth value ("True", "no") in the words that the question asks for."""
    plain = answer.strip().casefold()
    if plain not in _TRUE | _FALSE or (plain in _PAIRS[0] and not _ASKED.search(question)):
        return answer
    return truth_word(value=plain in _TRUE, question=question)


def _pair_of(asked: re.Match[str]) -> tuple[str, str]:
    name = str(asked.lastgroup).removesuffix("_last")
    return next(pair for pair in _PAIRS if pair[0] == name)
