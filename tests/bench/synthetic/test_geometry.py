"""Segments, polygons and where they cross."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.synthetic.geometry import (
    apart,
    away_from_segment,
    corners,
    cross,
    crossings,
    shape_corners,
    star,
)

LINES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=5)


def test_two_diagonals_cross_in_the_middle() -> None:
    assert crossings([(0, 0), (10, 10)], [(0, 10), (10, 0)]) == [(5, 5)]


def test_lines_that_only_point_at_each_other_do_not_cross() -> None:
    assert crossings([(0, 0), (4, 4)], [(0, 10), (10, 0)]) == []


@given(LINES, LINES)
def test_crossings_do_not_depend_on_which_line_is_first(
    one: list[tuple[float, float]], other: list[tuple[float, float]]
) -> None:
    assert len(crossings(one, other)) == len(crossings(other, one))


@pytest.mark.parametrize(("point", "distance"), [((5, 3), 3), ((-3, 4), 5), ((13, 4), 5), ((7, 0), 0)])
def test_a_segment_is_as_far_away_as_its_nearest_point(point: tuple[float, float], distance: float) -> None:
    assert away_from_segment(point, (0, 0), (10, 0)) == pytest.approx(distance)


def test_a_segment_without_length_is_a_point() -> None:
    assert away_from_segment((3, 4), (0, 0), (0, 0)) == 5


def test_the_first_corner_of_a_polygon_points_up() -> None:
    assert corners((10, 10), 5, 4)[0] == pytest.approx((10, 5))


@pytest.mark.parametrize("shape", ["circle", "triangle", "square", "pentagon", "star", "cross"])
@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_no_corner_of_a_shape_leaves_its_circle(shape: str, turn: float) -> None:
    assert max(apart(point, (3, 4)) for point in shape_corners(shape, (3, 4), 10, turn)) <= 10.001


def test_a_cross_reaches_as_far_in_four_directions() -> None:
    far = [point for point in cross((0, 0), 1) if apart(point, (0, 0)) > 0.9]
    assert len(far) == 8


def test_a_star_has_five_rays() -> None:
    assert sum(math.isclose(apart(point, (0, 0)), 1) for point in star((0, 0), 1)) == 5
