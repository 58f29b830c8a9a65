"""What is left of a reply without the clauses in which it declines to answer: `strict` rules read nothing else.

A clause ends at a full stop, a line or a "but". One that declines ("I cannot tell", "there is no way to know", "no
image was provided") is removed, so that its words ("no", "one", "A", an option's text) are not taken for an answer.

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
    |\bnot\s+(?:enough|sufficient|possible)\b
    |\bno\s+(?:image|picture|figure|photo|information|idea|clue|answer|definitive|way|clear\s+answer)\b
    |\b(?:insufficient|sorry|unanswerable|undetermined|unclear|impossible|no\s+one|nobody)\b""",
    re.IGNORECASE | re.VERBOSE,
)  # fmt: skip
_LONGEST_CLAUSE = 2_000  # a longer one is not searched for a refusal


def clauses_of(text: str) -> list[str]:
    """The clauses of a reply that do not decline, in their order."""
    return [part.strip() for part in _CLAUSE.split(text) if part.strip() and not declines(part)]


def declines(clause: str) -> bool:
    """Whether a clause says that there is no answer."""
    return len(clause) <= _LONGEST_CLAUSE and _DECLINES.search(clause) is not None
