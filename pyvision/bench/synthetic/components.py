"""Connected areas of a mask, found from the pixels alone: the second opinion on what was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from pyvision.bench.synthetic.canvas import RGB, Box, Pixels

    Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Area:
    """A connected area: how many pixels, and its box [left, top, right, bottom], the last two exclusive."""

    pixels: int
    box: Box

    @property
    def fill(self) -> float:
        """The share of its box that it covers."""
        left, top, right, bottom = self.box
        return self.pixels / ((right - left) * (bottom - top))


def near(pixels: Pixels, ink: RGB, within: int = 60) -> Mask:
    """Where each channel is at most `within` levels off a colour."""
    import numpy as np

    levels = np.arange(256)
    red, green, blue = (
        np.abs(levels - level) <= within for level in ink
    )  # tables: much quicker than arithmetic
    found: Mask = red[pixels[..., 0]] & green[pixels[..., 1]] & blue[pixels[..., 2]]
    return found


def areas(mask: Mask, least: int = 1) -> list[Area]:
    """The areas of at least so many pixels, whose pixels touch at edges or corners, in order of their first row."""
    runs = _runs(mask)
    found: dict[int, list[tuple[int, int, int]]] = {}
    for run, root in zip(runs, _roots(runs), strict=True):
        found.setdefault(root, []).append(run)
    whole = [_area(group) for group in found.values()]
    return [area for area in whole if area.pixels >= least]


def _runs(mask: Mask) -> list[tuple[int, int, int]]:
    """(row, first, end) of each stretch of True."""
    import numpy as np

    steps = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, firsts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    return list(zip(rows.tolist(), firsts.tolist(), ends.tolist(), strict=True))


def _roots(runs: list[tuple[int, int, int]]) -> list[int]:
    """For each run the number of the first run of its area (union by the smaller number)."""
    parent = list(range(len(runs)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    above = 0
    for index, (row, first, end) in enumerate(runs):
        while runs[above][0] < row - 1 or (runs[above][0] == row - 1 and runs[above][2] < first):
            above += 1
        at = above
        while runs[at][0] == row - 1 and runs[at][1] <= end:
            one, other = sorted((root(at), root(index)))
            parent[other] = one
            at += 1
    return [root(index) for index in range(len(runs))]


def _area(runs: list[tuple[int, int, int]]) -> Area:
    rows, firsts, ends = zip(*runs, strict=True)
    pixels = sum(end - first for _, first, end in runs)
    return Area(pixels, (min(firsts), min(rows), max(ends), max(rows) + 1))
