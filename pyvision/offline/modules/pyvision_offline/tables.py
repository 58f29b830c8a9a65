"""Count the rows and columns of a table: by its ruled lines, or by the colours and the spacing of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .drawing import Drawing
from .masks import Array
from .palette import mask_of_ink, most_frequent

_Bands: TypeAlias = list[tuple[int, int]]  # first and last position of each


@dataclass(frozen=True, slots=True)
class TableShape:
    """heights, places: of the lines, bands or borders that were counted, from the top and from the left."""

    rows: int = 0
    columns: int = 0
    heights: tuple[float, ...] = ()
    places: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.rows} rows, {self.columns} columns"

    def draw(self, axes: Any, number: int) -> None:
        """Draw what was counted."""
        for y in self.heights:
            axes.axhline(y, color="red", lw=0.8)
        for x in self.places:
            axes.axvline(x, color="blue", lw=0.8)


def find_ruled_table(drawing: Drawing) -> tuple[TableShape, str]:
    """The table that long straight lines rule."""
    paper, _ = most_frequent(drawing.array.reshape(-1, 3))
    best = TableShape()
    for min_difference in (120, 60, 28):  # thin lines between two pixels are paler than their neighbours
        mask = mask_of_ink(drawing.array, paper, min_difference)
        across, down = _find_rules(mask), _find_rules(mask.T)
        rows = _count_gaps(across, _find_extent(mask.T, down))
        columns = _count_gaps(down, _find_extent(mask, across))
        if rows and columns and rows + columns > best.rows + best.columns:
            best = TableShape(rows, columns, _centres(across, drawing.scale), _centres(down, drawing.scale))
    return best, "" if best.rows else "no lines rule the table"


def _find_rules(mask: Array) -> _Bands:
    """The bands of rows that hold a line at least two thirds as long as the longest line."""
    runs = _find_longest_runs(mask)
    if runs.max(initial=0) < 0.3 * mask.shape[1]:
        return []
    bands = _find_bands(runs > 0.66 * runs.max())
    return [band for band in bands if band[1] - band[0] < 0.08 * len(mask) + 2]


def _find_longest_runs(mask: Array) -> Array:
    """The length of the longest run of True in each row; gaps of two pixels are bridged."""
    bridged = mask.copy()
    for gap in (1, 2):
        bridged[:, gap:-gap] |= mask[:, : -2 * gap] & mask[:, 2 * gap :]
    falls = np.cumsum(~bridged, axis=1)
    falls += np.arange(len(mask))[:, None] * (mask.shape[1] + 1)
    numbers, counts = np.unique(falls[bridged], return_counts=True)
    runs = np.zeros(len(mask), int)
    np.maximum.at(runs, numbers // (mask.shape[1] + 1), counts)
    return runs


def _find_bands(hits: Array) -> _Bands:
    """Each stretch of True."""
    steps = np.diff(np.concatenate([[0], hits.astype(np.int8), [0]]))
    return list(zip(np.nonzero(steps == 1)[0], np.nonzero(steps == -1)[0] - 1, strict=True))


def _count_gaps(lines: _Bands, extent: tuple[float, float]) -> int:
    """How many cells lie between and beside the lines; `extent` is that of the lines that cross them."""
    if not lines:
        return 0
    firsts, lasts = np.array(lines).T
    inner = firsts[1:] - lasts[:-1] - 1
    inner = inner[inner > 2]
    if not len(inner):
        return 0
    margin = 0.5 * np.median(inner)
    return len(inner) + int(firsts[0] - extent[0] > margin) + int(extent[1] - lasts[-1] > margin)


def _find_extent(mask: Array, lines: _Bands) -> tuple[float, float]:
    """From where to where the lines of a mask run, along them."""
    extents = [np.nonzero(mask[first : last + 1].any(axis=0))[0] for first, last in lines]
    if not extents:
        return 0, 0
    return float(np.median([e.min() for e in extents])), float(np.median([e.max() for e in extents]))


def _centres(bands: _Bands, scale: float) -> tuple[float, ...]:
    return tuple((first + last) / 2 * scale for first, last in bands)


def find_aligned_cells(drawing: Drawing) -> tuple[TableShape, str]:
    """The table without ruled lines: by coloured cells, else by the empty stripes between the contents."""
    array = drawing.array
    pairs = ((array, array.shape[0]), (array.transpose(1, 0, 2), array.shape[1]))
    borders = [_add_ends(_find_colour_borders(each), length) for each, length in pairs]
    if all(_is_regular(each) for each in borders) and min(map(len, borders)) > 2:
        return _build_table(borders, drawing.scale, extra=1), ""
    ink = mask_of_ink(array, most_frequent(array.reshape(-1, 3))[0], 60)
    centres = [_find_contents(ink), _find_contents(ink.T)]
    steps = [np.diff(each) for each in centres]
    is_regular = min(map(len, centres)) > 1 and all(step.max() < 1.6 * step.min() for step in steps)
    doubts = "" if is_regular else "the cells are not in a regular pattern"
    return _build_table(centres, drawing.scale), doubts


def _build_table(positions: list[list[float]], scale: float, extra: int = 0) -> TableShape:
    """`extra` is how many more positions there are than rows or columns."""
    heights, places = (tuple(position * scale for position in each) for each in positions)
    return TableShape(len(heights) - extra, len(places) - extra, heights, places)


def _find_colour_borders(array: Array) -> list[float]:
    """The heights at which the colour changes over a large part of the width."""
    wide = array.astype(np.int16)
    changes = (np.abs(wide[2:] - wide[:-2]).max(axis=2) > 24).mean(axis=1)
    hits = np.nonzero(changes > 0.3)[0]
    groups = np.split(hits, np.nonzero(np.diff(hits) > 3)[0] + 1)
    return [int(group.mean()) + 1 for group in groups if len(group)]


def _is_regular(positions: list[float]) -> bool:
    steps = np.diff(positions)
    return bool(len(steps) > 0 and steps.min() > 6 and steps.max() < 1.25 * steps.min() + 2)


def _add_ends(positions: list[float], length: int) -> list[float]:
    """The positions, and the ends of the picture where another cell fits between an end and them."""
    if not positions:
        return positions
    pitch = np.median(np.diff(positions)) if len(positions) > 1 else max(positions[0], length - positions[0])
    start = [0.0] if positions[0] > 0.7 * pitch else []
    return start + positions + ([float(length)] if length - positions[-1] > 0.7 * pitch else [])


def _find_contents(ink: Array) -> list[float]:
    """The centres of the bands of rows that hold ink; gaps that are far narrower than others do not separate bands."""
    steps = np.diff(np.concatenate([[0], ink.any(axis=1).astype(np.int8), [0]]))
    starts, ends = np.nonzero(steps == 1)[0], np.nonzero(steps == -1)[0]
    gaps = starts[1:] - ends[:-1]
    if len(gaps):
        order = np.sort(gaps)
        jumps = order[1:] / np.maximum(order[:-1], 1)
        limit = order[jumps.argmax() + 1] if len(jumps) and jumps.max() > 2 else 0
        cuts = np.nonzero(gaps >= limit)[0]
        starts = np.concatenate([starts[:1], starts[cuts + 1]])
        ends = np.concatenate([ends[cuts], ends[-1:]])
    return [float((start + end) / 2) for start, end in zip(starts, ends, strict=True)]
