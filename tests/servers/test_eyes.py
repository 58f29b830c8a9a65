"""The model that looks: what it reads is what is there, and what is too small it does not read."""

from __future__ import annotations

from pyvision.doctor.pictures import BOX, BOXED_SIZE, eye_chart, numbers, numeral, red_rectangle
from tests.doubles import png
from tests.servers.capabilities import scaled
from tests.servers.eyes import numerals, red_box


def test_every_number_is_read_as_it_stands() -> None:
    for number in numbers(60, "eyes"):
        assert numerals(numeral(number).picture.data) == [number]


def test_a_chart_is_read_from_top_to_bottom() -> None:
    chart = eye_chart()
    assert numerals(chart.picture.data) == list(chart.numbers)


def rows_read(side_px: int) -> int:
    """How many rows of the chart are read, from the largest down to the first that is not."""
    chart = eye_chart()
    read = numerals(scaled(chart.picture.data, side_px))
    return next((row for row, number in enumerate(chart.numbers) if number not in read), len(read))


def test_fewer_rows_are_read_the_fewer_pixels_there_are() -> None:
    assert rows_read(2048) > rows_read(1024) > rows_read(512) > rows_read(256) > 0


def test_a_red_box_is_found_to_the_pixel() -> None:
    assert red_box(red_rectangle().data) == (BOXED_SIZE, BOX)


def test_nothing_is_seen_on_white() -> None:
    assert numerals(png()) == []
    assert red_box(png()) is None
