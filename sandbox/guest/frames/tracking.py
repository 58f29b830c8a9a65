"""Follow images through Pillow, NumPy, OpenCV and matplotlib, whose functions are wrapped.

A wrapped function does what it did, with the same arguments and result; then what the result shows is remembered.
Whatever goes wrong in that leaves the result unknown, and never changes what the function does.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image, ImageChops

from . import opencv
from .affine import (
    IDENTITY,
    Matrix,
    is_close,
    scale_and_shift,
)
from .opencv import Step
from .regions import after_draw, after_set_data
from .registry import Frame, frame_of, is_image, remember, size_of, state_of

_WRAPPED = "_follows_images"


def install() -> None:
    """Wrap the libraries, once; OpenCV when it is imported."""
    if getattr(Image.Image.crop, _WRAPPED, False):
        return
    _wrap_pillow()
    _wrap_numpy()
    _wrap_matplotlib()
    if "cv2" in sys.modules:
        _wrap_opencv(sys.modules["cv2"])
    sys.meta_path.insert(0, _OpenCVFinder())


def _follow(owner: Any, name: str, step: Step) -> None:
    """Wrap a function whose result is a new image made of its first argument."""
    original = getattr(owner, name, None)
    if original is None or getattr(original, _WRAPPED, False):
        return

    @wraps(original)
    def follow(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        try:
            _remember_result(step, result, arguments, options)
        except Exception:  # noqa: BLE001 - the result stays unknown, whatever the arguments were
            _forget(result)
        return result

    setattr(follow, _WRAPPED, True)
    setattr(owner, name, follow)


def _remember_result(step: Step, result: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    source, *rest = arguments or (options.get("src"),)
    made = result[-1] if isinstance(result, tuple) else result  # cv2.threshold gives the threshold too
    if made is source:
        return
    others = {key: value for key, value in options.items() if key != "src"}
    frame = frame_of(source, search=isinstance(source, np.ndarray))
    if frame is None:
        remember(made, "unknown" if state_of(source) == "unknown" else None)
        return
    matrix = step(source, made, *rest, **others)
    if matrix is None or (step is _same and _has_other(frame, source, [*rest, *others.values()])):
        remember(made, "unknown")
    else:
        remember(made, frame.after(matrix))


def _has_other(frame: Frame, source: Any, arguments: Sequence[Any]) -> bool:
    """Whether an image of another place was mixed in."""
    images = [each for each in arguments if is_image(each) and size_of(each) == size_of(source)]
    others = [frame_of(each) or state_of(each) for each in images]
    return any(
        other == "unknown" or (isinstance(other, Frame) and not _agree(other, frame, size_of(source)))
        for other in others
    )


def _forget(image: Any) -> None:
    if isinstance(image, Image.Image | np.ndarray):
        remember(image, "unknown")


def _same(source: Any, result: Any, *_: Any, **__: Any) -> Matrix | None:
    return IDENTITY if size_of(source) == size_of(result) else None


def _nowhere(*_: Any, **__: Any) -> None:
    return None


# Pillow


_TWO_IMAGES = (
    "add", "add_modulo", "darker", "difference", "hard_light", "lighter", "logical_and", "logical_or", "logical_xor",
    "multiply", "overlay", "screen", "soft_light", "subtract", "subtract_modulo",
)  # fmt: skip


def _wrap_pillow() -> None:
    steps: dict[str, Step] = {
        "crop": _crop,
        "resize": _pillow_resize,
        "transpose": _transpose,
        "transform": _transform,
        "reduce": _reduce,
        "effect_spread": _nowhere,
    }
    for name, step in steps.items():
        _follow(Image.Image, name, step)
    _follow(ImageChops, "offset", _nowhere)
    for name in _TWO_IMAGES:
        _wrap_function(ImageChops, name, _after_mixing)
    for name in ("alpha_composite", "blend"):
        _wrap_function(Image, name, _after_mixing)
    _wrap_function(Image, "merge", lambda result, _, bands: _after_mixing(result, *bands))
    if hasattr(Image.Image, "_new"):
        _wrap_function(Image.Image, "_new", _after_new)
    _wrap_in_place("thumbnail", _thumbnail)
    _wrap_in_place("paste", _paste)
    for name in ("putdata", "frombytes", "seek"):
        _wrap_in_place(name, lambda image, *_, **__: remember(image, "unknown"))
    _wrap_function(Image, "new", lambda result, *_, **__: remember(result, "blank"))
    _wrap_function(Image, "fromarray", _after_fromarray)


def _wrap_function(owner: Any, name: str, after: Callable[..., None]) -> None:
    """Call `after` with the result and the arguments."""
    original = getattr(owner, name)

    @wraps(original)
    def function(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        try:
            after(result, *arguments, **options)
        except Exception:  # noqa: BLE001 - the result stays unknown, whatever the arguments were
            _forget(result)
        return result

    setattr(function, _WRAPPED, True)
    setattr(owner, name, function)


def _wrap_in_place(name: str, after: Callable[..., None]) -> None:
    """Wrap a method that changes its image. after(image, size and state before, arguments)."""
    original = getattr(Image.Image, name)

    @wraps(original)
    def method(self: Image.Image, *arguments: Any, **options: Any) -> Any:
        before = self.size, state_of(self)
        result = original(self, *arguments, **options)
        try:
            after(self, before, *arguments, **options)
        except Exception:  # noqa: BLE001 - the image becomes unknown, whatever the arguments were
            _forget(self)
        return result

    setattr(method, _WRAPPED, True)
    setattr(Image.Image, name, method)


def _after_new(result: Image.Image, source: Image.Image, *_: Any) -> None:
    """Pillow makes most images by this method; those of another geometry are then set by a wrapper of their own."""
    state = state_of(source) if result.size == source.size else None
    if state is not None and result is not source:
        remember(result, state)


def _after_fromarray(result: Image.Image, array: Any, *_: Any, **__: Any) -> None:
    frame = frame_of(array, search=True)
    if frame is not None and result.size == size_of(array):
        remember(result, frame)


def _after_mixing(result: Image.Image, *arguments: Any, **options: Any) -> None:
    """A mixture of images has a frame if all have the same, not counting those of one colour."""
    images = [each for each in (*arguments, *options.values()) if isinstance(each, Image.Image)]
    states = [state for each in images if (state := frame_of(each) or state_of(each)) != "blank"]
    first = states[0] if states else None
    if isinstance(first, Frame) and all(
        isinstance(s, Frame) and _agree(s, first, result.size) for s in states
    ):
        remember(result, first)
    else:
        remember(result, "unknown" if states else "blank")


def _crop(_: Image.Image, result: Image.Image, box: Sequence[float] | None = None) -> Matrix:
    left, top = (round(edge) for edge in box[:2]) if box is not None else (0, 0)
    return scale_and_shift(1, left, 1, top)


def _pillow_resize(
    source: Image.Image,
    result: Image.Image,
    size: Any = None,
    resample: Any = None,
    box: Any = None,
    *_: Any,
    **__: Any,
) -> Matrix:
    left, top, right, bottom = box or (0, 0, *source.size)
    return scale_and_shift((right - left) / result.width, left, (bottom - top) / result.height, top)


def _transpose(source: Image.Image, _: Image.Image, method: int) -> Matrix | None:
    width, height = source.size
    way = Image.Transpose
    matrices: dict[int, Matrix] = {
        way.FLIP_LEFT_RIGHT: (-1, 0, width, 0, 1, 0),
        way.FLIP_TOP_BOTTOM: (1, 0, 0, 0, -1, height),
        way.ROTATE_90: (0, -1, width, 1, 0, 0),
        way.ROTATE_180: (-1, 0, width, 0, -1, height),
        way.ROTATE_270: (0, 1, 0, -1, 0, height),
        way.TRANSPOSE: (0, 1, 0, 1, 0, 0),
        way.TRANSVERSE: (0, -1, width, -1, 0, height),
    }
    return matrices.get(method)


def _transform(
    _: Image.Image, result: Image.Image, size: Any, method: Any, data: Any = None, *__: Any, **___: Any
) -> Matrix | None:
    if hasattr(method, "getdata"):
        method, data = method.getdata()
    way = Image.Transform
    if method == way.AFFINE or (method == way.PERSPECTIVE and not any(data[6:8])):
        a, b, c, d, e, f = map(float, data[:6])
        return a, b, c, d, e, f
    if method == way.EXTENT:
        left, top, right, bottom = data
        return scale_and_shift((right - left) / result.width, left, (bottom - top) / result.height, top)
    return None


def _reduce(_: Image.Image, __: Image.Image, factor: Any, box: Any = None) -> Matrix:
    x_factor, y_factor = factor if isinstance(factor, tuple | list) else (factor, factor)
    left, top = box[:2] if box else (0, 0)
    return scale_and_shift(x_factor, left, y_factor, top)


def _thumbnail(image: Image.Image, before: tuple[tuple[int, int], Any], *_: Any, **__: Any) -> None:
    (width, height), state = before
    if isinstance(state, Frame) and image.size != (width, height):
        state = state.after(scale_and_shift(width / image.width, 0, height / image.height, 0))
    remember(image, state)


def _paste(
    image: Image.Image, before: tuple[tuple[int, int], Any], im: Any, box: Any = None, mask: Any = None
) -> None:
    """A known image on an empty one gives it its frame; colours change nothing; anything else makes it unknown."""
    state = before[1]
    if not isinstance(im, Image.Image):
        return
    frame = frame_of(im, search=True)
    if isinstance(box, Image.Image):  # the form paste(im, mask)
        box = None
    left, top = box[:2] if box is not None else (0, 0)
    placed = frame.after(scale_and_shift(1, -left, 1, -top)) if frame else None
    if state == "blank":
        remember(image, placed or "unknown")
    elif isinstance(state, Frame) and not (placed and _agree(placed, state, image.size)):
        remember(image, "unknown")


def _agree(first: Frame, second: Frame, size: tuple[int, int]) -> bool:
    return first.root is second.root and is_close(first.matrix, second.matrix, size)


# NumPy


def _wrap_numpy() -> None:
    for name in ("array", "asarray"):
        _wrap_function(np, name, _after_copy)
    for name in ("ascontiguousarray", "asfortranarray", "copy"):
        _follow(np, name, _same)
    _follow(np, "pad", _numpy_pad)
    _follow(np, "repeat", _repeat)


def _after_copy(result: Any, source: Any = None, *_: Any, **__: Any) -> None:
    """Many calls come by here, and few of them hold an image."""
    if not isinstance(source, Image.Image | np.ndarray) or source is result or not is_image(source):
        return
    frame = frame_of(source)
    if frame is not None and result.shape[:2] == size_of(source)[::-1]:
        remember(result, frame)


def _numpy_pad(source: Any, result: Any, pad_width: Any, *_: Any, **__: Any) -> Matrix | None:
    widths = np.broadcast_to(pad_width, (source.ndim, 2)) if not isinstance(pad_width, dict) else None
    if widths is None or (source.ndim == 3 and widths[2].any()):
        return None
    return scale_and_shift(1, -int(widths[1][0]), 1, -int(widths[0][0]))


def _repeat(source: Any, result: Any, repeats: Any, axis: Any = None) -> Matrix | None:
    if axis is None or not isinstance(repeats, int | np.integer) or repeats < 1:
        return None
    factors = [1, 1, 1]
    factors[axis] = int(repeats)
    return scale_and_shift(1 / factors[1], 0, 1 / factors[0], 0)


# OpenCV, when it is imported


def _wrap_opencv(cv2: ModuleType) -> None:
    for name in opencv.SAME_PLACE:
        _follow(cv2, name, _same)
    for name in opencv.NO_MATRIX:
        _follow(cv2, name, _nowhere)
    for name, step in opencv.STEPS.items():
        _follow(cv2, name, step)


class _OpenCVFinder(importlib.abc.MetaPathFinder):
    """Wraps OpenCV as soon as it is imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "cv2":
            return None
        finders = (finder for finder in sys.meta_path if finder is not self)
        found = (
            finder.find_spec(fullname, path, target) for finder in finders if hasattr(finder, "find_spec")
        )
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            _wrap_when_loaded(spec.loader)
        return spec


def _wrap_when_loaded(loader: Any) -> None:
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        run(module)
        _wrap_opencv(sys.modules.get("cv2", module))

    loader.exec_module = exec_module


# matplotlib


def _wrap_matplotlib() -> None:
    """Remember what each image on axes was made of, and where it was drawn last."""
    from matplotlib.image import _ImageBase

    _wrap_function(_ImageBase, "set_data", after_set_data)
    _wrap_function(_ImageBase, "draw", after_draw)
