"""Squares inside squares: outlines that may lie off centre, be turned, or cross."""

from __future__ import annotations

from pyvision.offline.families.blobs import DRAWN, outlines, read_count, separate
from pyvision.offline.plans import Plan
from pyvision.offline.wording import ParsedQuestion, match_wording


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions for the number of squares, whatever their colour."""
    if asked.image is None or not match_wording(asked.counted, rf"{DRAWN}squares?"):
        return None
    cells = (
        separate("square", None, asked.image),
        outlines("square", 4, 2, asked.image),
        outlines("square", 4, 12, asked.image),
    )
    return Plan(cells, lambda finding: read_count(finding, "square"))
