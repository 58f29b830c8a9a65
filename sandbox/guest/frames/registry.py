"""What is known of every image and array: the named image that it was made from, and the transform to it.

Images and arrays are only observed: the registry holds weak references, and nothing is stored in the objects. Where an
array is a view of a known one, the transform follows from its strides. What was made in a way that is not followed is
unknown, unless its pixels are found unchanged in exactly one place (`matching`).
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from PIL import Image

from .affine import IDENTITY, Box, Matrix, Point, apply, compose, from_pixel_indices, map_box
from .matching import AmbiguousError, find_unchanged

_MAX_SEARCHES = 24  # for images that no helper was called with, in one cell
_EDGE = 0.01  # of a pixel
_CHANNELS = 4
_SAMPLES = 400
_Pixels: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, slots=True)
class Frame:
    """The named image that an image was made from, and the matrix to its pixels."""

    root: Root
    matrix: Matrix

    def after(self, step: Matrix) -> Frame:
        """The frame of an image that `step` maps to this one."""
        return Frame(self.root, compose(self.matrix, step))


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a figure that shows an image: its name, the box in the figure, and the matrix to its pixels."""

    name: str
    box: Box
    matrix: Matrix


@dataclass(eq=False)
class Root:
    """A named image. shown: the width and height of the copy that was sent, and the scale to it on both axes.

    regions: None for an original; for a figure, the parts of it that show other images.
    """

    name: str
    size: tuple[int, int]
    shown: tuple[float, float, float, float] | None = None
    regions: tuple[Region, ...] | None = None
    image: weakref.ref[Image.Image] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Entry:
    reference: weakref.ref[Any]
    state: Frame | Literal["blank", "unknown"]
    size: tuple[int, int]
    sample: _Pixels | None  # some pixels of an array, which a cell can overwrite


_entries: dict[int, _Entry] = {}
_roots: dict[str, Root] = {}
_searches = 0
original_asarray = np.asarray  # before it is wrapped


def define(name: str, image: Image.Image | None = None, view: Mapping[str, Any] | None = None) -> None:
    """Make `image` known under a name, or add to what is known of that name.

    view: `shown` and `regions`, as in `Root`.
    """
    root = _roots.get(name)
    if image is not None:
        root = _roots[name] = Root(name, image.size, image=weakref.ref(image))
        remember(image, Frame(root, IDENTITY))
    if root is not None and view is not None:
        shown, regions = view.get("shown"), view.get("regions")
        root.shown = tuple(shown) if shown else None
        root.regions = (
            None
            if regions is None
            else tuple(Region(each["name"], tuple(each["box"]), tuple(each["matrix"])) for each in regions)
        )


def size_of(image: Any) -> tuple[int, int]:
    """Width and height of an image or array."""
    if isinstance(image, Image.Image):
        return image.size
    return image.shape[1], image.shape[0]


def is_image(value: Any) -> bool:
    """Whether it is an image, or an array that can be one."""
    return isinstance(value, Image.Image) or (isinstance(value, np.ndarray) and value.ndim in (2, 3))


def remember(image: Any, state: Frame | Literal["blank", "unknown"] | None) -> None:
    """Set what is known of an image; None forgets it."""
    key = id(image)
    if state is None:
        _entries.pop(key, None)
        return

    def drop(reference: weakref.ref[Any]) -> None:
        entry = _entries.get(key)
        if entry is not None and entry.reference is reference:
            del _entries[key]

    sample = None if isinstance(image, Image.Image) else _sample(image)
    _entries[key] = _Entry(weakref.ref(image, drop), state, size_of(image), sample)


def state_of(image: Any) -> Frame | Literal["blank", "unknown"] | None:
    """What is known of this very object; None if nothing is, or if its size changed since.

    An array is unknown if most of its pixels were overwritten since: perhaps by those of another place.
    """
    entry = _entries.get(id(image))
    is_same = entry is not None and entry.reference() is image
    if entry is None or not is_same or entry.size != size_of(image):
        return None
    if entry.sample is not None:
        return entry.state if _is_kept(entry.sample, _sample(image)) else "unknown"
    return entry.state


def _is_kept(before: _Pixels, after: _Pixels) -> bool:
    """Whether most pixels are what they were, not counting those of the most frequent colour."""
    if np.array_equal(before, after):
        return True
    flat = before.reshape(len(before), -1)
    colours, counts = np.unique(flat, axis=0, return_counts=True)
    varied = (flat != colours[counts.argmax()]).any(axis=1)
    same = (flat == after.reshape(flat.shape)).all(axis=1)
    return bool(same[varied].mean() > 0.5 if varied.any() else same.mean() > 0.5)


def _sample(array: _Pixels) -> _Pixels:
    """Copies of pixels from all over an array."""
    height, width = array.shape[:2]
    at = np.arange(_SAMPLES)
    return array[at * height // _SAMPLES, at * 37 % _SAMPLES * width // _SAMPLES]  # type: ignore[no-any-return]


def frame_of(image: Any, *, search: bool = False) -> Frame | None:
    """Where the image lies in a named image; None if that is not known.

    search: look for its pixels if nothing else is known; a few times per cell.
    """
    if not is_image(image):
        return None
    state = state_of(image)
    if state is None and isinstance(image, np.ndarray) and image.base is not None:
        state = _frame_of_view(image, search=search)
    if state is None and search:
        state = _search(image)
        remember(image, state)
    return state if isinstance(state, Frame) else None


def start_cell() -> None:
    """Start counting searches again."""
    global _searches  # noqa: PLW0603 - a counter of this process
    _searches = 0


def resolve(frame: Frame, point: Point, depth: int = 0) -> tuple[str, Point] | None:
    """The original that a position of an image shows, and the position there; None if it shows none."""
    at = apply(frame.matrix, point)
    root = frame.root
    if root.regions is None:
        return root.name, at
    inside = [region for region in root.regions if _contains(region.box, at)]
    found = {
        (target[0], round(target[1][0], 1), round(target[1][1], 1)): target
        for region in inside
        if depth < len(_roots) and (target := _through(region, at, depth))
    }
    return next(iter(found.values())) if len(found) == 1 else None


def resolve_frame(frame: Frame, size: tuple[int, int]) -> Frame | None:
    """The frame of a whole image of this size in an original, through a figure with only one part; else None."""
    for _ in range(len(_roots) + 1):
        regions = frame.root.regions
        if regions is None:
            return frame
        box = map_box(frame.matrix, (0, 0, *size))
        if len(regions) != 1 or not (
            _contains(regions[0].box, box[:2]) and _contains(regions[0].box, box[2:])
        ):
            return None
        target = _roots.get(regions[0].name)
        if target is None:
            return None
        frame = Frame(target, compose(regions[0].matrix, frame.matrix))
    return None


def root_of(name: str) -> Root | None:
    return _roots.get(name)


def _through(region: Region, at: Point, depth: int) -> tuple[str, Point] | None:
    target = _roots.get(region.name)
    return resolve(Frame(target, region.matrix), at, depth + 1) if target else None


def _contains(box: Box, point: tuple[float, ...]) -> bool:
    left, top, right, bottom = box
    return left - _EDGE <= point[0] <= right + _EDGE and top - _EDGE <= point[1] <= bottom + _EDGE


def _frame_of_view(view: _Pixels, *, search: bool) -> Frame | Literal["unknown"] | None:
    """The frame of a view of a known array, from its strides."""
    base = view.base
    while isinstance(base, np.ndarray):
        state = state_of(base) if is_image(base) else None
        if state is None and search and is_image(base) and base.base is None:
            state = _search(base)
            remember(base, state)
        if state == "unknown":
            return state
        if isinstance(state, Frame):
            step = step_between(base, view)
            return state.after(step) if step else "unknown"
        base = base.base
    return None


def step_between(base: _Pixels, view: _Pixels) -> Matrix | None:
    """The matrix from a view of an array to the array; None if its pixels are not pixels of the array."""
    if view.dtype.itemsize != base.dtype.itemsize or 0 in view.shape or 0 in base.shape:
        return None
    row, pixel = base.strides[:2]
    if row == 0 or pixel == 0 or not _is_pixel_wise(base, view):
        return None
    for swapped in (False, True):
        along_y, along_x = view.strides[:2][::-1] if swapped else view.strides[:2]
        count_y, count_x = view.shape[:2][::-1] if swapped else view.shape[:2]
        y_step, x_step = _steps(along_y, row, count_y), _steps(along_x, pixel, count_x)
        if y_step is None or x_step is None:
            continue
        start = _start(base, view)
        if start is None:
            return None
        x, y = start
        ends = (x + x_step * (count_x - 1), y + y_step * (count_y - 1))
        if not (0 <= ends[0] < base.shape[1] and 0 <= ends[1] < base.shape[0]):
            continue
        indices: Matrix = (0, x_step, x, y_step, 0, y) if swapped else (x_step, 0, x, 0, y_step, y)
        return from_pixel_indices(indices)
    return None


def _steps(stride: int, unit: int, count: int) -> int | None:
    """How many pixels one step of a view is; 1 for an axis of one pixel, whose stride means nothing."""
    if count == 1:
        return 1
    return stride // unit if stride and stride % unit == 0 else None


def _is_pixel_wise(base: _Pixels, view: _Pixels) -> bool:
    """Whether the third axis of the view, if it has one, runs over the channels of one pixel."""
    if view.ndim not in (2, 3):
        return False
    if view.ndim == 2 or view.shape[2] == 1:
        return True
    channel = base.strides[2] if base.ndim == 3 else 0
    return channel != 0 and view.shape[2] <= _CHANNELS and view.strides[2] in (channel, -channel)


def _start(base: _Pixels, view: _Pixels) -> tuple[int, int] | None:
    """Column and row of the first pixel of a view in the array."""
    origins = base.__array_interface__["data"][0], view.__array_interface__["data"][0]
    offset = origins[1] - origins[0]
    for axis, count in enumerate(
        base.shape
    ):  # the lowest address of the array, if it is a flipped view itself
        offset -= min(0, base.strides[axis] * (count - 1))
    strides = [abs(stride) for stride in base.strides]
    at = []
    for axis in sorted(range(base.ndim), key=lambda axis: -strides[axis]):
        index = min(offset // strides[axis], base.shape[axis] - 1) if strides[axis] else 0
        offset -= index * strides[axis]
        at.append((axis, index if base.strides[axis] >= 0 else base.shape[axis] - 1 - index))
    found = dict(at)
    return (found[1], found[0]) if 0 <= offset < base.dtype.itemsize and min(found.values()) >= 0 else None


def _search(image: Any) -> Frame | Literal["unknown"]:
    """The frame of an image whose pixels occur in one place of all the originals, and of no other."""
    global _searches  # noqa: PLW0603
    is_plain = image.mode in ("RGB", "L") if isinstance(image, Image.Image) else image.dtype == np.uint8
    if not is_plain or _searches >= _MAX_SEARCHES:
        return "unknown"
    _searches += 1
    pixels = original_asarray(image)
    found: list[Frame] = []
    for root in tuple(_roots.values()):
        original = root.image() if root.image and root.regions is None else None
        try:
            match = find_unchanged(pixels, original) if original is not None else None
        except AmbiguousError:
            return "unknown"
        found += [Frame(root, match)] if match else []
    return found[0] if len(found) == 1 else "unknown"
