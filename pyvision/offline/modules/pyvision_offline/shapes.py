"""Name the simple shape that a mask fills, from the corners of its convex hull."""

from __future__ import annotations

import numpy as np

from .masks import Array

# The least share of its hull's area that the corners of a shape span. Four corners of a pentagon span 72 %, five of a
# hexagon 83 %, six of a heptagon 89 %, seven of a circle 87 %; corners that pixels blunt cost a few.
_SPANNED_AREA = {3: 0.84, 4: 0.87, 5: 0.9, 6: 0.91, 7: 0.91}


def name_shape(mask: Array) -> tuple[str, float]:
    """The name of the shape that a mask without holes fills, and how much of its convex hull it fills."""
    hull = _find_hull(mask)
    if len(hull) < 3:
        return "other", 1.0
    perimeter = np.hypot(*(np.roll(hull, -1, axis=0) - hull).T).sum()
    solidity = min(1.0, mask.sum() / (_area(hull) + perimeter / 2 + 1))  # the hull ends at centres of pixels
    corners = _find_corners(hull)
    if solidity < 0.86:
        return ("star" if solidity < 0.72 and len(corners) in (4, 5, 6) else "other"), solidity
    names = {3: "triangle", 5: "pentagon", 6: "hexagon", 7: "heptagon"}
    if len(corners) == 4:
        return _name_quadrilateral(corners), solidity
    return names.get(len(corners)) or _name_round_shape(mask), solidity


def _find_hull(mask: Array) -> Array:
    """The convex hull of the centres of the pixels of a mask, as rows of x, y."""
    rows = np.nonzero(mask.any(axis=1))[0]
    left = mask[rows].argmax(axis=1)
    right = mask.shape[1] - 1 - mask[rows][:, ::-1].argmax(axis=1)
    points = np.concatenate([np.column_stack([x, rows]) for x in (left, right)])
    points = np.unique(points, axis=0).astype(float)
    return np.array(_find_half_hull(points)[:-1] + _find_half_hull(points[::-1])[:-1])


def _find_half_hull(points: Array) -> list[Array]:
    """One side of the convex hull of sorted points."""
    chain: list[Array] = []
    for point in points:
        while len(chain) > 1 and _cross(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def _cross(a: Array, b: Array, c: Array) -> float:
    """Twice the signed area of a triangle."""
    twice: float = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return twice


def _area(polygon: Array) -> float:
    x, y = np.array(polygon).T
    area: float = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    return area


def _find_corners(hull: Array) -> Array:
    """The fewest corners of the hull that span most of its area; all of them if seven do not."""
    corners = list(range(len(hull)))
    fewest = np.array(hull)
    while len(corners) > 3:
        at = hull[corners]
        cuts = [abs(_cross(at[i - 1], at[i], at[(i + 1) % len(at)])) for i in range(len(at))]
        del corners[int(np.argmin(cuts))]
        if len(corners) in _SPANNED_AREA:
            corners = _move_corners(hull, corners)
            if _area(hull[corners]) < _SPANNED_AREA[len(corners)] * _area(hull):
                break
            fewest = hull[corners]
    return fewest


def _move_corners(hull: Array, corners: list[int]) -> list[int]:
    """The same number of corners, each moved along the hull to where they span the most."""
    for place in list(range(len(corners))) * 2:
        before, after = hull[corners[place - 1]], hull[corners[(place + 1) % len(corners)]]
        start = corners[place - 1]
        between = [i % len(hull) for i in range(start + 1, start + len(hull))]
        choices = between[: between.index(corners[(place + 1) % len(corners)])]
        areas = [abs(_cross(before, hull[i], after)) for i in choices]
        corners[place] = choices[int(np.argmax(areas))]
    return corners


def _name_quadrilateral(corners: Array) -> str:
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*sides.T)
    across = np.abs((sides * np.roll(sides, -1, axis=0)).sum(axis=1)) / (lengths * np.roll(lengths, -1))
    if across.max() > 0.25:
        return "diamond" if lengths.max() < 1.15 * lengths.min() else "quadrilateral"
    return "square" if lengths.max() < 1.12 * lengths.min() + 1 else "rectangle"


def _name_round_shape(mask: Array) -> str:
    """Circle or ellipse, from the second moments of the mask."""
    rows, columns = np.nonzero(mask)
    spread = np.linalg.eigvalsh(np.cov(np.stack([columns, rows]))) if len(rows) > 4 else np.ones(2)
    return "circle" if spread[1] < 1.3 * spread[0] + 0.5 else "ellipse"
