"""Reading text, where the sandbox has an engine for it."""

from __future__ import annotations

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan
from pyvision.offline.wording import ParsedQuestion, match_wording

_WHERE = r"(?: (?:in|on|of|from) (?:image|sign|label|page|document|poster|receipt|card|note))"
_SAYS = r"(?:(?:is|are) (?:written|shown|printed|there|displayed|visible)|appears?|is|are)"
_WORDINGS = (
    rf"(?:what|which) (?:text|words?|letters?|sentence) {_SAYS}{_WHERE}?(?: here)?",
    rf"what does (?:text|sign|label|image|poster|note|page) (?:say|read){_WHERE}?",
    rf"what is written(?: here)?{_WHERE}?",
    rf"what is (?:text|word){_WHERE}?",
    rf"(?:read|transcribe|ocr|extract)(?: out)?(?: all)? (?:text|words?|writing|letters){_WHERE}?",
)


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits requests to read what is written."""
    if asked.image is None or not match_wording(asked.plain, *_WORDINGS):
        return None
    first = Cell(
        "I read the text with the engine that the sandbox has.", "text", (), (asked.image,), {"LAYOUT": 3}
    )
    second = Cell(
        "Nothing was read; I try again for scattered text.", "text", (), (asked.image,), {"LAYOUT": 11}
    )
    return Plan((first, second), _conclude)


def _conclude(finding: Finding) -> Found | None:
    text = finding.text("text")
    return (
        Found("The text was read by the engine in the sandbox, without corrections.", text) if text else None
    )
