"""Circles and regular polygons of any colour, that may cross each other like the Olympic rings."""

from __future__ import annotations

from pyvision.offline.families.blobs import DRAWN, merged_discs_cell, outlines, read_count, separate
from pyvision.offline.plans import Plan
from pyvision.offline.wording import SHAPE, ParsedQuestion, match_wording, shape_of

_SIDES = {"circle": 0, "triangle": 3, "pentagon": 5, "hexagon": 6, "heptagon": 7}


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions for the number of circles, triangles, pentagons, hexagons or heptagons."""
    found = match_wording(asked.counted, rf"{DRAWN}(?P<shape>{SHAPE})")
    shape = shape_of(found["shape"]) if found else None
    if shape not in _SIDES or asked.image is None:
        return None
    cells = (separate(shape, None, asked.image), outlines(shape, _SIDES[shape], 2, asked.image))
    further = (
        merged_discs_cell(None, asked.image)
        if shape == "circle"
        else outlines(shape, _SIDES[shape], 12, asked.image)
    )
    return Plan((*cells, further), lambda finding: read_count(finding, shape))
