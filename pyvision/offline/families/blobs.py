"""Counting separate things by colour, by shape, or by both."""

from __future__ import annotations

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan, Value
from pyvision.offline.wording import COLOUR, COLOURS, SHAPE, ParsedQuestion, match_wording, shape_of

DRAWN = (
    r"(?:(?:different|separate|distinct|individual|nested|overlapping|interlocking|intersecting|concentric|"
    r"drawn|coloured|geometric) )*"
)
_THINGS = r"(?:objects?|shapes?|blobs?|things?|dots?|spots?|items?|marks?|geometric shapes|regions?|points?)"
_PIECES = ("components", "colours", "shapes", "outlines", "objects")


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions for the number of things of a colour or a simple shape."""
    wording = rf"{DRAWN}(?:(?P<colour>{COLOUR})(?:[- ]coloured)? )?(?:(?P<shape>{SHAPE})|{_THINGS})"
    found = match_wording(asked.counted, wording)
    if found is None or asked.image is None:
        return None
    colour = COLOURS[found["colour"]] if found["colour"] else None
    shape = shape_of(found["shape"]) if found["shape"] else None
    cells = [separate(shape, colour, asked.image)]
    if shape == "circle":
        cells.append(merged_discs_cell(colour, asked.image))
    return Plan(
        tuple(cells),
        lambda finding: read_count(finding, " ".join(filter(None, (colour, shape or "thing")))),
    )


def separate(shape: str | None, colour: str | None, image: int) -> Cell:
    """The method for things that stand apart."""
    thought = "I separate the drawing into connected areas of one colour and look at the form of each."
    return Cell(thought, "blobs", _PIECES, (image,), {"COLOUR": colour, "SHAPE": shape})


def outlines(shape: str, sides: int, turns: int, image: int) -> Cell:
    """The method for outlines that cross; `turns` is how many rotations are tried (sides 0 is a circle)."""
    thought = f"Lines cross here, so I match {shape} outlines of every size against them."
    settings: dict[str, Value] = {"SHAPE": shape, "SIDES": sides, "TURNS": turns}
    return Cell(thought, "outlines", ("components", "colours", "outlines"), (image,), settings)


def merged_discs_cell(colour: str | None, image: int) -> Cell:
    """The method for filled discs that run into each other."""
    thought = "Some discs run together, so I fit circles to the arcs of their borders."
    return Cell(thought, "merged", (*_PIECES, "circles"), (image,), {"COLOUR": colour})


def read_count(finding: Finding, noun: str) -> Found | None:
    """The count of a cell as an answer; a method that is not sure and found nothing says nothing."""
    count = finding.whole("count")
    return (
        None
        if count is None or (count == 0 and not finding.confident)
        else Found(f"Counted: {count} x {noun}.", str(count))
    )
