"""The rules of the offline model's cells, used on the host: a tool and a cell see the same colours and shapes.

The pieces in prompts/offline/common are programs of our own that rely on nothing but numpy and Pillow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.images.pixels import pixels
from pyvision.text.prompts import load
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pixels: TypeAlias = "NDArray[Any]"  # rows from the top, RGB of 8 bits

SIDE_PX = 1600  # as in the cells
_PIECES = ("components", "colours", "shapes", "outlines", "objects", "letters")
_KERNEL = "import numpy as np\nfrom PIL import Image\n"  # what a cell finds in its kernel
_REGION_SIDE_PX = 240  # a photograph is read coarsely, so that its grain averages out
_LEAST_REGION = 0.01  # share of the picture


@dataclass(frozen=True, slots=True)
class Region:
    """What was told apart from the background. Pixels of the picture from the top left, right and bottom exclusive.

    shape: circle, square, …, line, region (of a photograph) or other. solidity: how much of its hull it fills.
    """

    left: float
    top: float
    right: float
    bottom: float
    area: float
    colour: str
    shape: str
    solidity: float
    is_ring: bool = False

    @property
    def name(self) -> str:
        return (
            f"{self.colour} {'ring' if self.is_ring else 'object' if self.shape == 'other' else self.shape}"
        )


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture taken apart. shares: colour name -> share of the pixels, the largest first."""

    is_drawing: bool
    background: str
    regions: tuple[Region, ...]
    shares: Mapping[str, float]


@cache
def pieces() -> dict[str, Any]:
    """The functions of the cells by name."""
    names: dict[str, Any] = {}
    source = "\n".join([_KERNEL, *(load(f"offline/common/{piece}.py") for piece in _PIECES)])
    exec(compile(source, "prompts/offline/common", "exec"), names)
    return names


@lru_cache(maxsize=16)
def scene_of(picture: Picture) -> Scene:
    """Drawings are parted into their things, photographs into regions of one colour."""
    rules = pieces()
    array = pixels(picture, SIDE_PX)
    is_drawing = rules["is_drawing"](array)
    regions = _things(array, picture) if is_drawing else _regions(picture)
    background = rules["name_of"](rules["background_of"](array))
    return Scene(is_drawing, background, regions, _shares(array))


def _things(array: Pixels, picture: Picture) -> tuple[Region, ...]:
    rules, scale = pieces(), picture.width / array.shape[1]
    found = rules["without_specks"](rules["objects_in"](array))
    return tuple(_thing(each, scale) for each in found)


def _thing(found: dict[str, Any], scale: float) -> Region:
    left, top, right, bottom = (edge * scale for edge in found["box"])
    width, height = right + scale - left, bottom + scale - top
    shape = "line" if _is_line(found, width, height) else found["shape"]
    return Region(
        left,
        top,
        right + scale,
        bottom + scale,
        found["area"] * scale**2,
        found["name"],
        shape,
        found["solidity"],
        is_ring=shape in ("circle", "ellipse") and found["holes"] > 0,
    )


def _is_line(found: dict[str, Any], width: float, height: float) -> bool:
    """Long and thin along an axis, or a stroke that leaves most of its box empty and encloses nothing."""
    if max(width, height) >= 6 * min(width, height):
        return True
    sparse = found["area"] * 4 < (found["box"][2] - found["box"][0]) * (found["box"][3] - found["box"][1])
    return bool(found["style"] == "outline" and not found["holes"] and found["solidity"] > 0.4 and sparse)


def _regions(picture: Picture) -> tuple[Region, ...]:
    """The connected areas of a photograph whose pixels have one colour name, the largest first."""
    rules = pieces()
    array = pixels(picture, _REGION_SIDE_PX)
    scale = picture.width / array.shape[1]
    names = _names(array)
    found: list[Region] = []
    for name in sorted(set(names.ravel())):
        labels, count = rules["label"](names == name, diagonal=False)
        for left, top, right, bottom, area in rules["boxes"](labels, count).tolist():
            if area >= _LEAST_REGION * names.size:
                edges = (left * scale, top * scale, (right + 1) * scale, (bottom + 1) * scale)
                filled = area / ((right + 1 - left) * (bottom + 1 - top))
                found.append(Region(*edges, area * scale**2, str(name), "region", filled))
    return tuple(sorted(found, key=lambda region: -region.area))


def _names(array: Pixels) -> Pixels:
    """The colour name of each pixel, by cells of 8 levels a channel."""
    import numpy

    codes = (array.astype(numpy.int32) >> 3) @ numpy.array([1024, 32, 1])
    known, where = numpy.unique(codes, return_inverse=True)
    levels = numpy.stack([known >> 10, known >> 5 & 31, known & 31], axis=1) * 255 / 31
    return numpy.array([pieces()["name_of"](level) for level in levels])[where.reshape(codes.shape)]


def _shares(array: Pixels) -> dict[str, float]:
    import numpy

    names, counts = numpy.unique(_names(array), return_counts=True)
    shares = {str(name): float(count) for name, count in zip(names, counts / counts.sum(), strict=True)}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
