from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as some

from pyvision.runs.mask_boxes import PixelBox, area, complement, cover, elsewhere

Sides = tuple[int, int]
SIZES = some.tuples(some.integers(1, 40), some.integers(1, 40))
EDGES = some.floats(-5, 45, allow_nan=False)
BOXES = some.lists(some.tuples(EDGES, EDGES, EDGES, EDGES), max_size=5)


def pixels(boxes: tuple[PixelBox, ...]) -> list[tuple[int, int]]:
    """Every pixel as often as it is covered."""
    return [
        (x, y) for left, top, right, bottom in boxes for x in range(left, right) for y in range(top, bottom)
    ]


@given(BOXES, SIZES)
def test_boxes_that_overlap_cover_the_same_pixels_once(
    boxes: list[tuple[float, float, float, float]], size: Sides
) -> None:
    touched = {
        (x, y)
        for x in range(size[0])
        for y in range(size[1])
        if any(left < x + 1 and x < right and top < y + 1 and y < bottom and left < right and top < bottom
               for left, top, right, bottom in boxes)
    }  # fmt: skip
    covered = pixels(cover(boxes, size))
    assert len(covered) == len(set(covered))
    assert set(covered) == touched


@given(BOXES, SIZES)
def test_the_complement_covers_every_other_pixel_once(
    boxes: list[tuple[float, float, float, float]], size: Sides
) -> None:
    inside = cover(boxes, size)
    both = pixels(inside) + pixels(complement(inside, size))
    assert sorted(both) == [(x, y) for x in range(size[0]) for y in range(size[1])]


@given(BOXES, SIZES, some.integers(0, 1000))
def test_as_many_pixels_elsewhere_are_covered_once(
    boxes: list[tuple[float, float, float, float]], size: Sides, seed: int
) -> None:
    inside = cover(boxes, size)
    found = elsewhere(inside, size, random.Random(seed))
    if found is None:
        assert 2 * area(inside) > size[0] * size[1]
        return
    others = pixels(found)
    assert len(others) == len(set(others)) == area(inside)
    assert not set(others) & set(pixels(inside))
    assert set(others) <= {(x, y) for x in range(size[0]) for y in range(size[1])}


def test_a_box_keeps_its_shape_where_there_is_space() -> None:
    (found,) = elsewhere([(10, 10, 30, 20)], (200, 100), random.Random(0)) or ()
    assert (found[2] - found[0], found[3] - found[1]) == (20, 10)


def test_boxes_side_by_side_are_one() -> None:
    assert cover([(0, 0, 5, 9), (5, 0, 9, 9)], (20, 20)) == ((0, 0, 9, 9),)
