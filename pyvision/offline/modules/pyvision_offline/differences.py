"""Compare two pictures pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .drawing import Drawing
from .masks import boxes, grow, label, reduce

_MIN_DIFFERENCE = 24  # levels of a channel
_MAX_REGIONS = 60


@dataclass(frozen=True, slots=True)
class DifferentArea:
    """A rectangle in which two pictures differ; both ends inside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.left, self.top, self.right, self.bottom

    def draw(self, axes: Any, number: int) -> None:
        """Draw its border."""
        x = [self.left, self.right, self.right, self.left, self.left]
        y = [self.top, self.top, self.bottom, self.bottom, self.top]
        axes.plot(x, y, color="red", lw=1.2)


@dataclass(frozen=True, slots=True)
class ImageComparison:
    """How two pictures differ. changed: pixels that differ clearly; any_change: that differ at all.

    regions: where, the largest first.
    """

    same_size: bool
    pixels: int = 0
    changed: int = 0
    any_change: int = 0
    regions: tuple[DifferentArea, ...] = ()

    @property
    def share(self) -> float:
        """The share of the pixels that differ clearly; all of them if the sizes differ."""
        return self.changed / self.pixels if self.pixels else 1.0

    def __str__(self) -> str:
        if not self.same_size:
            return "the pictures have different sizes"
        return (
            f"{self.changed} of {self.pixels} pixels ({self.share:.2%}) differ by more than {_MIN_DIFFERENCE} levels, "
            f"in {_count(len(self.regions))}; {self.any_change} differ at all"
        )

    def show(self, picture: Any) -> None:
        """Display one of the pictures with the regions on it."""
        Drawing(picture).show(self.regions[:_MAX_REGIONS], _count(len(self.regions), "differs", "differ"))


def _count(regions: int, one: str = "", many: str = "") -> str:
    return f"1 region {one}".rstrip() if regions == 1 else f"{regions} regions {many}".rstrip()


def compare_images(one: Any, two: Any) -> ImageComparison:
    """Where and how much two pictures differ."""
    if one.size != two.size:
        return ImageComparison(same_size=False)
    a, b = (np.asarray(picture.convert("RGB")).astype(np.int16) for picture in (one, two))
    distance = np.abs(a - b).max(axis=2)
    changed = distance > _MIN_DIFFERENCE
    small, factor = reduce(changed, 1000)
    labels, n = label(grow(small, max(1, max(small.shape) // 100)))
    found = sorted(boxes(np.where(small, labels, 0), n).tolist(), key=lambda box: -box[4]) if n else []
    width, height = one.size
    regions = [
        DifferentArea(
            x0 * factor, y0 * factor, min(width, (x1 + 1) * factor) - 1, min(height, (y1 + 1) * factor) - 1
        )
        for x0, y0, x1, y1, _ in found
    ]
    return ImageComparison(
        same_size=True,
        pixels=changed.size,
        changed=int(changed.sum()),
        any_change=int((distance > 0).sum()),
        regions=tuple(regions),
    )
