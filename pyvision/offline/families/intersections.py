"""How often two lines of different colours intersect."""

from __future__ import annotations

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan
from pyvision.offline.wording import COLOUR, COLOURS, ParsedQuestion, match_wording

_LINES = r"(?:lines?|curves?|plots?|graphs?|line plots?|polylines?|paths?)"
_WHO = rf"(?:(?P<one>{COLOUR}) (?:{_LINES} )?and (?P<other>{COLOUR}) {_LINES}|(?:two )?{_LINES})"
_MEET = r"(?:intersect|cross|meet)(?: (?:each other|one another))?(?: in image)?"
_OFTEN = (rf"(?:count )?(?:how many times|how often|(?:at|in) how many points) (?:do )?{_WHO} {_MEET}",)
_COUNT = (
    r"(?:intersections?|intersection points|crossings?|points of intersection)(?: are there)?"
    rf" (?:between|of) {_WHO}",
    rf"times (?:that |do )?{_WHO} {_MEET}",
)


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions for the number of crossings of two lines."""
    found = match_wording(asked.plain, *_OFTEN) or match_wording(asked.counted, *_COUNT)
    if found is None or asked.image is None:
        return None
    named = [COLOURS[name] for name in found.groupdict().values() if name]
    cell = Cell(
        "I separate the two lines by their colours and look for the places where they meet.",
        "intersections", ("components", "colours", "outlines", "strokes"),
        (asked.image,), {"COLOURS": tuple(named) or None},
    )  # fmt: skip
    return Plan((cell,), _conclude)


def _conclude(finding: Finding) -> Found | None:
    count = finding.whole("count")
    return None if count is None else Found(f"The two lines meet at {count} places.", str(count))
