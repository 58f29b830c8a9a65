"""The families in the order in which they are tried; the first whose wording fits a question answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyvision.offline.families import (
    blobs,
    colours,
    difference,
    discs,
    intersections,
    nested,
    overlapping,
    paths,
    size,
    table,
    text,
)
from pyvision.offline.plans import Plan
from pyvision.offline.wording import ParsedQuestion


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of question: what it is about, and the plan for a question if it is of that kind."""

    about: str
    plan: Callable[[ParsedQuestion], Plan | None]


FAMILIES = (
    Family("the size of an image", size.plan),
    Family("differences between two images", difference.plan),
    Family("rows and columns of a table", table.plan),
    Family("touching or overlapping circles", discs.plan),
    Family("paths of one colour between lettered stations", paths.plan),
    Family("intersections of two lines", intersections.plan),
    Family("nested squares", nested.plan),
    Family("overlapping circles and polygons", overlapping.plan),
    Family("counting by colour and shape", blobs.plan),
    Family("colours", colours.plan),
    Family("reading text", text.plan),
)


def plan_for(asked: ParsedQuestion) -> Plan | None:
    """The plan of the first family that the question fits, or None."""
    return next((plan for family in FAMILIES if (plan := family.plan(asked)) is not None), None)
