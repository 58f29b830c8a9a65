"""Paths of one colour each between stations that are marked with letters, as on a subway map."""

from __future__ import annotations

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan
from pyvision.offline.wording import ParsedQuestion, match_wording

_KIND = (
    r"(?:(?:different|distinct|separate|direct|unique) )?(?:(?:single|one)?[- ]?(?:coloured|colour) )?"
    r"(?:(?:subway|metro) )?(?:paths?|routes?|lines?|ways|connections)"
)
_STATION = r"(?:(?:station|point|stop) )?['\"]?"
_ENDS = rf"{_STATION}(?P<a>[a-z])['\"]? (?:to|and|with) {_STATION}(?P<b>[a-z])['\"]?"
_GO = (
    r"(?: that)?(?: (?:are there|exist|there are))?"
    r"(?: (?:go|goes|leads?|runs?|connects?|connecting|going|leading|running))?(?: directly)?"
    r"(?: (?:from|between))?"
)
_COUNT = rf"{_KIND}{_GO} {_ENDS}"
_WHICH = (
    rf"(?:what|which) colours? (?:is|are|of|has|have) {_KIND}{_GO} {_ENDS}",
    rf"which (?:coloured |colour )?{_KIND}{_GO} {_ENDS}",
)


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions for the number, or the colours, of the paths between two letters."""
    counted, which = match_wording(asked.counted, _COUNT), match_wording(asked.plain, *_WHICH)
    found = counted or which
    if found is None or asked.image is None or found["a"] == found["b"]:
        return None
    stations = (found["a"].upper(), found["b"].upper())
    cell = Cell(
        f"I look for the letters {' and '.join(stations)}, then follow each colour to where its line ends.",
        "paths", ("components", "colours", "outlines", "letters", "strokes"),
        (asked.image,), {"STATIONS": stations},
    )  # fmt: skip
    return Plan((cell,), lambda finding: _conclude(finding, stations, by_colour=counted is None))


def _conclude(finding: Finding, stations: tuple[str, str], *, by_colour: bool) -> Found | None:
    count, colours = finding.whole("count"), finding.texts("colours")
    if count is None or colours is None:
        return None
    listed = ", ".join(colours) or "none"
    sentence = f"Lines that end at both {stations[0]} and {stations[1]}: {listed}."
    return Found(sentence, listed if by_colour else str(count))
