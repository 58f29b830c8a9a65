"""Lines of text that the cells of the offline model find: where they are, and how they are turned level."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from pyvision.offline.modules.pyvision_offline.text import TextLine, _turn_level, look_around


def line(left: int, top: int, right: int, bottom: int) -> TextLine:
    return TextLine("", np.array([(left, top), (right, top), (right, bottom), (left, bottom)], dtype=float))


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (line(0, 0, 100, 20), True),
        (line(10, 5, 60, 15), True),  # a part that was read alone
        (line(0, 14, 100, 34), False),  # the next line of a paragraph
        (line(120, 0, 200, 20), False),
        (line(120, 60, 200, 80), False),
    ],
)
def test_two_readings_of_one_place_are_one_line(other: TextLine, same: bool) -> None:
    assert line(0, 0, 100, 20).overlaps(other) is other.overlaps(line(0, 0, 100, 20)) is same


def test_a_closer_look_shows_what_is_around_a_line() -> None:
    assert look_around([line(400, 300, 500, 340)], (1000, 1000)) == (250, 150, 650, 490)


def test_a_closer_look_stays_inside_the_image() -> None:
    assert look_around([line(0, 0, 100, 40), line(850, 900, 950, 940)], (1000, 1000)) == (0, 0, 1000, 1000)


def test_without_a_line_the_whole_image_is_looked_at() -> None:
    assert look_around([], (640, 480)) == (0, 0, 640, 480)


def test_a_slanting_line_is_turned_level() -> None:
    corners = np.array([(20, 60), (100, 20), (110, 40), (30, 80)], dtype=float)
    picture = Image.new("RGB", (140, 100), "white")
    ImageDraw.Draw(picture).polygon([tuple(corner) for corner in corners], fill="red")
    level = _turn_level(picture, corners, beside=0, above=0)
    red = np.all(np.asarray(level) == (255, 0, 0), axis=-1)
    assert red[20:-20, 20:-20].all()  # its edges, of a few pixels, are mixed with what is around


def test_margins_are_heights_of_the_line() -> None:
    level = _turn_level(Image.new("RGB", (400, 100)), line(100, 40, 300, 60).corners, beside=0.5, above=0.25)
    assert level.width / level.height == pytest.approx((200 + 20) / (20 + 10), abs=0.02)
