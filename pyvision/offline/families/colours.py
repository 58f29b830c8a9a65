"""Colours: the dominant one, of the background, at a place, of a shape; which there are, whether one is."""

from __future__ import annotations

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan, Value
from pyvision.offline.wording import COLOUR, COLOURS, SHAPE, ParsedQuestion, match_wording, shape_of

_IN = r"(?: (?:in|of|on|within) image)?"
_WHAT = r"(?:(?:what|which) colours? (?:is|are|has)|what (?:is|are) colours? (?:of|at|in))"
_DEGREE = r"(?:most )?(?:dominant|main|common|frequent|primary|prevailing|predominant|commonest)"
_DOMINANT = (
    rf"(?:(?:what|which) (?:is )?)?{_DEGREE} colour(?: is)?{_IN}",
    rf"(?:what|which) colour (?:is {_DEGREE}|dominates|covers most of|fills most of)(?: image)?{_IN}",
)
_BACKGROUND = (rf"{_WHAT} background{_IN}", rf"(?:what is )?background colour{_IN}")
_PLACES = {
    r"(?:centre|center|middle)": (0.5, 0.5),
    r"(?:top|upper)[- ]left(?: corner)?": (0.0, 0.0),
    r"(?:top|upper)[- ]right(?: corner)?": (1.0, 0.0), r"(?:bottom|lower)[- ]left(?: corner)?": (0.0, 1.0),
    r"(?:bottom|lower)[- ]right(?: corner)?": (1.0, 1.0),
}  # fmt: skip
_PIXEL = rf"{_WHAT} (?:pixel|point)(?: at)? \(?(?P<x>\d{{1,5}}), ?(?P<y>\d{{1,5}})\)?{_IN}"
_OF_SHAPE = rf"{_WHAT} (?P<shape>{SHAPE}){_IN}"
_KIND = r"(?: (?:colour|things?|objects?|areas?|parts?|spots?|shapes?|regions?|pixels?))?"
_PRESENT = (
    rf"(?:is|are) there (?:anything |something |any |an? )?(?P<colour>{COLOUR}){_KIND}{_IN}",
    rf"does image (?:contain|have|show) (?:anything |something |any |an? )?(?P<colour>{COLOUR}){_KIND}",
)
_LIST = (
    r"(?:what|which) colours (?:are|appear|occur|can be seen)(?: (?:there|used|present|visible|shown))?"
    rf"{_IN}",
    r"(?:what|which) colours does image (?:have|contain)",
    rf"(?:list|name)(?: all)?(?: of)? colours(?: used| present)?{_IN}",
)
_COUNT = r"(?:different |distinct )?colours(?: (?:are|is))?(?: (?:used|present|does image have))?"
_PIECES = ("components", "colours", "shapes", "outlines", "objects")


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions about colours, not about the colour of a thing that must be recognised first."""
    if asked.image is None:
        return None
    settings = _settings(asked)
    if settings is None:
        return None
    counting = settings["ASK"] == "list" and bool(asked.counted)
    full: dict[str, Value] = {"PLACE": None, "THING": None, "COLOUR": None, **settings}
    thought = "I measure the colours of the pixels that the question is about."
    cell = Cell(thought, "colours", _PIECES, (asked.image,), full)
    present = settings["ASK"] == "present"
    return Plan((cell,), lambda finding: _conclude(finding, present=present, counting=counting))


def _settings(asked: ParsedQuestion) -> dict[str, Value] | None:
    plain = asked.plain
    if match_wording(plain, *_DOMINANT):
        return {"ASK": "dominant"}
    if match_wording(plain, *_BACKGROUND):
        return {"ASK": "background"}
    if pixel := match_wording(plain, _PIXEL):
        return {"ASK": "pixel", "PLACE": (int(pixel["x"]), int(pixel["y"]))}
    for place, at in _PLACES.items():
        if match_wording(plain, rf"{_WHAT} (?:at |in )?{place}{_IN}"):
            return {"ASK": "place", "PLACE": at}
    if region := match_wording(plain, _OF_SHAPE):
        return {"ASK": "thing", "THING": shape_of(region["shape"])}
    if there := match_wording(plain, *_PRESENT):
        return {"ASK": "present", "COLOUR": COLOURS[there["colour"]]}
    return {"ASK": "list"} if match_wording(plain, *_LIST) or match_wording(asked.counted, _COUNT) else None


def _conclude(finding: Finding, *, present: bool, counting: bool) -> Found | None:
    colours = finding.texts("colours")
    if colours is None or (not colours and not present):
        return None
    sentence = f"Measured: {', '.join(colours) or 'none of it'}."
    if present:
        return Found(sentence, "Yes" if colours else "No")
    if counting:
        return Found(sentence, str(len(colours)))
    return Found(sentence, ", ".join(colours))
