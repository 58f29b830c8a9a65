"""Circles that touch or overlap; a distance of zero touches, and does not overlap."""

from __future__ import annotations

import re

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan
from pyvision.offline.wording import COLOUR, COLOURS, ParsedQuestion, match_wording

_ROUND = r"(?:circles|discs|disks|rings|balls|dots)"
_THEM = rf"(?:(?:any|some)(?: of)? )?(?:two )?{_ROUND}"
_NAMED = (
    rf"(?P<one>{COLOUR})(?: (?:circle|disc|disk|ring))? and "
    rf"(?P<other>{COLOUR}) (?:circles?|discs?|disks?|rings?)"
)
_EACH = r"(?: (?:each other|one another))?(?: at all)?"
_VERB = (
    r"(?P<verb>touch(?:ing)?(?: or overlap(?:ping)?)?|overlap(?:ping)?(?: or touch(?:ing)?)?|"
    rf"intersect(?:ing)?|in contact){_EACH}"
)
_WORDINGS = (
    rf"(?:do|are) {_NAMED} {_VERB}(?: in image)?",
    rf"(?:do|are) {_THEM} {_VERB}(?: in image)?",
    rf"is there (?:an? |any )?(?P<verb>overlap|contact) between {_THEM}",
    rf"do {_THEM} in image {_VERB}",
    rf"are {_THEM} in image {_VERB}",
)
_NEAR_PX = 0.6  # a fitted edge is good to a few tenths of a pixel


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits yes-or-no questions about the contact of circles."""
    found = match_wording(re.sub(r",? yes or no$", "", asked.plain), *_WORDINGS)
    if found is None or asked.image is None:
        return None
    named = found.groupdict()
    colours = (COLOURS[named["one"]], COLOURS[named["other"]]) if named.get("one") else None
    cell = Cell(
        "I fit a circle to each disc, finer than a pixel, and compare their distance with their radii.",
        "discs", ("components", "colours", "shapes", "outlines", "objects", "circles"),
        (asked.image,), {"COLOURS": colours},
    )  # fmt: skip
    overlap_only = found["verb"].startswith(("overlap", "intersect")) and "touch" not in found["verb"]
    return Plan((cell,), lambda finding: _conclude(finding, overlap_only=overlap_only))


def _conclude(finding: Finding, *, overlap_only: bool) -> Found | None:
    gap = finding.number("gap")
    if gap is None:
        return None
    yes = gap < -_NEAR_PX if overlap_only else gap <= _NEAR_PX
    sentence = f"The smallest gap between two of them is {gap:.2f} pixels (below zero they overlap)."
    return Found(sentence, "Yes" if yes else "No")
