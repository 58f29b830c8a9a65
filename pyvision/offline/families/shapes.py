"""Questions about shapes: how many there are, of which colour, and whether circles touch or overlap."""

from __future__ import annotations

import re

from pyvision.offline.plans import CellFindings, MeasuredAnswer, MeasurementPlan, PlannedCell, format_literal
from pyvision.offline.wording import COLOUR, COLOURS, SHAPE, ParsedQuestion, match_wording, shape_of

_DRAWN = (
    r"(?:(?:different|separate|distinct|individual|nested|overlapping|interlocking|intersecting|concentric|"
    r"drawn|coloured|geometric) )*"
)
_OBJECTS = r"(?:objects?|shapes?|blobs?|things?|dots?|spots?|items?|marks?|geometric shapes|regions?|points?)"
_SIDES = {"circle": 0, "triangle": 3, "pentagon": 5, "hexagon": 6, "heptagon": 7}
_FEW_TURNS, _MANY_TURNS = 2, 12  # rotations of an outline that are tried
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
_CONTACTS = (
    rf"(?:do|are) {_NAMED} {_VERB}(?: in image)?",
    rf"(?:do|are) {_THEM} {_VERB}(?: in image)?",
    rf"is there (?:an? |any )?(?P<verb>overlap|contact) between {_THEM}",
    rf"do {_THEM} in image {_VERB}",
    rf"are {_THEM} in image {_VERB}",
)
_NEAR_PX = 0.6  # a fitted edge is accurate to a few tenths of a pixel


def plan_squares(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions for the number of squares of any colour: they may be nested, turned, or cross each other."""
    if question.image is None or not match_wording(question.counted, rf"{_DRAWN}squares?"):
        return None
    cells = (
        _separate("square", None, question.image),
        _match_outlines("square", 4, _FEW_TURNS, question.image),
        _match_outlines("square", 4, _MANY_TURNS, question.image),
    )
    return MeasurementPlan(cells, lambda finding: _read_count(finding, "square"))


def plan_overlapping(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions for the number of circles or regular polygons of any colour; they may cross like Olympic rings."""
    found = match_wording(question.counted, rf"{_DRAWN}(?P<shape>{SHAPE})")
    shape = shape_of(found["shape"]) if found else None
    if shape not in _SIDES or question.image is None:
        return None
    last = (
        _separate_discs(None, question.image)
        if shape == "circle"
        else _match_outlines(shape, _SIDES[shape], _MANY_TURNS, question.image)
    )
    cells = (
        _separate(shape, None, question.image),
        _match_outlines(shape, _SIDES[shape], _FEW_TURNS, question.image),
        last,
    )
    return MeasurementPlan(cells, lambda finding: _read_count(finding, shape))


def plan_objects(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions for the number of objects of a colour or a simple shape."""
    wording = rf"{_DRAWN}(?:(?P<colour>{COLOUR})(?:[- ]coloured)? )?(?:(?P<shape>{SHAPE})|{_OBJECTS})"
    found = match_wording(question.counted, wording)
    if found is None or question.image is None:
        return None
    colour = COLOURS[found["colour"]] if found["colour"] else None
    shape = shape_of(found["shape"]) if found["shape"] else None
    cells = [_separate(shape, colour, question.image)]
    if shape == "circle":
        cells.append(_separate_discs(colour, question.image))
    noun = " ".join(filter(None, (colour, shape or "object")))
    return MeasurementPlan(tuple(cells), lambda finding: _read_count(finding, noun))


def _separate(shape: str | None, colour: str | None, image: int) -> PlannedCell:
    thought = "I separate the drawing into connected areas of one colour and examine the shape of each."
    variables = {"colour": format_literal(colour), "shape": format_literal(shape)}
    return PlannedCell(thought, "objects", (image,), variables)


def _match_outlines(shape: str, sides: int, turns: int, image: int) -> PlannedCell:
    thought = f"Lines cross here, so I match {shape} outlines of every size with them."
    return PlannedCell(thought, "outlines", (image,), {"sides": str(sides), "turns": str(turns)})


def _separate_discs(colour: str | None, image: int) -> PlannedCell:
    thought = "Some discs run together, so I fit circles to the arcs of their borders."
    return PlannedCell(thought, "discs", (image,), {"colour": format_literal(colour)})


def _read_count(finding: CellFindings, noun: str) -> MeasuredAnswer | None:
    """The count as an answer; a method that is unsure and found nothing does not count."""
    count = finding.whole("count")
    if count is None or (count == 0 and not finding.confident):
        return None
    return MeasuredAnswer(f"Counted: {count} x {noun}.", str(count))


def plan_contact(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits yes-or-no questions about whether circles touch or overlap; at a distance of zero they only touch."""
    found = match_wording(re.sub(r",? yes or no$", "", question.plain), *_CONTACTS)
    if found is None or question.image is None:
        return None
    named = found.groupdict()
    colours = (COLOURS[named["one"]], COLOURS[named["other"]]) if named.get("one") else None
    thought = "I fit a circle to each disc, finer than a pixel, and compare their distance with their radii."
    cell = PlannedCell(thought, "gap", (question.image,), {"colours": format_literal(colours)})
    overlap_only = found["verb"].startswith(("overlap", "intersect")) and "touch" not in found["verb"]
    return MeasurementPlan((cell,), lambda finding: _read_gap(finding, overlap_only=overlap_only))


def _read_gap(finding: CellFindings, *, overlap_only: bool) -> MeasuredAnswer | None:
    gap = finding.number("gap")
    if gap is None:
        return None
    yes = gap < -_NEAR_PX if overlap_only else gap <= _NEAR_PX
    sentence = f"The smallest gap between two circles is {gap:.2f} pixels (below zero they overlap)."
    return MeasuredAnswer(sentence, "Yes" if yes else "No")
