"""Questions about bar, line and pie charts: read a value, name the largest, subtract one value from another.

Difficulty: from four values of one series, all at the numbers of the axis (0), to eight values of four series
between them (1), and from an axis up to 20 to one up to 100; pies from three slices to eight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyvision.bench.synthetic.canvas import RGB, Box, Canvas, Pixels, Point
from pyvision.bench.synthetic.geometry import near
from pyvision.bench.synthetic.scene import BLACK, INKS, Dice, Scene, some_inks


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a chart is about: its title, what one category is called, and the names."""

    title: str
    noun: str
    categories: tuple[str, ...]
    series: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Chart:
    """values[series][category], from 0 to `top`; colours: one name for each series, or for each slice of a pie."""

    title: str
    categories: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    top: int
    colours: tuple[str, ...]


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug")
_TOPICS = (
    _Topic("Boats rented", "month", _MONTHS, ("North Pier", "South Pier", "Old Port", "Lagoon")),
    _Topic("Hours of rain", "town", ("Aster", "Birch", "Clover", "Dale", "Elm", "Fern", "Grove", "Heath"),
           ("Spring", "Summer", "Autumn", "Winter")),
    _Topic("Books lent", "branch", ("Canal", "Hill", "Lake", "Market", "Park", "River", "Station", "Tower"),
           ("Novels", "Comics", "Atlases", "Poems")),
)  # fmt: skip
_PIES = (
    _Topic(
        "Ways to work",
        "means of transport",
        ("Bus", "Car", "Train", "Bicycle", "Tram", "Ferry", "On foot", "Scooter"),
    ),
    _Topic("Crops by area", "crop", ("Wheat", "Barley", "Oats", "Rye", "Maize", "Beans", "Flax", "Peas")),
)
_LEAST_SLICE = 5  # percent: enough space for its label
_CLEAR_SLICE = 2  # percent by which the largest slice leads the next
_TASKS = ("value", "largest", "difference")
_SIZE = (920, 600)
_PLOT: Box = (80, 70, 730, 520)  # the axes' left, top, right and bottom
_KEY_X = 760
_LETTERS = 16
_GUIDE: RGB = (225, 225, 225)
_MARK = 6  # radius of the dots on lines
_PIE, _PIE_RADIUS = (400.0, 320.0), 190
_TICKS = 5


def make_charts(dice: Dice) -> Scene | None:
    """One chart with one question; None when it cannot be read without ambiguity."""
    kind, task = dice.goal.choice(list(_KINDS)), dice.goal.choice(_TASKS)
    return _KINDS[kind](dice, task)


def _bars(dice: Dice, task: str) -> Scene | None:
    topic, chart = _table(dice)
    return _ask(dice, f"bar {task}", topic, chart, _draw_bars(chart))


def _lines(dice: Dice, task: str) -> Scene | None:
    topic, chart = _table(dice)
    return _ask(dice, f"line {task}", topic, chart, _draw_lines(chart))


def _pie(dice: Dice, task: str) -> Scene | None:
    topic, count = dice.chance.choice(_PIES), dice.whole(3, 8)
    chart = _Chart(
        topic.title, _pick(dice, topic.categories, count), ("",), (_shares(dice, count),), 100,
        tuple(some_inks(dice.chance, count)),
    )  # fmt: skip
    return _ask(dice, f"pie {task}", topic, chart, _draw_pie(chart, labelled=task != "largest"))


_KINDS: Mapping[str, Callable[[Dice, str], Scene | None]] = {"bar": _bars, "line": _lines, "pie": _pie}


def _table(dice: Dice) -> tuple[_Topic, _Chart]:
    topic, top = dice.chance.choice(_TOPICS), (20, 50, 100)[dice.whole(0, 2)]
    columns, rows = dice.whole(4, 8), dice.whole(1, 4)
    step = top // 5 if dice.difficulty < 0.25 else 1
    values = tuple(
        tuple(step * dice.chance.randint(1, top // step) for _ in range(columns)) for _ in range(rows)
    )
    names = topic.categories[:columns], _pick(dice, topic.series, rows)
    return topic, _Chart(topic.title, *names, values, top, tuple(some_inks(dice.chance, rows)))


def _pick(dice: Dice, names: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(dice.chance.sample(names, count))


def _shares(dice: Dice, count: int) -> tuple[int, ...]:
    """Percentages that add up to 100, none too small for its label."""
    free = 100 - count * _LEAST_SLICE
    cuts = sorted(dice.chance.randint(0, free) for _ in range(count - 1))
    return tuple(b - a + _LEAST_SLICE for a, b in zip([0, *cuts], [*cuts, free], strict=True))


def _ask(dice: Dice, kind: str, topic: _Topic, chart: _Chart, page: Canvas | None) -> Scene | None:
    """The question of this kind about one series of the chart; None where the largest is ambiguous."""
    if page is None:
        return None
    row = dice.chance.randrange(len(chart.series))
    values = dict(zip(chart.categories, chart.values[row], strict=True))
    of_series = f" of {chart.series[row]}" if len(chart.series) > 1 else ""
    asked = _QUESTIONS[kind.split()[1]](dice, topic, values, of_series)
    if asked is None:
        return None
    question, target = asked
    truth = {
        "categories": list(chart.categories), "series": list(chart.series),
        "values": [list(line) for line in chart.values],
    }  # fmt: skip
    return Scene(question, target, (page,), "text" if isinstance(target, str) else "integer", kind, truth)


def _value(dice: Dice, topic: _Topic, values: Mapping[str, int], of_series: str) -> tuple[str, int]:
    name = dice.chance.choice(list(values))
    return f"What is the value{of_series} for {name}? Answer with a number.", values[name]


def _largest(dice: Dice, topic: _Topic, values: Mapping[str, int], of_series: str) -> tuple[str, str] | None:
    first, second, *_ = sorted(values, key=lambda name: -values[name])
    if values[first] - values[second] < _CLEAR_SLICE:
        return None
    return f"Which {topic.noun} has the largest value{of_series}? Answer with its name.", first


def _difference(
    dice: Dice, topic: _Topic, values: Mapping[str, int], of_series: str
) -> tuple[str, int] | None:
    more, less = sorted(dice.chance.sample(list(values), 2), key=lambda name: -values[name])
    if values[more] == values[less]:
        return None
    question = f"By how much is the value{of_series} for {more} larger than for {less}? Answer with a number."
    return question, values[more] - values[less]


_QUESTIONS: Mapping[str, Callable[[Dice, _Topic, Mapping[str, int], str], tuple[str, str | int] | None]] = {
    "value": _value,
    "largest": _largest,
    "difference": _difference,
}


def _draw_bars(chart: _Chart) -> Canvas | None:
    """Grouped bars; None when the measured height of one does not match its value."""
    page = _draw_frame(chart)
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


def _draw_lines(chart: _Chart) -> Canvas | None:
    """Lines with a dot for each value; None when a dot hides another."""
    page = _draw_frame(chart)
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


def _draw_pie(chart: _Chart, *, labelled: bool) -> Canvas | None:
    """A pie of percentages, clockwise from the top; None when the area of a slice does not match its share."""
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


def _label_slices(page: Canvas, chart: _Chart) -> None:
    start = 0
    for share in chart.values[0]:
        angle = (start + share / 2) / 100 * 2 * math.pi
        far = _PIE_RADIUS + 26
        page.text((_PIE[0] + far * math.sin(angle), _PIE[1] - far * math.cos(angle)), f"{share}%", _LETTERS)
        start += share


def _draw_frame(chart: _Chart) -> Canvas:
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


def _draw_title(page: Canvas, chart: _Chart) -> None:
    page.text(((_PLOT[0] + _PLOT[2]) / 2, 34), chart.title, 24)


def _draw_axes(page: Canvas, chart: _Chart) -> None:
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


def _step(chart: _Chart) -> float:
    return (_PLOT[2] - _PLOT[0]) / len(chart.categories)


def _x(chart: _Chart, column: int) -> float:
    return _PLOT[0] + (column + 0.5) * _step(chart)


def _y(chart: _Chart, value: float) -> float:
    return _PLOT[3] - value / chart.top * (_PLOT[3] - _PLOT[1])


def _shows_dot(pixels: Pixels, place: Point, ink: RGB) -> bool:
    x, y, reach = round(place[0]), round(place[1]), _MARK - 1
    return bool(near(pixels[y - reach : y + reach, x - reach : x + reach], ink, 25).mean() > 0.85)
