"""Geometry that tells a clear image from an ambiguous one: of the drawn outlines, and of the resulting pixels.

The connected areas in the pixels are an independent check of what was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.bench.synthetic.canvas import Point

if TYPE_CHECKING:
    import numpy as np

    from pyvision.bench.synthetic.canvas import RGB, Box, Pixels

    Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


_SIDES = {"triangle": 3, "square": 4, "pentagon": 5, "hexagon": 6}


def corners(centre: Point, radius: float, sides: int, turn: float = 0.0) -> list[Point]:
    """The corners of a regular polygon; the first lies above the centre when turn (in radians) is 0."""
    angles = [turn + 2 * math.pi * k / sides - math.pi / 2 for k in range(sides)]
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in angles]


def star(centre: Point, radius: float, turn: float = 0.0) -> list[Point]:
    """The ten corners of a star of five rays."""
    outer, inner = corners(centre, radius, 5, turn), corners(centre, radius * 0.42, 5, turn + math.pi / 5)
    return [point for pair in zip(outer, inner, strict=True) for point in pair]


def cross(centre: Point, radius: float, turn: float = 0.0) -> list[Point]:
    """The twelve corners of a cross with four equal bars."""
    half = math.atan2(0.3, 1.0)  # an arm is 0.6 wide and ends at a distance of 1
    inner = radius * 0.3 * math.sqrt(2) * math.cos(half)
    angles = [turn + k * math.pi / 2 for k in range(4)]
    spread = ((radius, -half), (radius, half), (inner, math.pi / 4))
    return [
        (centre[0] + far * math.cos(angle + off), centre[1] + far * math.sin(angle + off))
        for angle in angles
        for far, off in spread
    ]


def shape_corners(shape: str, centre: Point, radius: float, turn: float = 0.0) -> list[Point]:
    """The corners of a shape by its name; a circle as a polygon of 48 sides."""
    if shape == "star":
        return star(centre, radius, turn)
    if shape == "cross":
        return cross(centre, radius, turn)
    return corners(centre, radius, _SIDES.get(shape, 48), turn)


def apart(one: Point, other: Point) -> float:
    """The distance of two points."""
    return math.hypot(one[0] - other[0], one[1] - other[1])


def side_of(point: Point, start: Point, end: Point) -> float:
    """Twice the area of the triangle; its sign says on which side of the line the point lies."""
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])


def away_from_segment(point: Point, start: Point, end: Point) -> float:
    """The distance of a point from a segment."""
    along = (end[0] - start[0], end[1] - start[1])
    length = along[0] ** 2 + along[1] ** 2
    share = ((point[0] - start[0]) * along[0] + (point[1] - start[1]) * along[1]) / length if length else 0.0
    share = min(1.0, max(0.0, share))
    return apart(point, (start[0] + share * along[0], start[1] + share * along[1]))


def away_from_line(point: Point, line: Sequence[Point]) -> float:
    """The distance of a point from a polyline."""
    return min(away_from_segment(point, start, end) for start, end in pairwise(line))


def crossings(one: Sequence[Point], other: Sequence[Point]) -> list[Point]:
    """Where two polylines cross; only correct if no corner of one lies on the other."""
    return [
        _meeting(a, b, c, d)
        for a, b in pairwise(one)
        for c, d in pairwise(other)
        if side_of(a, c, d) * side_of(b, c, d) < 0 and side_of(c, a, b) * side_of(d, a, b) < 0
    ]


def _meeting(a: Point, b: Point, c: Point, d: Point) -> Point:
    share = side_of(a, c, d) / (side_of(a, c, d) - side_of(b, c, d))
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


@dataclass(frozen=True, slots=True)
class Area:
    """A connected area: its number of pixels, and its box [left, top, right, bottom], the last two exclusive."""

    pixels: int
    box: Box

    @property
    def fill(self) -> float:
        """The share of its box that the area covers."""
        left, top, right, bottom = self.box
        return self.pixels / ((right - left) * (bottom - top))


def near(pixels: Pixels, ink: RGB, within: int = 60) -> Mask:
    """Where each channel is at most `within` levels off a colour."""
    import numpy as np

    levels = np.arange(256)
    red, green, blue = (
        np.abs(levels - level) <= within for level in ink
    )  # tables: much quicker than arithmetic
    found: Mask = red[pixels[..., 0]] & green[pixels[..., 1]] & blue[pixels[..., 2]]
    return found


def areas(mask: Mask, least: int = 1) -> list[Area]:
    """The areas of at least `least` pixels, connected at edges or corners, in order of their first row."""
    runs = _runs(mask)
    found: dict[int, list[tuple[int, int, int]]] = {}
    for run, root in zip(runs, _roots(runs), strict=True):
        found.setdefault(root, []).append(run)
    whole = [_area(group) for group in found.values()]
    return [area for area in whole if area.pixels >= least]


def _runs(mask: Mask) -> list[tuple[int, int, int]]:
    """(row, first, end) of each run of True."""
    import numpy as np

    steps = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, firsts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    return list(zip(rows.tolist(), firsts.tolist(), ends.tolist(), strict=True))


def _roots(runs: list[tuple[int, int, int]]) -> list[int]:
    """For each run, the number of the first run of its area (union-find by the smaller number)."""
    parent = list(range(len(runs)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    above = 0
    for index, (row, first, end) in enumerate(runs):
        while runs[above][0] < row - 1 or (runs[above][0] == row - 1 and runs[above][2] < first):
            above += 1
        at = above
        while runs[at][0] == row - 1 and runs[at][1] <= end:
            one, other = sorted((root(at), root(index)))
            parent[other] = one
            at += 1
    return [root(index) for index in range(len(runs))]


def _area(runs: list[tuple[int, int, int]]) -> Area:
    rows, firsts, ends = zip(*runs, strict=True)
    pixels = sum(end - first for _, first, end in runs)
    return Area(pixels, (min(firsts), min(rows), max(ends), max(rows) + 1))
