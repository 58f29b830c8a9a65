"""Rows and columns of a table or grid."""

from __future__ import annotations

from pyvision.offline.findings import Finding
from pyvision.offline.plans import Cell, Found, Plan
from pyvision.offline.wording import ParsedQuestion, kind_of, match_wording

_TABLE = (
    r"(?: (?:are|does|do|is|has|have))?(?: there)?"
    r"(?: (?:in|of|on|make up|form)| that)?(?: (?:table|grid|spreadsheet))?(?: have| has| contain)?(?: in)?"
)
_BOTH = r"(?:rows and (?:number of )?columns|columns and (?:number of )?rows)"
_WORDINGS: dict[str, tuple[str, ...]] = {
    "both": (rf"{_BOTH}{_TABLE}",),
    "rows": (rf"rows{_TABLE}",),
    "columns": (rf"columns{_TABLE}",),
    "cells": (rf"cells{_TABLE}",),
}
_SIZE = r"(?:what (?:is|are) )?(?:size|dimensions) of (?:table|grid)(?: in image)?"


def plan(asked: ParsedQuestion) -> Plan | None:
    """Fits questions for the rows, the columns or both."""
    kind = "both" if match_wording(asked.plain, _SIZE) else kind_of(asked.counted, _WORDINGS)
    if kind is None or asked.image is None:
        return None
    lines = Cell(
        "A table is ruled by long straight lines: I look for them in both directions and count the gaps.",
        "table", ("components", "colours"), (asked.image,),
    )  # fmt: skip
    blocks = Cell(
        "The lines did not settle it; I look for the empty stripes between the contents of the cells.",
        "table_stripes", ("components", "colours"), (asked.image,),
    )  # fmt: skip
    columns_first = "columns and" in asked.counted
    return Plan((lines, blocks), lambda finding: _conclude(finding, kind, columns_first=columns_first))


def _conclude(finding: Finding, kind: str, *, columns_first: bool) -> Found | None:
    rows, columns = finding.whole("rows"), finding.whole("columns")
    if not rows or not columns:
        return None
    both = f"({columns}, {rows})" if columns_first else f"({rows}, {columns})"
    answers = {"both": both, "rows": str(rows), "columns": str(columns), "cells": str(rows * columns)}
    return Found(f"The table has {rows} rows and {columns} columns.", answers[kind])
