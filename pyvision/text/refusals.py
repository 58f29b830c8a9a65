"""Find refusals in replies.

`opens_with_refusal` looks at the beginning, as suits a role or a tool that was asked for a form: prose in its place is
no reply. `is_refusal` looks at all of it, as suits a last reply, any statement of which may be the answer.
`clauses_of` gives what a reply says besides.

Where `strict` rules grade, the clauses that decline ("I cannot tell", "there is no way to know", "no image was
provided") are left out, so that their words ("no", "one", "A", an option's text) are not taken for an answer. A clause
ends at a full stop, a line or a "but".

Not covered: refusals in other languages, or in words that are not listed here.
"""

from __future__ import annotations

import re

_CLAUSE = re.compile(  # "A. clear answer" stays whole: a letter with a full stop ends nothing before a small letter
    r"(?<=[.!?;])(?=[\s*_\"”])(?:(?<!\b[A-Z]\.)|(?=\s{1,9}[^a-z\s]))\s*|\n+"
    r"|,?(?<!\s)\s{1,9}(?:[Bb]ut|[Hh]owever|yet|although|though)\b,?\s*"  # bounded: linear on a million spaces
)
_KNOWING = (
    r"tell|say|know|see|determine|answer|be\s+(?:sure|certain|given|determined|answered|told|known|identified|inferred)"
    r"|decide|identify|count|give|provide|read|make\s+out|view|access|help|assist|process|confirm|conclude|choose"
    r"|pick|select|solve|find|infer|judge|establish|verify|make\s+a"
)
_DECLINES = re.compile(
    rf"""\b(?:can\s?not|can['’]?t|could(?:\s+not|n['’]?t)|unable\s+to|not\s+able\s+to|impossible\s+to|not\s+possible\s+to
    |hard\s+to|difficult\s+to|no\s+way\s+(?:to|of|for)|no\s+one\s+c(?:an|ould)|nobody\s+c(?:an|ould))\b
    [^.;!?\n]{{0,30}}?\b(?:{_KNOWING})\b
    |\b(?:do|does|did)(?:\s+not|n['’]?t)\s+(?:know|have|see|contain|provide|show\s+enough|allow)\b
    |\b(?:is|are|was|were)(?:\s+not|n['’]?t)\s+(?:possible|clear|visible|sure|certain|given|provided|enough|determinable)\b
    |\b(?:am|['’]m)\s+not\s+(?:sure|certain|able)\b
    |\bnot\s+(?:enough|sufficient|possible|an?\s+clue)\b
    |\bno\s+(?:image|picture|figure|photo|information|idea|clue|answer|definitive|way|clear\s+answer)\b
    |\b(?:insufficient|sorry|unanswerable|undetermined|unclear|impossible|no\s+one|nobody)\b""",
    re.IGNORECASE | re.VERBOSE,
)  # fmt: skip
_LONGEST_CLAUSE = 2_000  # a longer one is not searched for a refusal
_UNABLE = r"(?:can'?t|cannot|can not|won't|will not|am unable to|am not able to)"
_SERVICES = r"help|assist|comply|do that|answer|identify|provide|discuss|continue|fulfil|engage|describe"
_OPENING = re.compile(
    r"(?:(?:(?:i'?m|i am|we're|we are)\s+(?:(?:very|so|really)\s+)?)?sorry[,.]?\s+(?:but\b|i\b|as\b)"
    r"|i (?:must|have to) decline\b"
    rf"|(?:unfortunately,?\s+)?i\s+{_UNABLE}\s+(?:{_SERVICES})\b"
    r"|i'm (?:unable|not able) to\b|as an ai\b)",
    re.IGNORECASE,
)
_STATEMENT = re.compile(  # that follows in the same sentence
    r"(?:,|(?<!\s)\s{1,9}and)\s{1,9}(?=(?:there|it|they|he|she|this|i)\b)", re.IGNORECASE
)
_APOLOGY = re.compile(
    r"(?:(?:(?:i'?m|i am|we're|we are)\s{1,9}(?:(?:very|so|really|truly)\s{1,9})?)?sorry|(?:my\s{1,9})?apologies"
    r"|i\s{1,9}apologi[sz]e|unfortunately|as an ai(?:\s{1,9}language)?(?:\s{1,9}(?:model|assistant))?)\b"
    r"[,.!:]?\s{0,9}(?:but\b\s{0,9})?",
    re.IGNORECASE,
)
_UNWILLING = re.compile(
    rf"i(?:\s{{1,9}}{_UNABLE}|'m\s{{1,9}}(?:unable|not able) to)\s{{1,9}}"
    rf"(?:(?:{_SERVICES}|determine|say|tell|recogni[sz]e)"
    r"|(?:see|view|access|open|analy[sz]e|process)\s{1,9}(?:\w{1,20}\s{1,9}){0,3}(?:images?|pictures?|photos?))\b"
    r"|i\s{1,9}(?:must|have to)\s{1,9}(?:\w{1,20}\s{1,9})?decline\b",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:please|feel free|let me know|is there (?:any|some)thing|if (?:you|there)|i'(?:d|m) (?:be )?(?:happy|glad)"
    r"|i (?:would be|am) (?:happy|glad)|i can (?:help|assist|try)|thank|what else|how (?:else )?(?:can|may) i|happy to"
    r"|you (?:can|could|may)|(?:it|this|that|they|doing so)\b.{0,80}\b(?:guidelines?|polic(?:y|ies)|privacy))\b[^:\d]*",
    re.IGNORECASE,
)


def opens_with_refusal(text: str) -> bool:
    """Whether a reply opens as a model does that will not answer: "I'm sorry, but …", "I can't help with …"."""
    return _OPENING.match(_plain(text)) is not None


def is_refusal(text: str) -> bool:
    """Whether all that a reply says is that it will not answer: "I'm sorry, but I can't help with that."

    One that says something else too is none ("I cannot identify the brand, but there are about 12."), nor is one that
    only does not see an object, which may be meant as a "no".
    """
    if len(text) > _LONGEST_CLAUSE:
        return False
    parts = (each for clause in _CLAUSE.split(_plain(text)) for each in _STATEMENT.split(clause))
    clauses = [said for part in parts if (said := _without_apology(_plain(part)).strip(" .!,;*_\"'"))]
    unwilling = [_UNWILLING.match(clause) is not None for clause in clauses]
    return any(unwilling) and all(
        known or _is_declined(clause) or _OFFER.fullmatch(clause)
        for clause, known in zip(clauses, unwilling, strict=True)
    )


def clauses_of(text: str) -> list[str]:
    """The clauses of a reply that do not decline, in their order."""
    return [part.strip() for part in _CLAUSE.split(text) if part.strip() and not _is_declined(part)]


def _is_declined(clause: str) -> bool:
    """Whether a clause says that there is no answer."""
    return len(clause) <= _LONGEST_CLAUSE and _DECLINES.search(clause) is not None


def _without_apology(clause: str) -> str:
    apology = _APOLOGY.match(clause)
    return clause[apology.end() :] if apology else clause


def _plain(text: str) -> str:
    return text.replace("’", "'").lstrip(" \t\n*_\"'")
