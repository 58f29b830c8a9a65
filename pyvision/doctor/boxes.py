"""Which convention a model words boxes in: pixels, those of a smaller copy, shares of the sides, thousandths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom

_FOUR = re.compile(r"-?\d+(?:\.\d+)?")
_LEAST_OVERLAP = 0.6
_SMALLEST_COPY, _LARGEST_COPY = 0.02, 0.95  # shares of the picture's width


@dataclass(frozen=True, slots=True)
class Convention:
    """`unit` is what one full side counts: pixels, 1 or 1000. overlap: with the true box, at best 1."""

    unit: str
    rows_first: bool
    overlap: float

    @property
    def name(self) -> str:
        return f"{self.unit}, y first" if self.rows_first else self.unit

    @property
    def told(self) -> str:
        return f"{self.name} (overlap {self.overlap:.2f})"


def convention(text: str, true: Box, size: tuple[int, int]) -> Convention | None:
    """The convention under which the four numbers of a reply fit the true box best; None where none fits."""
    values = [float(number) for number in _FOUR.findall(text.rpartition("[")[2])[:4]]
    if len(values) < 4:
        return None
    found = max(_readings(values, true, size), key=lambda reading: reading.overlap)
    return found if found.overlap >= _LEAST_OVERLAP else None


def _readings(values: list[float], true: Box, size: tuple[int, int]) -> Iterator[Convention]:
    """Of conventions that fit equally well, the commoner comes first."""
    width, height = size
    a, b, c, d = values
    for rows_first, box in ((False, (a, b, c, d)), (True, (b, a, d, c))):
        yield Convention("pixels", rows_first, overlap(box, true))
        yield Convention("0-1000", rows_first, overlap(_stretch(box, width / 1000, height / 1000), true))
        yield Convention("0-1", rows_first, overlap(_stretch(box, width, height), true))
        share = _share(box, true)
        if _SMALLEST_COPY < share < _LARGEST_COPY:
            reduced = overlap(_stretch(box, 1 / share, 1 / share), true)
            yield Convention(f"pixels of a copy {share * width:.0f} px wide", rows_first, reduced)


def _share(box: Box, true: Box) -> float:
    """The one factor on both axes that brings the true box nearest to this one."""
    along = sum(seen * real for seen, real in zip(box, true, strict=True))
    return along / sum(real * real for real in true)


def _stretch(box: Box, across: float, down: float) -> Box:
    return box[0] * across, box[1] * down, box[2] * across, box[3] * down


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    common = max(0.0, across) * max(0.0, down)
    both = _area(one) + _area(other) - common
    return common / both if both > 0 else 0.0


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
