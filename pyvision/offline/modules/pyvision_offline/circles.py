"""Fit circles to the edges of discs and rings, finer than a pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .drawing import NOT_SIMPLE, Drawing
from .masks import Array, stroke_width
from .objects import DrawnObject, drop_specks, select_colour, separate_objects
from .outlines import match_outlines, unit_outline
from .palette import mask_of_ink, name_of


@dataclass(frozen=True, slots=True)
class Circle:
    """A disc or a ring; its radius is the outer one."""

    x: float
    y: float
    radius: float
    colour_name: str

    def __str__(self) -> str:
        return f"{self.colour_name} circle: centre ({self.x:.2f}, {self.y:.2f}), radius {self.radius:.2f} px"

    def enlarge(self, scale: float) -> Circle:
        """The same in coordinates of the picture."""
        return Circle(self.x * scale, self.y * scale, self.radius * scale, self.colour_name)

    def draw(self, axes: Any, number: int) -> None:
        """Draw it and its number."""
        points = unit_outline(0, 0.0, 120) * self.radius + (self.x, self.y)
        axes.plot(*points.T, color="black", lw=1)
        axes.text(self.x, self.y, str(number), ha="center", va="center", fontsize=7)


def find_discs(drawing: Drawing, colour: str | None = None) -> tuple[list[Circle], str]:
    """Filled circles that may touch or cover each other, found by the arcs of their borders."""
    if not drawing.is_simple:
        return [], NOT_SIMPLE
    objects = select_colour(drop_specks(separate_objects(drawing.array)), colour)
    discs, partly_explained = _find_discs(drawing, objects)
    doubts = f"{partly_explained} objects consist of arcs only in part" if partly_explained else ""
    return [disc.enlarge(drawing.scale) for disc in discs], doubts


def find_smallest_gap(
    drawing: Drawing, colours: tuple[str, str] | None = None
) -> tuple[float | None, list[Circle], str]:
    """The smallest gap between two circles, of these colours if any are given; and all circles.

    Below zero the two overlap. Where rings cross, the circles are the rings, else the discs.
    """
    if not drawing.is_simple:
        return None, [], NOT_SIMPLE
    objects = drop_specks(separate_objects(drawing.array))
    found = _find_crossing_rings(drawing, objects) or _find_discs(drawing, objects)[0]
    circles = [circle.enlarge(drawing.scale) for circle in found]
    gaps = [
        float(np.hypot(a.x - b.x, a.y - b.y)) - a.radius - b.radius
        for a, b in combinations(circles, 2)
        if colours is None or {a.colour_name, b.colour_name} == set(colours)
    ]
    if not gaps:
        return None, circles, f"{len(circles)} circles were found, and two of them are needed"
    return round(min(gaps), 2), circles, ""


def _find_discs(drawing: Drawing, objects: Sequence[DrawnObject]) -> tuple[list[Circle], int]:
    """The circles whose arcs border the background, and the number of objects that they explain only in part."""
    discs: list[Circle] = []
    partly_explained = 0
    for each in objects:
        left, top = max(0, int(each.box[0]) - 3), max(0, int(each.box[1]) - 3)
        rows, columns = slice(top, int(each.box[3]) + 4), slice(left, int(each.box[2]) + 4)
        points = _find_edge_points(
            drawing.array[rows, columns].astype(float), each.colour, drawing.background
        )
        explained = np.zeros(len(points), bool)
        for x, y, radius in _fit_circles(points):
            explained |= np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius) < 1.6
            disc = Circle(x + left, y + top, radius, each.colour_name)
            if radius > 2.5 and not any(_is_same(disc, other, each.style) for other in discs):
                discs.append(disc)
        partly_explained += bool(explained.any() and explained.mean() < 0.85)
    return discs, partly_explained


def _find_crossing_rings(drawing: Drawing, objects: Sequence[DrawnObject]) -> list[Circle]:
    """The circles of outlines that cross each other."""
    rings = []
    for each in objects:
        if each.style == "outline" and each.holes > 1:
            left, top, right, bottom = (int(edge) for edge in each.box)
            window = drawing.array[top : bottom + 1, left : right + 1]
            ink = mask_of_ink(window, drawing.background)
            for _, x, y, radius, _ in match_outlines(ink, 0, [0.0]):
                points = np.rint(unit_outline(0, 0.0, 90) * radius + (x, y)).astype(int)
                points = points.clip(0, np.array(ink.shape)[::-1] - 1)
                colour = np.median(window[points[:, 1], points[:, 0]], axis=0)
                rings.append(Circle(x + left, y + top, radius + stroke_width(ink) / 2, name_of(colour)))
    return rings


def _is_same(disc: Circle, other: Circle, style: str) -> bool:
    """Whether this disc was found before, or is the inner edge of a ring."""
    distance = np.hypot(disc.x - other.x, disc.y - other.y)
    is_inner = style == "outline" and distance < 3 and disc.radius < other.radius
    return bool(is_inner or distance + abs(disc.radius - other.radius) < 0.15 * disc.radius + 2)


def _find_edge_points(array: Array, colour: Array, background: Array) -> Array:
    """Points (x, y) where the picture is half `colour`, half background; other blends give none."""
    away = colour - background
    mix = ((array - background) @ away) / (away @ away)
    pure = np.abs(array - background - mix[..., None] * away).max(axis=2) < 40
    points = []
    for axis in (0, 1):
        a, b = (mix[:-1], mix[1:]) if axis == 0 else (mix[:, :-1], mix[:, 1:])
        both = (pure[:-1] & pure[1:]) if axis == 0 else (pure[:, :-1] & pure[:, 1:])
        y, x = np.nonzero(both & ((a < 0.5) != (b < 0.5)))
        part = (0.5 - a[y, x]) / (b[y, x] - a[y, x])
        points.append(np.column_stack([x + part * (axis == 1), y + part * (axis == 0)]))
    return np.concatenate(points)


def _fit_circles(points: Array, max_circles: int = 12) -> list[tuple[float, float, float]]:
    """Circles (x, y, radius) on which the points lie, found by random triples, the fullest first."""
    random, start = np.random.default_rng(0), len(points)
    found: list[tuple[float, float, float]] = []
    while len(points) >= 12 and len(found) < max_circles and len(points) > 0.04 * start:
        centres, radii = _circles_through(points[random.integers(0, len(points), (500, 3))])
        sample = points[:: max(1, len(points) // 1500)]
        off = np.abs(np.hypot(*(sample[None] - centres[:, None]).transpose(2, 0, 1)) - radii[:, None])
        fullest = (off < 0.8).sum(axis=1).argmax()
        x, y, radius = _fit_near(points, centres[fullest], radii[fullest])
        off = np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius)
        if not radius or (off < 0.8).sum() < 0.22 * 8 * radius:  # a whole circle crosses 8 r grid lines
            break
        found.append((float(x), float(y), float(radius)))
        points = points[off > 1.6]
    return found


def _circles_through(triples: Array) -> tuple[Array, Array]:
    """Centres and radii of the circles through three points each; the radius of flat triples is 0."""
    a, b, c = triples.transpose(1, 0, 2)
    ab, ac = b - a, c - a
    cross = 2 * (ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0])
    safe = np.where(np.abs(cross) < 1, np.inf, cross)
    lengths = np.column_stack([(ab**2).sum(axis=1), (ac**2).sum(axis=1)])
    x = (ac[:, 1] * lengths[:, 0] - ab[:, 1] * lengths[:, 1]) / safe
    y = (ab[:, 0] * lengths[:, 1] - ac[:, 0] * lengths[:, 0]) / safe
    return a + np.column_stack([x, y]), np.hypot(x, y)


def _fit_near(points: Array, centre: Array, radius: float) -> tuple[float, float, float]:
    """The circle fitted again and again to the points close to it; its radius is 0 if they are too few."""
    x, y = centre
    for tolerance in (1.5, 1.0, 0.8):
        close = np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius) < tolerance
        if close.sum() < 8:
            return x, y, 0.0
        x, y, radius = _fit_circle(points[close])
    return x, y, radius


def _fit_circle(points: Array) -> tuple[float, float, float]:
    """The circle of least squares through points."""
    x, y = points.T
    system = np.column_stack([2 * x, 2 * y, np.ones(len(x))])
    a, b, c = np.linalg.lstsq(system, x * x + y * y, rcond=None)[0]
    return a, b, np.sqrt(max(0.0, c + a * a + b * b))
