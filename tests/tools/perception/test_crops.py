"""Parts and pixels of pictures: counted from the top left, cut at the edges."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ImageError
from pyvision.images.pixels import crop, open_image, pixels
from pyvision.images.read import read
from tests.offline.test_perception import EXAMPLES
from tests.tools.perception.pictures import drawn

CORNER = drawn(lambda page: page.rectangle((0, 0, 9, 4), fill="red"), 40, 20)
EDGE = st.floats(-60, 60)


def test_pixels_have_the_shape_height_width_3() -> None:
    assert pixels(CORNER).shape == (20, 40, 3)


def test_pixels_begin_at_the_top_left() -> None:
    array = pixels(CORNER)
    assert array[4, 9].tolist() == [255, 0, 0]
    assert array[5, 9].tolist() == array[4, 10].tolist() == [255, 255, 255]


def test_pixels_are_scaled_down_to_a_side() -> None:
    assert pixels(CORNER, 10).shape == (5, 10, 3)


def test_pixels_are_never_scaled_up() -> None:
    assert pixels(CORNER, 100).shape == (20, 40, 3)


def test_a_crop_keeps_its_pixels() -> None:
    part = crop(CORNER, (8, 3, 12, 7))
    assert (part.width, part.height, part.mime) == (4, 4, "image/png")
    assert (pixels(part) == pixels(CORNER)[3:7, 8:12]).all()


def test_a_part_of_a_photo_stays_a_jpeg() -> None:
    part = crop(read(EXAMPLES / "lake.jpg"), (100, 200, 300, 260))
    assert part.mime == "image/jpeg"
    assert open_image(part).size == (part.width, part.height) == (200, 60)


@pytest.mark.parametrize("edge", [math.nan, math.inf, -math.inf])
def test_an_edge_that_is_not_a_number_is_refused(edge: float) -> None:
    with pytest.raises(ImageError, match="has an edge that is not a number"):
        crop(CORNER, (0, 0, edge, 10))


@given(EDGE, EDGE, EDGE, EDGE)
def test_a_crop_has_every_pixel_that_the_box_touches(
    left: float, top: float, right: float, bottom: float
) -> None:
    box = (left, top, right, bottom)
    columns = min(40, math.ceil(right)) - max(0, math.floor(left))
    rows = min(20, math.ceil(bottom)) - max(0, math.floor(top))
    if columns > 0 and rows > 0:
        part = crop(CORNER, box)
        assert (part.width, part.height) == (columns, rows)
    else:
        with pytest.raises(
            ImageError, match=f"^{re.escape(f'box {box}')}: has no pixel in a picture of 40x20"
        ):
            crop(CORNER, box)
