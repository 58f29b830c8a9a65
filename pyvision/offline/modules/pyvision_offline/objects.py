"""Separate the objects of a drawing, closed outlines as a whole and filled areas by colour, and name their shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PIL import Image

from .drawing import NOT_SIMPLE, Drawing
from .masks import Array, boxes, core, fill_holes, label, stroke_width
from .palette import background_of, mask_of_ink, match_name, name_of, nearest_in_palette, palette_of
from .shapes import name_shape

_MAX_COUNTED = 300


@dataclass(frozen=True, slots=True)
class DrawnObject:
    """One object. box: left, top, right, bottom, both ends inside. area: with its holes.

    style: outline or filled. solidity: how much of its convex hull it fills. holes: their number.
    """

    box: tuple[float, float, float, float]
    area: float
    colour: Array
    colour_name: str
    shape: str
    solidity: float
    style: str
    holes: int

    def __str__(self) -> str:
        left, top, right, bottom = self.box
        centre = f"({(left + right) / 2:.0f}, {(top + bottom) / 2:.0f})"
        return f"{self.colour_name} {self.shape} ({self.style}) around {centre}, area {self.area:.0f} px"

    def enlarge(self, scale: float) -> DrawnObject:
        """The same in coordinates of the picture."""
        left, top, right, bottom = (edge * scale for edge in self.box)
        return replace(self, box=(left, top, right, bottom), area=self.area * scale**2)

    def draw(self, axes: Any, number: int) -> None:
        """Draw its box and its number."""
        left, top, right, bottom = self.box
        edges = ([left, right, right, left, left], [top, top, bottom, bottom, top])
        axes.plot(*edges, color="red", lw=1)
        axes.text(left, top, str(number), color="red", fontsize=7)


def find_objects(
    drawing: Drawing, colour: str | None = None, shape: str | None = None
) -> tuple[list[DrawnObject], str]:
    """The objects of a colour and a shape. None: of any."""
    if not drawing.is_simple:
        return [], NOT_SIMPLE
    everything = drop_specks(separate_objects(drawing.array))
    objects = select_colour(everything, colour)
    found = [each.enlarge(drawing.scale) for each in objects if shape in (None, each.shape)]
    return found, doubts_about(everything, objects, shape)


def doubts_about(
    everything: Sequence[DrawnObject], of_colour: Sequence[DrawnObject], shape: str | None = None
) -> str:
    """Why the objects of a colour and a shape cannot be counted, or nothing: outlines cross, or some have merged."""
    crossing = any(each.style == "outline" and each.holes > 1 for each in everything)
    merged = any(shape and _may_be_several(each, shape) for each in of_colour)
    if len(of_colour) > _MAX_COUNTED:
        return NOT_SIMPLE
    return "some objects overlap, or have no simple shape" if crossing or merged else ""


def select_colour(objects: Sequence[DrawnObject], colour: str | None) -> list[DrawnObject]:
    """Those of this colour; all of them for None."""
    if colour is None:
        return list(objects)
    return [objects[index] for index in match_name(colour, [each.colour_name for each in objects])]


def drop_specks(objects: Sequence[DrawnObject]) -> list[DrawnObject]:
    """Those that are not far smaller than the median."""
    usual = np.median([each.area for each in objects]) if objects else 0
    return [each for each in objects if each.area >= 0.004 * usual]


def separate_objects(array: Array) -> list[DrawnObject]:
    """Every object, in coordinates of the array."""
    background = background_of(array)
    ink = mask_of_ink(array, background)
    labels, n = label(ink)
    box = boxes(labels, n)
    min_area = max(12, 0.00002 * ink.size)
    found: list[DrawnObject] = []
    for index in np.nonzero(box[:, 4] >= min_area)[0][:3000]:
        left, top, right, bottom, _ = box[index]
        window = (slice(top, bottom + 1), slice(left, right + 1))
        mask = labels[window] == index + 1
        if stroke_width(np.pad(mask, 1)) < 0.2 * min(mask.shape) - 0.5:
            found.append(_measure(mask, array[window], (left, top), "outline", background))
        else:
            found += _separate_colours(mask, array[window], (left, top), background, min_area)
    return found


def _separate_colours(
    mask: Array, window: Array, origin: tuple[int, int], background: Array, min_area: float
) -> Iterable[DrawnObject]:
    """The areas of one colour in a filled component; a border belongs to what it encloses."""
    palette, _ = palette_of(np.where(mask[..., None], window, background.astype(np.uint8)), min_distance=60)
    palette = palette[np.abs(palette - background).max(axis=1) > 30]
    if len(palette) < 2:
        return [_measure(mask, window, origin, "filled", background)]
    nearest = nearest_in_palette(window, palette)
    (left, top), parts = origin, []
    for index in range(len(palette)):
        labels, n = label(mask & (nearest == index))
        for number, (x0, y0, x1, y1, size) in enumerate(boxes(labels, n), 1):
            part = labels[y0 : y1 + 1, x0 : x1 + 1] == number
            if size >= max(min_area, 0.01 * mask.sum()) and core(part).any():
                cut = window[y0 : y1 + 1, x0 : x1 + 1]
                parts.append(_measure(part, cut, (left + x0, top + y0), "filled", background))
    return [part for part in parts if not any(_is_border_of(part, other) for other in parts)]


def _is_border_of(border: DrawnObject, other: DrawnObject) -> bool:
    a, b = border.box, other.box
    is_around = a[0] < b[0] and a[1] < b[1] and a[2] > b[2] and a[3] > b[3]
    return is_around and border.holes > 0 and other.area > 0.7 * border.area


def _measure(
    mask: Array, window: Array, origin: tuple[int, int], style: str, background: Array
) -> DrawnObject:
    whole, holes = fill_holes(mask)
    inner = core(mask)
    colour = np.median(window[inner] if inner.any() else window[mask], axis=0)
    is_small = style == "filled" and max(mask.shape) < 90 and np.abs(colour - background).max() > 30
    shape, solidity = name_shape(_enlarge(whole, window, colour, background) if is_small else whole)
    (left, top), (height, width) = origin, mask.shape
    box = (int(left), int(top), int(left + width - 1), int(top + height - 1))
    return DrawnObject(box, int(whole.sum()), colour, name_of(colour), shape, float(solidity), style, holes)


def _enlarge(mask: Array, window: Array, colour: Array, background: Array, factor: int = 4) -> Array:
    """A small mask at four times its size, cut where the picture is half colour, half background."""
    away = colour - background
    mix = np.clip((window - background) @ away / (away @ away), 0, 1) * mask
    image = Image.fromarray((np.pad(mix, 2) * 255).astype(np.uint8))
    large = np.asarray(image.resize((image.width * factor, image.height * factor), 2)) > 127  # 2: bilinear
    return fill_holes(large)[0] if large.sum() > 8 * factor**2 else mask


def _may_be_several(each: DrawnObject, shape: str) -> bool:
    """Whether this can be several objects that touch. Clean shapes fill their hull; touching circles are long."""
    if each.shape in ("star", shape) or each.style == "outline":
        return each.shape != "star" and each.solidity < 0.92
    limit = 0.97 if shape == "circle" and each.shape not in ("triangle", "square") else 0.92
    return each.shape in ("other", "ellipse") or each.solidity < limit
