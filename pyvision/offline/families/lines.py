"""Questions about drawn lines: how often two of them cross, which stations paths connect, how large a table is."""

from __future__ import annotations

from pyvision.offline.plans import CellFindings, MeasuredAnswer, MeasurementPlan, PlannedCell, format_literal
from pyvision.offline.wording import COLOUR, COLOURS, ParsedQuestion, kind_of, match_wording

_LINES = r"(?:lines?|curves?|plots?|graphs?|line plots?|polylines?|paths?)"
_WHO = rf"(?:(?P<one>{COLOUR}) (?:{_LINES} )?and (?P<other>{COLOUR}) {_LINES}|(?:two )?{_LINES})"
_MEET = r"(?:intersect|cross|meet)(?: (?:each other|one another))?(?: in image)?"
_CROSSINGS_OFTEN = (
    rf"(?:count )?(?:how many times|how often|(?:at|in) how many points) (?:do )?{_WHO} {_MEET}",
)
_CROSSINGS_COUNTED = (
    r"(?:intersections?|intersection points|crossings?|points of intersection)(?: are there)?"
    rf" (?:between|of) {_WHO}",
    rf"times (?:that |do )?{_WHO} {_MEET}",
)
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
_PATHS_COUNTED = rf"{_KIND}{_GO} {_ENDS}"
_WHICH_PATHS = (
    rf"(?:what|which) colours? (?:is|are|of|has|have) {_KIND}{_GO} {_ENDS}",
    rf"which (?:coloured |colour )?{_KIND}{_GO} {_ENDS}",
)
_TABLE = (
    r"(?: (?:are|does|do|is|has|have))?(?: there)?"
    r"(?: (?:in|of|on|make up|form)| that)?(?: (?:table|grid|spreadsheet))?(?: have| has| contain)?(?: in)?"
)
_BOTH = r"(?:rows and (?:number of )?columns|columns and (?:number of )?rows)"
_TABLES: dict[str, tuple[str, ...]] = {
    "both": (rf"{_BOTH}{_TABLE}",),
    "rows": (rf"rows{_TABLE}",),
    "columns": (rf"columns{_TABLE}",),
    "cells": (rf"cells{_TABLE}",),
}
_TABLE_SIZE = r"(?:what (?:is|are) )?(?:size|dimensions) of (?:table|grid)(?: in image)?"


def plan_crossings(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions for the number of places where two lines cross."""
    found = match_wording(question.plain, *_CROSSINGS_OFTEN) or match_wording(
        question.counted, *_CROSSINGS_COUNTED
    )
    if found is None or question.image is None:
        return None
    named = tuple(COLOURS[name] for name in found.groupdict().values() if name)
    thought = "I separate the two lines by their colours and look for the places where they meet."
    cell = PlannedCell(thought, "crossings", (question.image,), {"colours": format_literal(named or None)})
    return MeasurementPlan((cell,), _read_crossings)


def _read_crossings(finding: CellFindings) -> MeasuredAnswer | None:
    count = finding.whole("count")
    return None if count is None else MeasuredAnswer(f"The two lines meet at {count} places.", str(count))


def plan_paths(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions for the number, or the colours, of the paths between two letters, as on a subway map."""
    counted, which = (
        match_wording(question.counted, _PATHS_COUNTED),
        match_wording(question.plain, *_WHICH_PATHS),
    )
    found = counted or which
    if found is None or question.image is None or found["a"] == found["b"]:
        return None
    stations = (found["a"].upper(), found["b"].upper())
    thought = (
        f"I look for the letters {' and '.join(stations)}, then follow each colour to where its line ends."
    )
    cell = PlannedCell(thought, "paths", (question.image,), {"stations": format_literal(stations)})
    return MeasurementPlan((cell,), lambda finding: _read_paths(finding, stations, by_colour=counted is None))


def _read_paths(
    finding: CellFindings, stations: tuple[str, str], *, by_colour: bool
) -> MeasuredAnswer | None:
    count, colours = finding.whole("count"), finding.texts("colours")
    if count is None or colours is None:
        return None
    listed = ", ".join(colours) or "none"
    sentence = f"Lines that end at both {stations[0]} and {stations[1]}: {listed}."
    return MeasuredAnswer(sentence, listed if by_colour else str(count))


def plan_table(question: ParsedQuestion) -> MeasurementPlan | None:
    """Fits questions for the rows or columns of a table, or both."""
    is_size = match_wording(question.plain, _TABLE_SIZE)
    kind = "both" if is_size else kind_of(question.counted, _TABLES)
    if kind is None or question.image is None:
        return None
    by_lines = (
        "A table is ruled by long straight lines: I look for them in both directions and count the gaps."
    )
    by_cells = (
        "The lines did not settle it, so I look for the empty stripes between the contents of the cells."
    )
    cells = (
        PlannedCell(by_lines, "ruled_table", (question.image,)),
        PlannedCell(by_cells, "aligned_cells", (question.image,)),
    )
    columns_first = "columns and" in question.counted
    return MeasurementPlan(cells, lambda finding: _read_table(finding, kind, columns_first=columns_first))


def _read_table(finding: CellFindings, kind: str, *, columns_first: bool) -> MeasuredAnswer | None:
    rows, columns = finding.whole("rows"), finding.whole("columns")
    if not rows or not columns:
        return None
    both = f"({columns}, {rows})" if columns_first else f"({rows}, {columns})"
    answers = {"both": both, "rows": str(rows), "columns": str(columns), "cells": str(rows * columns)}
    return MeasuredAnswer(f"The table has {rows} rows and {columns} columns.", answers[kind])
