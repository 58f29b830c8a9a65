"""Generated questions up to 100 megapixels, each with what has to be seen in it before it can be answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pyvision.bench.samples import Sample
from pyvision.bench.synthetic.registry import generate
from pyvision.bench.synthetic.scene import INKS

_SIGN = (250, 226, 60)  # the yellow of the sign that is a needle
_NEEDLE_SIZES = (
    (0.0, 12),
    (0.25, 4),
    (0.5, 2),
    (0.75, 1),
    (1.0, 1),
)  # difficulty, share: 4 to 100 megapixels
_UNIQUE = ("needle/shape", "needle/word")  # whose object has a colour that nothing else in the image has
_PLOT_SIDE = 400  # least width and height of a chart that can be read


@dataclass(frozen=True, slots=True)
class Task:
    """A question and what a model must have seen to answer it.

    box: where to look, in pixels of the image. ink: the colour of what is looked for. boxes: of the objects to count.
    """

    sample: Sample
    kind: str
    box: tuple[int, int, int, int]
    ink: tuple[int, int, int] = (0, 0, 0)
    boxes: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def image(self) -> bytes:
        image = self.sample.images[0]
        return image if isinstance(image, bytes) else image.read_bytes()


def make_tasks(count: int, seed: int) -> Iterator[Task]:
    """As many needles, counts and charts in turn."""
    kinds = (_needles(seed), _counts(seed), _charts(seed))
    for number in range(count):
        yield next(kinds[number % len(kinds)])


def _needles(seed: int) -> Iterator[Task]:
    levels = [level for level, share in _NEEDLE_SIZES for _ in range(share)]
    sets = {level: _only(generate("needle", 10**6, seed, level)) for level in dict(_NEEDLE_SIZES)}
    while True:
        for level in levels:
            sample = next(sets[level])
            box = _whole(sample.metadata["box"])
            colour = next((name for name in INKS if f"only {name} thing" in sample.text), None)
            yield Task(sample, "needle", box, INKS[colour] if colour else _SIGN)


def _only(samples: Iterator[Sample]) -> Iterator[Sample]:
    return (sample for sample in samples if sample.category in _UNIQUE)


def _counts(seed: int) -> Iterator[Task]:
    for sample in generate("clutter", 10**6, seed, 0.3):
        asked = [
            each
            for each in sample.metadata["truth"]["things"]
            if f"How many {each['colour']} {each['shape']}" in sample.text
        ]
        if asked:
            boxes = tuple(_whole(each["box"]) for each in asked)
            yield Task(sample, "count", boxes[0], INKS[asked[0]["colour"]], boxes)


def _charts(seed: int) -> Iterator[Task]:
    for sample in generate("charts", 10**6, seed, 0.5):
        yield Task(sample, "chart", (0, 0, 920, 600))


def first(kind: str, count: int, seed: int) -> list[Task]:
    """The first tasks of one kind, for tests."""
    return [task for task in islice(make_tasks(3 * count, seed), 3 * count) if task.kind == kind]


def _whole(box: list[float]) -> tuple[int, int, int, int]:
    left, top, right, bottom = (round(edge) for edge in box)
    return left, top, right, bottom
