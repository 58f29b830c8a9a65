"""Where OpenCV's functions move the pixels of an image: a matrix from the result back to the first argument.

OpenCV's transforms are between the indices of pixels, which lie in their centres. Options have OpenCV's own names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .affine import Matrix, from_pixel_indices, invert, scale_and_shift
from .registry import size_of

# (first argument, result, other arguments) -> matrix from the result to the first argument; None if there is none
Step = Callable[..., Matrix | None]

SAME_PLACE = (
    "GaussianBlur", "LUT", "Canny", "Laplacian", "Scharr", "Sobel", "absdiff", "adaptiveThreshold", "add",
    "addWeighted", "applyColorMap", "bilateralFilter", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
    "blur", "boxFilter", "convertScaleAbs", "cvtColor", "detailEnhance", "dilate", "divide", "equalizeHist", "erode",
    "fastNlMeansDenoising", "fastNlMeansDenoisingColored", "filter2D", "inRange", "max", "medianBlur", "min",
    "morphologyEx", "multiply", "normalize", "sepFilter2D", "subtract", "threshold",
)  # fmt: skip
NO_MATRIX = ("linearPolar", "logPolar", "remap", "undistort", "warpPerspective", "warpPolar")


def _resize(source: Any, result: Any, dsize: Any = None, *arguments: Any, **options: Any) -> Matrix:
    given = dict(zip(("dst", "fx", "fy", "interpolation"), arguments, strict=False)) | options
    (width, height), (new_width, new_height) = size_of(source), size_of(result)
    if dsize is not None and all(dsize):
        x_scale, y_scale = width / new_width, height / new_height
    else:
        x_scale, y_scale = 1 / given["fx"], 1 / given["fy"]
    if given.get("interpolation") == 0:  # INTER_NEAREST takes the first pixel of several, not the middle one
        x_shift, y_shift = (0.5 * (1 - max(scale, 1)) for scale in (x_scale, y_scale))
        return scale_and_shift(x_scale, x_shift, y_scale, y_shift)
    return scale_and_shift(x_scale, 0, y_scale, 0)


def _flip(source: Any, _: Any, flipCode: int, *__: Any, **___: Any) -> Matrix:  # noqa: N803 - the name in OpenCV
    width, height = size_of(source)
    x_flip, y_flip = flipCode != 0, flipCode <= 0
    return scale_and_shift(-1 if x_flip else 1, width * x_flip, -1 if y_flip else 1, height * y_flip)


def _rotate(source: Any, _: Any, rotateCode: int, *__: Any, **___: Any) -> Matrix | None:  # noqa: N803
    width, height = size_of(source)
    return {0: (0, 1, 0, -1, 0, height), 1: (-1, 0, width, 0, -1, height), 2: (0, -1, width, 1, 0, 0)}.get(
        rotateCode
    )


def _rectangle(source: Any, result: Any, patchSize: Any, center: Any, *_: Any, **__: Any) -> Matrix:  # noqa: N803
    width, height = size_of(result)
    return scale_and_shift(1, center[0] - (width - 1) / 2, 1, center[1] - (height - 1) / 2)


def _warp_affine(_: Any, __: Any, *arguments: Any, **options: Any) -> Matrix:
    given = dict(zip(("M", "dsize", "dst", "flags"), arguments, strict=False)) | options
    a, b, c, d, e, f = (float(number) for number in np.asarray(given["M"]).reshape(-1))
    is_inverse = given.get("flags", 1) & 16  # WARP_INVERSE_MAP
    return from_pixel_indices((a, b, c, d, e, f) if is_inverse else invert((a, b, c, d, e, f)))


STEPS: dict[str, Step] = {
    "copyMakeBorder": lambda _, __, top, bottom, left, *___, **____: scale_and_shift(1, -left, 1, -top),
    "flip": _flip,
    "getRectSubPix": _rectangle,
    "pyrDown": lambda *_, **__: from_pixel_indices(scale_and_shift(2, 0, 2, 0)),
    "pyrUp": lambda *_, **__: from_pixel_indices(scale_and_shift(0.5, 0, 0.5, 0)),
    "resize": _resize,
    "rotate": _rotate,
    "transpose": lambda *_, **__: (0, 1, 0, 1, 0, 0),
    "warpAffine": _warp_affine,
}
