"""Squares inside squares."""

from __future__ import annotations

import math

import pytest

from tests.offline.drawings import corners, finished, nest, page, polygon
from tests.offline.loop import ask


@pytest.mark.parametrize("seed", range(12))
def test_nested_squares_are_counted(seed: int) -> None:
    picture, count = nest(seed)
    assert ask("How many squares are there?", picture).answer == str(count)


def test_squares_that_cross_are_counted_by_another_method() -> None:
    image, pen = page(400, 300)
    for x, y, half in ((120, 140, 70), (190, 170, 80), (240, 120, 50)):
        polygon(pen, corners(x, y, half * math.sqrt(2), 4, math.pi / 4), line=(0, 0, 0), width=2)
    run = ask("How many squares are in the image?", finished(image))
    assert run.answer == "3"
    assert len(run.cells) == 2
