"""Draw charts of whole numbers, and measure on their pixels whether they show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.bench.synthetic.canvas import RGB, Box, Canvas, Pixels, Point
from pyvision.bench.synthetic.colours import BLACK, INKS
from pyvision.bench.synthetic.components import near

_SIZE = (920, 600)
_PLOT: Box = (80, 70, 730, 520)  # the axes' left, top, right and bottom
_KEY_X = 760
_LETTERS = 16
_GUIDE: RGB = (225, 225, 225)
_MARK = 6  # radius of the dots on lines
_PIE, _PIE_RADIUS = (400.0, 320.0), 190
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Chart:
    """values[series][category], from 0 to `top`; colours: one name for each series, in a pie for each category."""

    title: str
    categories: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    top: int
    colours: tuple[str, ...]


def draw_bars(chart: Chart) -> Canvas | None:
    """Grouped bars; None when the height of one does not measure as its value."""
    page = _framed(chart)
    wide = _step(chart) * 0.76 / len(chart.series)
    spans = {
        (row, column): _x(chart, column) - _step(chart) * 0.38 + row * wide
        for row in range(len(chart.series))
        for column in range(len(chart.categories))
    }
    for (row, column), left in spans.items():
        top = _y(chart, chart.values[row][column])
        page.rectangle((left, top, left + wide - 1, _PLOT[3]), fill=INKS[chart.colours[row]])
    _draw_axes(page, chart)
    pixels = page.pixels()
    for (row, column), left in spans.items():
        strip = pixels[_PLOT[1] - 5 : _PLOT[3], int(left + wide / 2)][:, None]
        height = int(near(strip, INKS[chart.colours[row]], 25).sum())
        if round((height + 1) * chart.top / (_PLOT[3] - _PLOT[1])) != chart.values[row][column]:
            return None
    return page


def draw_lines(chart: Chart) -> Canvas | None:
    """Lines with a dot for each value; None when a dot hides another."""
    page = _framed(chart)
    _draw_axes(page, chart)
    lines = [
        [(_x(chart, column), _y(chart, value)) for column, value in enumerate(row)] for row in chart.values
    ]
    for line, name in zip(lines, chart.colours, strict=True):
        page.stroke(line, INKS[name], 2.5)
    for line, name in zip(lines, chart.colours, strict=True):
        for place in line:
            page.disc(place, _MARK, fill=INKS[name])
    pixels = page.pixels()
    dots = [(place, INKS[name]) for line, name in zip(lines, chart.colours, strict=True) for place in line]
    return page if all(_shows_dot(pixels, place, ink) for place, ink in dots) else None


def draw_pie(chart: Chart, *, labelled: bool) -> Canvas | None:
    """A pie of percentages from the top clockwise; None when a slice's area is not its share.

    labelled: write each percentage beside its slice.
    """
    page, start = Canvas(*_SIZE), 0
    _draw_title(page, chart)
    for name, share in zip(chart.colours, chart.values[0], strict=True):
        page.sector(_PIE, _PIE_RADIUS, (start / 100, (start + share) / 100), INKS[name])
        start += share
    pixels = page.pixels()
    seen = [int(near(pixels, INKS[name], 25).sum()) for name in chart.colours]
    if any(abs(100 * n / sum(seen) - v) > 1 for n, v in zip(seen, chart.values[0], strict=True)):
        return None
    if labelled:
        _label_slices(page, chart)
    _draw_key(page, chart.categories, chart.colours)
    return page


def _label_slices(page: Canvas, chart: Chart) -> None:
    start = 0
    for share in chart.values[0]:
        angle = (start + share / 2) / 100 * 2 * math.pi
        far = _PIE_RADIUS + 26
        page.text((_PIE[0] + far * math.sin(angle), _PIE[1] - far * math.cos(angle)), f"{share}%", _LETTERS)
        start += share


def _framed(chart: Chart) -> Canvas:
    """The page with its title, guides, numbers and key."""
    page = Canvas(*_SIZE)
    _draw_title(page, chart)
    for tick in range(_TICKS + 1):
        value = chart.top * tick // _TICKS
        y = _y(chart, value)
        page.stroke([(_PLOT[0], y), (_PLOT[2], y)], _GUIDE, 1)
        page.text((_PLOT[0] - 10, y), str(value), _LETTERS, anchor="rm")
    for column, name in enumerate(chart.categories):
        page.text((_x(chart, column), _PLOT[3] + 22), name, _LETTERS)
    if len(chart.series) > 1:
        _draw_key(page, chart.series, chart.colours)
    return page


def _draw_title(page: Canvas, chart: Chart) -> None:
    page.text(((_PLOT[0] + _PLOT[2]) / 2, 34), chart.title, 24)


def _draw_axes(page: Canvas, chart: Chart) -> None:
    left, top, right, bottom = _PLOT
    page.stroke([(left, top - 10), (left, bottom), (right, bottom)], BLACK, 2)
    for tick in range(_TICKS + 1):
        y = _y(chart, chart.top * tick // _TICKS)
        page.stroke([(left - 5, y), (left, y)], BLACK, 2)


def _draw_key(page: Canvas, names: Sequence[str], colours: Sequence[str]) -> None:
    for k, (name, colour) in enumerate(zip(names, colours, strict=True)):
        y = _PLOT[1] + 30 + 30 * k
        page.rectangle((_KEY_X, y - 8, _KEY_X + 16, y + 8), fill=INKS[colour])
        page.text((_KEY_X + 26, y), name, _LETTERS, anchor="lm")


def _step(chart: Chart) -> float:
    return (_PLOT[2] - _PLOT[0]) / len(chart.categories)


def _x(chart: Chart, column: int) -> float:
    return _PLOT[0] + (column + 0.5) * _step(chart)


def _y(chart: Chart, value: float) -> float:
    return _PLOT[3] - value / chart.top * (_PLOT[3] - _PLOT[1])


def _shows_dot(pixels: Pixels, place: Point, ink: RGB) -> bool:
    x, y, reach = round(place[0]), round(place[1]), _MARK - 1
    return bool(near(pixels[y - reach : y + reach, x - reach : x + reach], ink, 25).mean() > 0.85)
