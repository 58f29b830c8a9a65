"""Separate an image into coloured shapes, and match descriptions such as `red circles` with them.

It uses the functions that the cells of the offline model import, so that a tool and a cell find the same objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.images.pixels import pixels
from pyvision.offline.wording import COLOURS, shape_of
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyvision.offline.modules.pyvision_offline.objects import DrawnObject

Pixels: TypeAlias = "NDArray[Any]"  # rows from the top, RGB of 8 bits

SIDE_PX = 1600  # as in the cells
_REGION_SIDE_PX = 240  # photographs are reduced to this size, which averages out their grain
_MIN_REGION = 0.01  # share of the picture
_ANYTHING = {"object", "thing", "shape", "item", "figure", "form", "blob", "region", "area", "element"}
_IGNORED = {
    "a", "an", "the", "this", "that", "these", "those", "of", "in", "on", "and", "is", "are", "it", "there", "any",
    "every", "each", "all", "one", "some", "with", "image", "picture", "photo", "photograph", "drawing", "filled",
    "coloured", "colored", "colour", "color", "drawn", "geometric", "single", "separate", "has", "have",
}  # fmt: skip
_OTHER_SHAPES = {"line": "line", "stroke": "line", "segment": "line", "other": "other"}
_SIMILAR_SHAPES = {
    "ellipse": ("ellipse", "circle"),
    "rectangle": ("rectangle", "square"),
    "circle": ("circle",),
}
_SIMILAR_COLOURS = {"magenta": ("magenta", "pink", "purple"), "cyan": ("cyan",), "pink": ("pink", "magenta")}


@dataclass(frozen=True, slots=True)
class SceneArea:
    """An object or an area. Edges are pixels from the top left of the picture, right and bottom exclusive.

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
class SceneDescription:
    """What was found in an image. shares: colour name -> share of the pixels, the largest first.

    drawn: the objects of a drawing that the regions were made of, in the same order.
    """

    is_drawing: bool
    background: str
    regions: tuple[SceneArea, ...]
    shares: Mapping[str, float]
    drawn: tuple[DrawnObject, ...] = ()

    def doubts_about(self, wanted: Wanted) -> str:
        """Why what is wanted cannot be counted in a drawing, or nothing."""
        from pyvision.offline.modules.pyvision_offline.objects import doubts_about

        of_colour = set(Wanted(colour=wanted.colour).among(self.regions))
        pairs = zip(self.regions, self.drawn, strict=False)
        return doubts_about(self.drawn, [each for region, each in pairs if region in of_colour], wanted.shape)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A description of objects; None means any. unknown: words that name no colour and no shape."""

    colour: str | None = None
    shape: str | None = None
    is_ring: bool = False
    says_anything: bool = False
    unknown: tuple[str, ...] = ()

    @property
    def is_understood(self) -> bool:
        return not self.unknown and bool(self.colour or self.shape or self.says_anything)

    def among(self, regions: Iterable[SceneArea]) -> tuple[SceneArea, ...]:
        """The regions that match; if none has exactly this colour, those of a similar one."""
        matching = [region for region in regions if self._has_shape(region)]
        if self.colour is None:
            return tuple(matching)
        exact = tuple(region for region in matching if region.colour == self.colour)
        alike = _SIMILAR_COLOURS.get(self.colour, (self.colour,))
        return exact or tuple(region for region in matching if region.colour in alike)

    def _has_shape(self, region: SceneArea) -> bool:
        if self.is_ring and not region.is_ring:
            return False
        return self.shape is None or region.shape in _SIMILAR_SHAPES.get(self.shape, (self.shape,))


def parse_wanted(text: str) -> Wanted:
    """Parse a description such as `red circles`."""
    colour = shape = None
    is_ring = says_anything = False
    unknown: list[str] = []
    for word in re.findall(r"[^\W_]+", text.lower()):
        single = word.removesuffix("s")
        named = shape_of(word) or _OTHER_SHAPES.get(word) or _OTHER_SHAPES.get(single)
        if word in COLOURS:
            colour = COLOURS[word]
        elif named is not None:
            shape, is_ring = named, single == "ring"
        elif single in _ANYTHING:
            says_anything = True
        elif word not in _IGNORED:
            unknown.append(word)
    return Wanted(colour, shape, is_ring, says_anything, tuple(unknown))


@lru_cache(maxsize=16)
def scene_of(picture: Picture) -> SceneDescription:
    """The objects of a drawing, or the regions of one colour in a photograph."""
    from pyvision.offline.modules.pyvision_offline.palette import background_of, is_simple, name_of

    array = pixels(picture, SIDE_PX)
    is_drawing = is_simple(array)
    drawn = _find_objects(array) if is_drawing else ()
    scale = picture.width / array.shape[1]
    regions = tuple(_build_region(each, scale) for each in drawn) if is_drawing else _find_regions(picture)
    return SceneDescription(is_drawing, name_of(background_of(array)), regions, _measure_shares(array), drawn)


def _find_objects(array: Pixels) -> tuple[DrawnObject, ...]:
    from pyvision.offline.modules.pyvision_offline.objects import drop_specks, separate_objects

    return tuple(drop_specks(separate_objects(array)))


def _build_region(found: DrawnObject, scale: float) -> SceneArea:
    left, top, right, bottom = (edge * scale for edge in found.box)
    width, height = right + scale - left, bottom + scale - top
    shape = "line" if _is_line(found, width, height) else found.shape
    return SceneArea(
        left,
        top,
        right + scale,
        bottom + scale,
        found.area * scale**2,
        found.colour_name,
        shape,
        found.solidity,
        is_ring=shape in ("circle", "ellipse") and found.holes > 0,
    )


def _is_line(found: DrawnObject, width: float, height: float) -> bool:
    """Long and thin along an axis, or a stroke that leaves most of its box empty and encloses nothing."""
    if max(width, height) >= 6 * min(width, height):
        return True
    left, top, right, bottom = found.box
    sparse = found.area * 4 < (right - left) * (bottom - top)
    return found.style == "outline" and not found.holes and found.solidity > 0.4 and sparse


def _find_regions(picture: Picture) -> tuple[SceneArea, ...]:
    """The connected areas of a photograph whose pixels have one colour name, the largest first."""
    from pyvision.offline.modules.pyvision_offline.masks import boxes, label

    array = pixels(picture, _REGION_SIDE_PX)
    scale = picture.width / array.shape[1]
    names = _name_pixels(array)
    found: list[SceneArea] = []
    for name in sorted(set(names.ravel())):
        labels, count = label(names == name, diagonal=False)
        for left, top, right, bottom, area in boxes(labels, count).tolist():
            if area >= _MIN_REGION * names.size:
                edges = (left * scale, top * scale, (right + 1) * scale, (bottom + 1) * scale)
                filled = area / ((right + 1 - left) * (bottom + 1 - top))
                found.append(SceneArea(*edges, area * scale**2, str(name), "region", filled))
    return tuple(sorted(found, key=lambda region: -region.area))


def _name_pixels(array: Pixels) -> Pixels:
    """The colour name of each pixel, by cells of 8 levels a channel."""
    import numpy

    from pyvision.offline.modules.pyvision_offline.palette import name_of

    codes = (array.astype(numpy.int32) >> 3) @ numpy.array([1024, 32, 1])
    known, where = numpy.unique(codes, return_inverse=True)
    levels = numpy.stack([known >> 10, known >> 5 & 31, known & 31], axis=1) * 255 / 31
    return numpy.array([name_of(level) for level in levels])[where.reshape(codes.shape)]


def _measure_shares(array: Pixels) -> dict[str, float]:
    import numpy

    names, counts = numpy.unique(_name_pixels(array), return_counts=True)
    shares = {str(name): float(count) for name, count in zip(names, counts / counts.sum(), strict=True)}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
