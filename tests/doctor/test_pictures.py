"""The probe pictures: the same each time, as large as they say."""

from __future__ import annotations

import io

from PIL import Image

from pyvision.doctor.pictures import (
    BOX,
    CHART_HEIGHTS_PX,
    CHART_SIZE,
    circles,
    eye_chart,
    numbers,
    numeral,
    red_rectangle,
)


def test_they_are_the_same_to_the_last_byte_each_time() -> None:
    assert eye_chart() == eye_chart.__wrapped__()
    assert numeral("1234") == numeral.__wrapped__("1234")
    assert circles() == circles.__wrapped__()


def test_the_numbers_of_a_seed_are_all_different() -> None:
    assert len(set(numbers(500, "some"))) == 500
    assert numbers(3, "some") == numbers(3, "some") != numbers(3, "other")


def test_the_digits_of_the_chart_are_as_high_as_it_says() -> None:
    with Image.open(io.BytesIO(eye_chart().picture.data)) as chart:
        assert chart.size == CHART_SIZE
        grey = chart.convert("L").point(lambda value: 255 if value < 128 else 0)
    filled = [grey.crop((0, y, grey.width, y + 1)).getbbox() is not None for y in range(grey.height)]
    tops = [y for y in range(1, len(filled)) if filled[y] and not filled[y - 1]]
    bottoms = [y for y in range(1, len(filled)) if not filled[y] and filled[y - 1]]
    heights = [bottom - top for top, bottom in zip(tops, bottoms, strict=True)]
    assert len(heights) == len(CHART_HEIGHTS_PX)
    assert all(
        abs(measured - expected) <= 2 for measured, expected in zip(heights, CHART_HEIGHTS_PX, strict=True)
    )


def test_the_rectangle_is_where_the_probe_says() -> None:
    with Image.open(io.BytesIO(red_rectangle().data)) as picture:
        assert picture.getchannel("G").point(lambda value: 255 - value).getbbox() == BOX
