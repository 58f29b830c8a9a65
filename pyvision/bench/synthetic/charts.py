"""Bar charts, line charts and pies: read a value, name the largest, subtract one value from another.

Difficulty: from four values of one series, all at the numbers of the axis (0), to eight values of four series
between them (1), and from an axis up to 20 to one up to 100; pies from three slices to eight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyvision.bench.synthetic.canvas import Canvas
from pyvision.bench.synthetic.colours import some_inks
from pyvision.bench.synthetic.plots import Chart, draw_bars, draw_lines, draw_pie
from pyvision.bench.synthetic.scene import Dice, Scene


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a chart is about: its title, what one category is called, and the names."""

    title: str
    noun: str
    categories: tuple[str, ...]
    series: tuple[str, ...] = ()


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
_LEAST_SLICE = 5  # per cent: room for its number
_CLEAR_SLICE = 2  # per cent: by which the largest slice differs from the next
_TASKS = ("value", "largest", "difference")


def make(dice: Dice) -> Scene | None:
    """One chart with one question; None when it cannot be read without doubt."""
    kind, task = dice.goal.choice(list(_KINDS)), dice.goal.choice(_TASKS)
    return _KINDS[kind](dice, task)


def _bars(dice: Dice, task: str) -> Scene | None:
    topic, chart = _table(dice)
    return _ask(dice, f"bar {task}", topic, chart, draw_bars(chart))


def _lines(dice: Dice, task: str) -> Scene | None:
    topic, chart = _table(dice)
    return _ask(dice, f"line {task}", topic, chart, draw_lines(chart))


def _pie(dice: Dice, task: str) -> Scene | None:
    topic, count = dice.chance.choice(_PIES), dice.whole(3, 8)
    chart = Chart(
        topic.title, _some(dice, topic.categories, count), ("",), (_shares(dice, count),), 100,
        tuple(some_inks(dice.chance, count)),
    )  # fmt: skip
    return _ask(dice, f"pie {task}", topic, chart, draw_pie(chart, labelled=task != "largest"))


_KINDS: Mapping[str, Callable[[Dice, str], Scene | None]] = {"bar": _bars, "line": _lines, "pie": _pie}


def _table(dice: Dice) -> tuple[_Topic, Chart]:
    topic, top = dice.chance.choice(_TOPICS), (20, 50, 100)[dice.whole(0, 2)]
    columns, rows = dice.whole(4, 8), dice.whole(1, 4)
    step = top // 5 if dice.difficulty < 0.25 else 1
    values = tuple(
        tuple(step * dice.chance.randint(1, top // step) for _ in range(columns)) for _ in range(rows)
    )
    names = topic.categories[:columns], _some(dice, topic.series, rows)
    return topic, Chart(topic.title, *names, values, top, tuple(some_inks(dice.chance, rows)))


def _some(dice: Dice, names: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(dice.chance.sample(names, count))


def _shares(dice: Dice, count: int) -> tuple[int, ...]:
    """Percentages that make a hundred, none too small for its number."""
    free = 100 - count * _LEAST_SLICE
    cuts = sorted(dice.chance.randint(0, free) for _ in range(count - 1))
    return tuple(b - a + _LEAST_SLICE for a, b in zip([0, *cuts], [*cuts, free], strict=True))


def _ask(dice: Dice, kind: str, topic: _Topic, chart: Chart, page: Canvas | None) -> Scene | None:
    """The question of this kind about a row of the chart; None where the largest is not clear."""
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
