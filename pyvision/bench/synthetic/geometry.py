"""Points, segments and polygons, with the margins that tell a clear picture from an ambiguous one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from pyvision.bench.synthetic.canvas import Point

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
    """The twelve corners of a cross with ablations of one width."""
    half = math.atan2(0.3, 1.0)  # an ablation is 0.6 wide where its end is 1 away
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
    """Twice the area of the triangle: its sign says on which side of the line the point lies."""
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
    """Where two polylines cross; only sound when no corner of one lies on the other."""
    return [
        _meeting(a, b, c, d)
        for a, b in pairwise(one)
        for c, d in pairwise(other)
        if side_of(a, c, d) * side_of(b, c, d) < 0 and side_of(c, a, b) * side_of(d, a, b) < 0
    ]


def _meeting(a: Point, b: Point, c: Point, d: Point) -> Point:
    share = side_of(a, c, d) / (side_of(a, c, d) - side_of(b, c, d))
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
