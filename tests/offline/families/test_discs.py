"""Touching and overlapping discs, down to gaps of about a pixel."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.offline.drawings import INKS, disc, finished, page, two_discs
from tests.offline.loop import ask


@pytest.mark.parametrize("colours", [1, 2])
@pytest.mark.parametrize("gap", [-9, -1.6, 0, 1.6, 12])
@pytest.mark.parametrize("seed", range(2))
def test_discs_touch_when_no_gap_is_left(seed: int, gap: float, colours: int) -> None:
    picture = two_discs(seed, gap, colours=colours)
    assert ask("Are the two circles touching?", picture).answer == ("Yes" if gap <= 0 else "No")


@pytest.mark.parametrize("gap", [-9, -1.6, 0, 1.6])
@pytest.mark.parametrize("seed", range(2, 5))
def test_discs_that_only_touch_do_not_overlap(seed: int, gap: float) -> None:
    assert ask("Do the circles overlap?", two_discs(seed, gap)).answer == ("Yes" if gap < 0 else "No")


def test_only_the_named_discs_are_compared() -> None:
    image, pen = page(400, 300)
    disc(pen, 100, 100, 40, fill=INKS["red"])
    disc(pen, 160, 100, 40, fill=INKS["blue"])
    disc(pen, 320, 200, 40, fill=INKS["green"])
    picture = finished(image)
    assert ask("Do the red circle and the blue circle overlap?", picture).answer == "Yes"
    assert ask("Do the red circle and the green circle overlap?", picture).answer == "No"


def test_one_disc_alone_cannot_be_decided() -> None:
    image, pen = page(200, 200)
    disc(pen, 100, 100, 40, fill=INKS["red"])
    assert ask("Are the circles touching?", finished(image)).answer is None


def test_an_empty_picture_cannot_be_decided() -> None:
    assert ask("Are the circles touching?", Image.new("RGB", (80, 80), "white")).answer is None


def test_crossing_outlines_overlap() -> None:
    image, pen = page(300, 200)
    disc(pen, 110, 100, 50, line=INKS["red"], width=3)
    disc(pen, 180, 100, 50, line=INKS["blue"], width=3)
    assert ask("Do the circles overlap?", finished(image)).answer == "Yes"
