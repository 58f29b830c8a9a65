"""Connected areas of a mask."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.synthetic.geometry import Area, areas

MASKS = st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=7)


def flood_fill(rows: list[list[bool]]) -> list[int]:
    """The sizes of the areas by walking from pixel to pixel."""
    left = {(y, x) for y, row in enumerate(rows) for x, on in enumerate(row) if on}
    sizes = []
    while left:
        reached = [left.pop()]
        for y, x in reached:
            near_by = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near_by
            reached.extend(near_by)
        sizes.append(len(reached))
    return sorted(sizes)


@given(MASKS)
def test_areas_are_those_that_a_walk_from_pixel_to_pixel_finds(rows: list[list[bool]]) -> None:
    assert sorted(area.pixels for area in areas(np.array(rows))) == flood_fill(rows)


def test_a_box_ends_behind_its_last_pixel() -> None:
    mask = np.zeros((5, 6), bool)
    mask[1:3, 2:5] = True
    assert areas(mask) == [Area(6, (2, 1, 5, 3))]


def test_small_areas_can_be_left_out() -> None:
    assert areas(np.eye(3, dtype=bool)[:2], least=3) == []
