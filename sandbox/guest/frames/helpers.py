"""What cells can call to look closer: zoom, mark, grid, to_original, from_shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from .affine import IDENTITY, Box, Matrix, Point, apply, bounds, compose, invert, is_upright, map_box
from .registry import (
    Frame,
    Region,
    Root,
    frame_of,
    is_image,
    remember,
    resolve,
    resolve_frame,
    root_of,
    size_of,
)

_SIDE_PX = 1000  # of what is shown
_MAX_SCALE = 12.0
_MAX_SIDE_PX = 4000
_COLOURS = ("#e6194b", "#0082c8", "#3cb44b", "#f58231", "#911eb4", "#008080", "#f032e6", "#9a6324")
_UNITS = ("original", "image", "shown", "1000", "1")
_just_shown: list[Any] = []


def to_original(image: Any, xy: Any) -> Any:
    """Where positions in an image or figure lie in the original that it shows, in pixels.

    xy: a position (x, y), a box (left, top, right, bottom), or a list of either. Raises ValueError if it is not known.
    """
    frame = _find_frame(image)
    return _map(xy, lambda point: _resolve(frame, point)[1])


def from_shown(image: Any, xy: Any) -> Any:
    """The same for positions in the copy of the image that was sent, which can be smaller."""
    frame, to_image = _find_frame(image), _unit(image, "shown")
    return _map(xy, lambda point: _resolve(frame, apply(to_image, point))[1])


def zoom(image: Any, box: Any, scale: float | None = None, units: Any = "original") -> Image.Image:
    """Show and return a part of an image, enlarged, with coordinates of the original on its axes.

    box: (left, top, right, bottom) in pixels of the original. units: "original", "image" (pixels of the given image),
    "shown" (pixels of the copy that was sent), "1000" or "1" (0 to 1000, or 0 to 1, of the given image).
    scale: pixels shown for each pixel; by default so many that the longer side has 1000, at most 12.
    """
    source, inner = _part(image, _box(box), units)
    left, top, right, bottom = inner
    if scale is None:
        scale = min(_SIDE_PX / max(right - left, bottom - top), _MAX_SCALE)
    size = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
    if max(size) > _MAX_SIDE_PX:
        raise ValueError(f"{size[0]} x {size[1]} pixels are too many to show; give a smaller box or scale")
    part = source.crop(inner).resize(size, Image.Resampling.LANCZOS)
    _show(part, frame_of(part))
    return part


def mark(
    image: Any,
    boxes: Any = (),
    labels: Sequence[Any] | str | None = None,
    units: Any = "original",
    *,
    points: Any = (),
) -> Image.Image:
    """Show and return a copy of an image with boxes (four numbers) and points (two numbers) drawn on it.

    boxes, points: one or a list each, in pixels of the original, or in `units` as for `zoom`; either may hold both.
    labels: one for each, boxes first; by default their numbers.
    """
    picture = _picture(image)
    to_image = _unit(image, units)
    shapes = [*_positions(boxes), *_positions(points)]
    names = [labels] if isinstance(labels, str) else [str(label) for label in labels or ()]
    if labels is None:
        names = [str(at) for at in range(1, len(shapes) + 1)]
    if len(names) != len(shapes):
        raise ValueError(f"{len(names)} labels for {len(shapes)} marks; give one for each")
    copy = picture.convert("RGB") if picture.mode != "RGB" else picture.copy()
    draw, side = ImageDraw.Draw(copy), max(copy.size)
    for at, (shape, name) in enumerate(zip(shapes, names, strict=True)):
        _draw(
            draw, _map(shape, lambda point: apply(to_image, point)), name, _COLOURS[at % len(_COLOURS)], side
        )
    _show(copy, frame_of(copy))
    return copy


def grid(image: Any, step: float | None = None) -> Image.Image:
    """Show a whole image with lines at round coordinates of the original; returns the image.

    step: pixels of the original between two lines.
    """
    picture = _picture(image)
    _show(picture, frame_of(picture, search=True), step or 0)
    return picture


def was_just_shown(image: Any) -> bool:
    """Whether a helper has shown this very image since the last call: it need not be displayed again."""
    was_shown = any(each is image for each in _just_shown)
    _just_shown.clear()
    return was_shown


def _find_frame(image: Any) -> Frame:
    frame = frame_of(_check(image), search=True)
    if frame is None:
        raise ValueError(
            "where this image lies in an original is not known: it was not made by crops, resizes, turns, flips or "
            "pads alone; use the image that it was made from"
        )
    return frame


def _resolve(frame: Frame, point: Point) -> tuple[str, Point]:
    found = resolve(frame, point)
    if found is None:
        x, y = apply(frame.matrix, point)
        raise ValueError(f"at ({x:g}, {y:g}) {frame.root.name} shows no known image")
    return found


def _map(xy: Any, step: Any) -> Any:
    """Map a position, a box, or each of a list of them."""
    if not _is_position(xy):
        return [_map(each, step) for each in xy]
    numbers = [float(number) for number in xy]
    if len(numbers) == 2:
        x, y = step((numbers[0], numbers[1]))
        return round(x, 2), round(y, 2)
    left, top, right, bottom = _box(numbers)
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return tuple(round(edge, 2) for edge in bounds(step(corner) for corner in corners))


def _positions(value: Any) -> list[Any]:
    """One position, or a list of them, as a list."""
    return [value] if _is_position(value) else list(value)


def _is_position(value: Any) -> bool:
    return len(value) in (2, 4) and all(np.ndim(number) == 0 for number in value)


def _box(box: Any) -> Box:
    if len(box) != 4 or not all(map(math.isfinite, box)):
        raise ValueError(f"box {box!r}: give four numbers: left, top, right, bottom")
    left, top, right, bottom = map(float, box)
    if left >= right or top >= bottom:
        raise ValueError(f"box {tuple(box)!r} is empty; give left < right and top < bottom")
    return left, top, right, bottom


def _check(image: Any) -> Any:
    if not is_image(image):
        raise TypeError(f"{type(image).__name__} is no image; give a PIL image or an array of one")
    return image


def _picture(image: Any) -> Image.Image:
    """The image as Pillow's, with the same frame."""
    if isinstance(_check(image), Image.Image):
        return image  # type: ignore[no-any-return]
    pixels = image
    if pixels.dtype != np.uint8:
        values = np.nan_to_num(pixels.astype(float))
        low, high = float(values.min()), float(values.max())
        pixels = ((values - low) * (255 / ((high - low) or 1))).astype(np.uint8)
    picture = Image.fromarray(pixels)
    frame = frame_of(image, search=True)
    if frame is not None:
        remember(picture, frame)
    return picture


def _frame(image: Any) -> Frame:
    """The frame of an image in its original; of one that is not known, in itself."""
    frame = frame_of(image, search=True)
    resolved = resolve_frame(frame, size_of(image)) if frame else None
    return resolved or Frame(Root("", size_of(image)), IDENTITY)


def _part(image: Any, box: Box, units: Any) -> tuple[Image.Image, tuple[int, int, int, int]]:
    """The image to take the part from, and the box in its pixels: a figure is replaced by the image that it shows."""
    picture = _picture(image)
    frame = frame_of(picture, search=True)
    region = _only_region(frame)
    original = root_of(region.name) if region else None
    pixels = original.image() if original and original.image else None
    if frame and region and pixels is not None:
        inner = box
        if str(units) != "original":
            to_root = compose(frame.matrix, _unit(image, units))
            inner = map_box(compose(region.matrix, to_root), box)
        return pixels, _inside(inner, pixels, box)
    return picture, _inside(map_box(_unit(picture, units), box), picture, box)


def _only_region(frame: Frame | None) -> Region | None:
    regions = frame.root.regions if frame else None
    return regions[0] if regions and len(regions) == 1 else None


def _inside(box: Box, picture: Image.Image, given: Box) -> tuple[int, int, int, int]:
    """The box in whole pixels of the image."""
    left, top = max(0, math.floor(box[0] + 0.01)), max(0, math.floor(box[1] + 0.01))
    right, bottom = (
        min(picture.width, math.ceil(box[2] - 0.01)),
        min(picture.height, math.ceil(box[3] - 0.01)),
    )
    if left >= right or top >= bottom:
        raise ValueError(
            f"box {given} lies outside of the image, which has {picture.width} x {picture.height} pixels; "
            'see `units` for boxes of other forms, such as units="1000"'
        )
    return left, top, right, bottom


def _unit(image: Any, units: Any) -> Matrix:
    """The matrix from positions in these units to pixels of the image. Raises ValueError."""
    width, height = size_of(image)
    match str(units):
        case "image":
            return IDENTITY
        case "original":
            return _from_original(image)
        case "shown":
            root = _find_named_root(image)
            if root is None or root.shown is None:
                raise ValueError("this image was not sent under a name; use the image_clue_k that you saw")
            return (1 / root.shown[2], 0, 0, 0, 1 / root.shown[3], 0)
        case "1000" | "1":
            root = _find_named_root(image)
            if root is not None and root.shown is not None:  # with what was padded
                width, height = root.shown[0] / root.shown[2], root.shown[1] / root.shown[3]  # type: ignore[assignment]
            most = float(str(units))
            return (width / most, 0, 0, 0, height / most, 0)
    raise ValueError(f"units {units!r} are not known; there are: {', '.join(_UNITS)}")


def _from_original(image: Any) -> Matrix:
    """From pixels of the original to pixels of the image; of an unknown image, from its own."""
    frame = frame_of(image, search=True)
    if frame is not None and frame.root.regions and (region := _only_region(frame)):
        return invert(compose(region.matrix, frame.matrix))
    return invert(_frame(image).matrix)


def _find_named_root(image: Any) -> Root | None:
    """The named image that this is, unchanged."""
    frame = frame_of(image, search=True)
    return frame.root if frame and frame.matrix == IDENTITY and frame.root.size == size_of(image) else None


def _draw(draw: ImageDraw.ImageDraw, shape: Any, name: str, colour: str, side: int) -> None:
    from PIL import ImageFont

    width = max(2, round(side / 400))
    font = ImageFont.load_default(max(12, round(side / 60)))
    if len(shape) == 2:
        x, y = shape
        radius = 3 * width
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=colour, width=width)
        draw.ellipse((x - 1, y - 1, x + 1, y + 1), fill=colour)
        corner = x + radius, y - radius
    else:
        draw.rectangle(shape, outline=colour, width=width)
        corner = shape[0] + width, shape[1] + width
    area = draw.textbbox(corner, name, font=font)
    draw.rectangle((area[0] - 2, area[1] - 2, area[2] + 2, area[3] + 2), fill="white")
    draw.text(corner, name, fill=colour, font=font)


def _show(picture: Image.Image, frame: Frame | None, step: float | None = None) -> None:
    """Display an image on axes with coordinates of its original, where they are parallel; step: of a grid."""
    from IPython.display import display
    from matplotlib.figure import Figure
    from matplotlib.ticker import MultipleLocator

    resolved = resolve_frame(frame, picture.size) if frame else None
    is_original = resolved is not None and is_upright(resolved.matrix)
    matrix = resolved.matrix if resolved and is_original else IDENTITY
    left, top = apply(matrix, (0, 0))
    right, bottom = apply(matrix, picture.size)
    scale = min(1.0, _SIDE_PX / max(picture.size))
    width, height = (max(1.0, side * scale) / 100 for side in picture.size)
    figure = Figure(figsize=(width + 0.9, height + 0.7), dpi=100)
    axes = figure.add_axes(
        (0.7 / (width + 0.9), 0.4 / (height + 0.7), width / (width + 0.9), height / (height + 0.7))
    )
    colours = "gray" if picture.mode in ("L", "1") else None
    axes.imshow(picture, cmap=colours, extent=(left, right, bottom, top), aspect="auto")
    if step is not None:
        step = step or _round_step(max(abs(right - left), abs(bottom - top)) / 10)
        axes.xaxis.set_major_locator(MultipleLocator(step))
        axes.yaxis.set_major_locator(MultipleLocator(step))
        axes.grid(color="red", linewidth=0.6, alpha=0.7)
        axes.tick_params(axis="x", rotation=45 if width < 6 else 0)
    if not is_original:
        axes.set_title("pixels of this image itself", fontsize=8)
    display(figure)  # type: ignore[no-untyped-call]
    _just_shown.append(picture)


def _round_step(step: float) -> float:
    """The next of 1, 2, 5, 10, 20, …"""
    power = 10.0 ** math.floor(math.log10(max(step, 1)))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= max(step, 1) - 1e-9)
