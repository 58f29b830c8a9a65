"""Affine transforms of positions in images.

A position counts pixels from the top left corner of an image: the first pixel spans 0 to 1 on both axes. A matrix
(a, b, c, d, e, f) maps (x, y) to (a·x + b·y + c, d·x + e·y + f); all of ours map from an image to an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom

IDENTITY: Matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def scale_and_shift(x_scale: float, x_shift: float, y_scale: float, y_shift: float) -> Matrix:
    return (x_scale, 0.0, x_shift, 0.0, y_scale, y_shift)


def apply(matrix: Matrix, point: Point) -> Point:
    a, b, c, d, e, f = matrix
    x, y = point
    return a * x + b * y + c, d * x + e * y + f


def compose(outer: Matrix, inner: Matrix) -> Matrix:
    """First `inner`, then `outer`."""
    a, b, c, d, e, f = outer
    g, h, i, j, k, m = inner
    return (a * g + b * j, a * h + b * k, a * i + b * m + c, d * g + e * j, d * h + e * k, d * i + e * m + f)


def invert(matrix: Matrix) -> Matrix:
    """Raises ZeroDivisionError for a matrix that maps an area to a line."""
    a, b, c, d, e, f = matrix
    area = a * e - b * d
    return (
        e / area,
        -b / area,
        (b * f - e * c) / area,
        -d / area,
        a / area,
        (d * c - a * f) / area,
    )


def from_pixel_indices(matrix: Matrix) -> Matrix:
    """The matrix between positions, from one between the indices of pixels, which lie in their centres."""
    a, b, c, d, e, f = matrix
    return (a, b, c + 0.5 - (a + b) / 2, d, e, f + 0.5 - (d + e) / 2)


def is_upright(matrix: Matrix) -> bool:
    """Whether each axis of the image is parallel to the same axis of the earlier one."""
    return matrix[1] == matrix[3] == 0


def bounds(points: Iterable[Point]) -> Box:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def map_box(matrix: Matrix, box: Box) -> Box:
    """The smallest box around what the box maps to."""
    left, top, right, bottom = box
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return bounds(apply(matrix, corner) for corner in corners)


def is_close(first: Matrix, second: Matrix, size: tuple[int, int]) -> bool:
    """Whether both map an image of this size to the same place within a hundredth of a pixel."""
    corners = ((0, 0), (size[0], 0), (0, size[1]))
    pairs = ((apply(first, corner), apply(second, corner)) for corner in corners)
    return all(abs(p[0] - q[0]) < 0.01 and abs(p[1] - q[1]) < 0.01 for p, q in pairs)
