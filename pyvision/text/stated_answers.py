r"""Find a final answer that a reply states in a plain line: "**Final Answer:** B", "So the answer is **6**."

What counts
* A line that is labelled `Final answer`, wherever it stands: the last one. The answer is the rest of the line; where
  that is empty, or ends with a colon, the lines below it up to an empty one.
* Else a line labelled `Answer`, or a sentence "the answer is …" that begins a line or a sentence, or follows "so",
  "thus", "hence" or "therefore": the last one. It has to stand in the last line of the reply, or be bold.
* Labels and answers may be bold, headings or list items. English and Chinese (最终答案：…, 答案是…) are read.

What does not count, since a model that is still at work says it too
* A sentence that settles nothing: "the answer is unclear because …", "is probably B", "is not visible".
* An answer that is a question, a placeholder such as `<letter>` or `[your answer]`, or a plan ("let me …").
* Any of them if a plan follows: "The answer is B. Let me verify." "Wait, …"
* "If the answer is 6, …": a sentence that does not begin with it. Text in fences or quotes.

Only the last `_MOST_CHARS` characters of a reply are looked at, and of what follows a statement the first
`_MOST_FOLLOWING`: other samples wait while a pattern is searched for.

Not covered: other languages, and an answer that only the context shows to be one ("There are 6 paths.").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pyvision.text.boxed_answers import without_full_stop

_FLAGS = re.IGNORECASE | re.MULTILINE
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_START = r"^(?:[ \t>#*_•✅-]|\d+[.)][ \t])*"
_COLON = r"(?:[ \t*_]*(?:[:：=]|[—–-](?=[ \t]))[ \t]*|[*_]*[ \t]*$)"
_FINAL = re.compile(
    rf"{_START}(?:(?:the|my)[ \t]+)?(?:final[ \t]+answer|最终答案)(?:{_COLON}|[ \t*_]*(?:is\b|是)[ \t]*[:：]?)"
    r"(?P<rest>.*)$",
    _FLAGS,
)
_LEAD = (
    r"(?:(?:so|thus|hence|therefore|then|and|finally|overall|consequently|in (?:conclusion|summary|short)|"
    r"based on (?:this|that|the image|the images)),?[ \t]+){0,3}"
)
_SUBJECT = (
    r"(?:the|my|our)[ \t]+(?:(?:final|correct|right|best)[ \t]+(?:answer|option|choice)|answer)"
    r"(?:[ \t]+to[ \t]+(?:the|this|your)[ \t]+question)?[ \t]+(?:is|are|must be|should be|would be)\b[ \t]*[:：]?"
)
_SENTENCE = re.compile(
    rf"(?:{_START}|(?<=[.!?;:])[ \t]+|,[ \t]+(?=so\b|thus\b|hence\b|therefore\b))"
    rf"(?:{_LEAD}{_SUBJECT}|(?:所以|因此)?[,，]?(?:正确)?答案(?:是|为))(?P<rest>.*)$",
    _FLAGS,
)
_LABEL = re.compile(rf"{_START}(?:(?:correct[ \t]+)?answer|答案)[ \t*_]*[:：](?P<rest>.*)$", _FLAGS)
_BOLD = re.compile(r"\s*(\*\*|__)(?P<inner>(?:(?!\1).)+)\1", re.DOTALL)
_STRONG = re.compile(r"\*\*(?!\s)(.+?)(?<!\s)\*\*", re.DOTALL)
_LABEL_END = re.compile(r"\A(?:\*|_{1,2})(?=[ \t])")  # of *Final answer:* B
_REASON = re.compile(r"(?<![\s,])[\s,]+(?:because|since)\b.*\Z", re.IGNORECASE | re.DOTALL)
_SETTLES_NOTHING = re.compile(
    r"(?:not|un(?:clear|known|certain|determined|decided|available)|ambiguous|pending|tbd|to be|still|yet|either|"
    r"probably|likely|perhaps|maybe|possibly|somewhere|hidden|given by|found (?:in|by)|based on|obtained|"
    r"determined by|as follows|correct|wrong|incorrect|obvious|simple|clear|below|here)(?:\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
_PENDING = re.compile(  # of these, what a label or bold print does not make an answer
    r"(?:un(?:clear|known|certain|determined|decided|available)|ambiguous|pending|tbd|to be|still|yet|probably|likely|"
    r"perhaps|maybe|possibly|somewhere|given by|found (?:in|by)|based on|obtained|determined by|as follows)(?:\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
_CORRECT_ANSWER = re.compile(r"\bcorrect[ \t]+(?:answer|option|choice)[ \t]+is\b", re.IGNORECASE)
_VERDICT = re.compile(
    r"(?:correct|incorrect|wrong)\.?", re.IGNORECASE
)  # "the answer is" may say it of another
_FEW_WORDS = 2  # "below" and "not visible" are answers where they stand alone behind a label
_GOING_TO = (
    r"(?:let me|let us|let['’]s|(?:i|we)['’]ll|(?:i|we)(?: still)? (?:will|need|should|must|have to|want to)|"
    r"i['’]?m going to|i am going to)"
)
_PLAN = re.compile(rf"\b{_GOING_TO}\b", re.IGNORECASE)
_PLAN_NEXT = re.compile(
    rf"\W*(?:(?:but|now|so|first|next|still|okay|ok)\b[\s,]*)*(?:{_GOING_TO}|wait|hmm+|actually|however|"
    r"on second thought|to (?:verify|confirm|double-check|be sure)|i(?:['’]?m| am) not)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[<\[{(]*\s*(?:(?:your|the|my|final|short|option)\s+)*(?:answer|letter|option)s?(?:\s+here)?\s*[>\]})]*"
    r"|<[^<>]*>|\$*\\boxed\{[\s.…]*\}\$*|[.…_?\s]*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(  # not that of an initial, a letter of a choice, or an abbreviation
    r"(?<![\s(\"'“*][A-Za-z])(?<!^[A-Za-z])(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMt)(?<!\bNo)[.!]\s+(?=\S)"
)
_LONGEST, _LONGEST_FINAL = 300, 2000  # characters; what is longer is no answer but an explanation
_MOST_CHARS = 100_000
_MOST_FOLLOWING = 4_000


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a line states, whether it or its label is bold, what follows it, and whether its line is the last."""

    content: str
    is_bold: bool
    following: str
    is_last: bool = True
    is_label: bool = False


def find_stated(text: str) -> str | None:
    """The answer that the prose of a reply states, as it is written but for bold marks; or None."""
    prose = _without_fences(text[-_MOST_CHARS:])
    last_line = len(prose.rstrip())
    for found in reversed(list(_FINAL.finditer(prose))):
        statement = _label(found, prose)
        if _is_answer(statement, _LONGEST_FINAL):
            return without_full_stop(statement.content)
    found_others = [*_SENTENCE.finditer(prose), *_LABEL.finditer(prose)]
    for found in sorted(found_others, key=lambda found: found.start("rest"), reverse=True):
        statement = _statement_of(found, prose, last_line)
        if (statement.is_bold or statement.is_last) and _settles(statement):
            return without_full_stop(statement.content)
    return None


def _without_fences(text: str) -> str:
    """The text without its fenced parts; a fence that is never closed is left."""
    lines = text.split("\n")
    fences = [found[1] if (found := _FENCE.match(line)) else None for line in lines]
    last_end = {mark: at for at, mark in enumerate(fences) if mark and lines[at].strip() == mark}
    outside, at = [], 0
    while at < len(lines):
        mark = fences[at]
        if mark and last_end.get(mark, 0) > at:
            at = next(end for end in range(at + 1, len(lines)) if lines[end].strip() == mark)
        else:
            outside.append(lines[at])
        at += 1
    return "\n".join(outside)


def _label(found: re.Match[str], prose: str) -> _Statement:
    """The rest of a labelled line; with the lines below it where that is nothing, or only announces them."""
    content = _without_bold(found["rest"])
    following = prose[found.end() : found.end() + _MOST_FOLLOWING]
    if not content or content.endswith((":", "：")):
        below, _, following = following.lstrip().partition("\n\n")
        content = "\n".join(part for part in (content, _without_bold(below)) if part)
    return _Statement(content, is_bold=True, following=following)


def _statement_of(found: re.Match[str], prose: str, last_line: int) -> _Statement:
    """A labelled line, with the text below it where it is empty, or a sentence."""
    if found.re is not _LABEL:
        return _sentence(found, prose, is_last=found.end() >= last_line)
    if found["rest"].strip(" \t*_"):
        statement = _sentence(found, prose, is_last=found.end() >= last_line)
        return replace(statement, is_label=True)
    statement = _label(found, prose)
    return replace(statement, is_bold=False, is_last=not statement.following.strip(), is_label=True)


def _sentence(found: re.Match[str], prose: str, *, is_last: bool) -> _Statement:
    """The first sentence of the rest of the line; what else the line says follows it."""
    rest = found["rest"].strip()[:_MOST_FOLLOWING]
    below = prose[found.end() : found.end() + _MOST_FOLLOWING]
    end = _SENTENCE_END.search(rest)
    first, others = (rest[: end.end()], rest[end.end() :]) if end else (rest, "")
    bold = _BOLD.match(first)
    if bold and first[bold.end() :].lstrip()[:1] in {".", "!"}:  # **B**. The red one is …
        first, others = bold[0], f"{first[bold.end() :].lstrip()[1:]} {others}"
    is_bold = bold is not None or "**" in found[0][: found.start("rest") - found.start()]
    content = _REASON.sub("", _without_bold(first)).removeprefix("that ")
    is_choice = _CORRECT_ANSWER.search(found[0]) and _VERDICT.fullmatch(content)
    return _Statement(content, is_bold, f"{others}\n{below}", is_last, is_label=bool(is_choice))


def _is_answer(statement: _Statement, longest: int) -> bool:
    content = statement.content
    return (
        0 < len(content) <= longest
        and not content.endswith(("?", "？", "..."))
        and _PLACEHOLDER.fullmatch(content) is None
        and _PLAN.search(content) is None
        and _PLAN_NEXT.match(statement.following) is None
    )


def _settles(statement: _Statement) -> bool:
    content = statement.content
    stands_alone = (statement.is_label or statement.is_bold) and len(content.split()) <= _FEW_WORDS
    nothing = _PENDING if stands_alone else _SETTLES_NOTHING
    pending = nothing.fullmatch(content.rstrip(".")) or content.endswith((":", "："))
    return not pending and _is_answer(statement, _LONGEST)


def _without_bold(text: str) -> str:
    """The text without its bold marks; one that is left alone belongs to the label. A text too long stays."""
    if len(text) > 2 * _LONGEST_FINAL:
        return text
    text = _STRONG.sub(r"\1", _without_stray_mark(_LABEL_END.sub("", text.strip())))
    return text.removeprefix("`").removesuffix("`").strip() if text.count("`") == 2 else text.strip()


def _without_stray_mark(text: str) -> str:
    if text.count("**") % 2 == 0:
        return text
    return text[2:].lstrip() if text.startswith("**") else "".join(text.rsplit("**", 1)).rstrip()
