"""Find refusals in replies.

`declines` suits a role or a tool that was asked for a form: what follows a refusal counts if it answers by its form,
not if it only describes. `is_refusal` suits a last reply, any statement of which may be the answer. `clauses_of` gives
what a reply says besides.

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
    r"|(?:i'm|i am) (?:unable|not able) to\b|as an ai\b)",
    re.IGNORECASE,
)
_ABSENT = re.compile(  # a "no", or 0
    rf"(?:{_UNABLE}|do not|don't|(?:'m|am)\s+(?:unable|not able) to)\s+(?:see|find|spot|detect|locate)\s+(?:any|an?)\s+"
    r"(?!(?:\w+\s+)?(?:images?|pictures?|photos?|files?|attachments?)\b)",
    re.IGNORECASE,
)
_UNHELPFUL = re.compile(
    r"\bno\s+(?:opinion|access|ability|comment|preference)\b|\brather\s+not\b|\bnot\s+(?:allowed|permitted|comfortable)\b"
    r"|\btoo\s+\w{1,20}\s+to\b|\bi\s+can\s+(?:only\s+)?(?:describe|help|assist|try|offer)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?:please|call|text|contact|visit|consult|if\s+you(?:'re|\s+are|\s+need|\s+or\s+someone))\b",
    re.IGNORECASE,
)
_OF_PEOPLE = re.compile(r"\b(?:people|persons?|individuals?|faces?|someone|who)\b", re.IGNORECASE)
_FORM = re.compile(r"""\\boxed\s?\{|<answer|```|\{\s?"|\[\s?[\[{]""")
_STATED = re.compile(
    r"\b(?:answer|result|total|verdict)\s{0,9}(?:is\b(?!\s+not\b)|would\s+be\b|[:=])", re.IGNORECASE
)
_STATES = re.compile(
    r"""\d|["“][^"”]{1,80}["”]|^(?:yes|no)\b|\b(?:says|reads|spells)\b|\b(?:looks?|seems?|appears?)\s+(?:like|to\s+be)\b
    |\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|dozens?|hundreds?)\b
    |\b(?:probably|likely|presumably|apparently|guess|estimate)\b|\bi(?:'d|\s+would)\s+say\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SEARCHED_CHARS = 4_000  # of a reply that opens as a refusal
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


def declines(text: str) -> bool:
    """Whether a reply opens as one that will not answer ("I'm sorry, but …", "I can't …"), and gives no answer.

    After an apology alone, any statement answers ("I'm sorry, but there are only 3."). After words that decline, an
    answer is stated as one, a number, yes or no, a quotation, data, a program or a guess. None of these but the first
    and the last two forms answers for someone who will not identify people.
    """
    plain = _plain(text)[:_SEARCHED_CHARS]
    opening = _OPENING.match(plain)
    return opening is not None and not (_FORM.search(plain) or _answers(plain))


def is_refusal(text: str) -> bool:
    """Whether all that a reply says is that it will not answer: "I'm sorry, but I can't help with that."

    One that says something else too is none ("I cannot identify the brand, but there are about 12."), nor is one that
    only does not see an object, which may be meant as a "no".
    """
    if len(text) > _LONGEST_CLAUSE:
        return False
    clauses = _clauses(text)
    unwilling = [_UNWILLING.match(clause) is not None for clause in clauses]
    return any(unwilling) and all(
        known or _is_declined(clause) or _OFFER.fullmatch(clause)
        for clause, known in zip(clauses, unwilling, strict=True)
    )


def clauses_of(text: str) -> list[str]:
    """The clauses of a reply that do not decline, in their order."""
    return [part.strip() for part in _CLAUSE.split(text) if part.strip() and not _is_declined(part)]


def _clauses(text: str) -> list[str]:
    """What a reply says, without apologies."""
    parts = (each for piece in _CLAUSE.split(_plain(text)) for each in _STATEMENT.split(piece))
    return [clause for part in parts if (clause := _without_apology(_plain(part)).strip(" .!,;*_\"'"))]


def _answers(plain: str) -> bool:
    """Whether a reply that opens as a refusal gives an answer."""
    clauses = _clauses(plain)
    declined = [clause for clause in clauses if _is_unhelpful(clause)]
    statements = [each for each in clauses if each not in declined and not _OFFER.fullmatch(each)]
    statements = [each for each in statements if not _ADVICE.match(each)]
    if not declined:
        return bool(statements)
    if any(map(_OF_PEOPLE.search, declined)):
        return any(map(_STATED.search, statements))
    return any(
        _STATED.search(clause) or _STATES.search(clause) or _ABSENT.search(clause) for clause in statements
    )


def _is_unhelpful(clause: str) -> bool:
    return not _ABSENT.search(clause) and bool(
        _UNWILLING.match(clause) or _is_declined(clause) or _UNHELPFUL.search(clause)
    )


def _is_declined(clause: str) -> bool:
    """Whether a clause says that there is no answer."""
    return len(clause) <= _LONGEST_CLAUSE and _DECLINES.search(clause) is not None


def _without_apology(clause: str) -> str:
    apology = _APOLOGY.match(clause)
    return clause[apology.end() :] if apology else clause


def _plain(text: str) -> str:
    return text.replace("’", "'").lstrip(" \t\n*_\"'")
