"""Find the pixels of an image unchanged in another one: in any orientation, as RGB, BGR or grey.

Covered: two places, or an image that looks the same when it is mirrored or turned, count as not found.
Not covered: images of other sizes or colours, which are not unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from PIL import Image

from .affine import Matrix, compose, scale_and_shift

_Pixels: TypeAlias = "np.ndarray[Any, Any]"
_LEAST_SIDE = 8
_MAX_PLACES = 8  # at which the row occurs that is looked for
_SWAPPED: Matrix = (0.0, 1.0, 0.0, 1.0, 0.0, 0.0)
_asarray = np.asarray  # before it is wrapped


class AmbiguousError(Exception):
    """The pixels fit in more than one place or orientation."""


def find_unchanged(pixels: _Pixels, original: Image.Image) -> Matrix | None:
    """The matrix to the one place of the original that holds exactly these pixels; None if there is none.

    Raises AmbiguousError if there are several, or if the image looks the same when it is mirrored or turned.
    """
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if min(pixels.shape[:2]) < _LEAST_SIDE or (pixels.ndim == 3 and pixels.shape[2] != 3):
        return None
    if max(pixels.shape[:2]) > max(original.size) or min(pixels.shape[:2]) > min(original.size):
        return None
    there = _asarray(original.convert("L" if pixels.ndim == 2 else "RGB"))
    found: Matrix | None = None
    for match in _matches(pixels, there):
        if found is not None and match != found:
            raise AmbiguousError
        found = match
    return found


def _matches(pixels: _Pixels, there: _Pixels) -> Iterator[Matrix]:
    """In the original as it is and transposed; each of them in both orders of the channels."""
    row = _most_varied_row(pixels)
    if row is None:
        return
    for swapped in (False, True):
        rows = np.ascontiguousarray(there.swapaxes(0, 1) if swapped else there)
        data = rows.tobytes()
        for needle in (pixels, pixels[:, :, ::-1]) if pixels.ndim == 3 else (pixels,):
            for match in _matches_along_rows(needle, row, rows, data):
                yield compose(_SWAPPED, match) if swapped else match


def _matches_along_rows(pixels: _Pixels, row: int, there: _Pixels, data: bytes) -> Iterator[Matrix]:
    """Places where the rows of the image are rows of the other one, forwards or backwards, up or down."""
    height, width = pixels.shape[:2]
    for x_flip in (False, True):
        line = pixels[row, ::-1] if x_flip else pixels[row]
        for x, y in _places(line.tobytes(), there, data):
            for y_flip in (False, True):
                top = y - (height - 1 - row) if y_flip else y - row
                if not 0 <= top <= there.shape[0] - height:
                    continue
                part = there[top : top + height, x : x + width]
                part = part[::-1] if y_flip else part
                part = part[:, ::-1] if x_flip else part
                if np.array_equal(part, pixels):
                    x_step, y_step = -1 if x_flip else 1, -1 if y_flip else 1
                    yield scale_and_shift(x_step, x + width * x_flip, y_step, top + height * y_flip)


def _most_varied_row(pixels: _Pixels) -> int | None:
    """The row with the most changes from pixel to pixel; None if every row has one colour."""
    changes = (pixels[:, 1:] != pixels[:, :-1]).reshape(len(pixels), -1).sum(axis=1)
    row = int(changes.argmax())
    return row if changes[row] else None


def _places(line: bytes, there: _Pixels, data: bytes) -> list[tuple[int, int]]:
    """Columns and rows at which a line of pixels occurs. Raises AmbiguousError if there are too many to compare."""
    depth = there[0, 0].size
    row_bytes = there.shape[1] * depth
    found: list[tuple[int, int]] = []
    at = data.find(line)
    while at >= 0:
        y, x = divmod(at, row_bytes)
        if x % depth == 0 and x + len(line) <= row_bytes:
            found.append((x // depth, y))
        if len(found) > _MAX_PLACES:
            raise AmbiguousError
        at = data.find(line, at + 1)
    return found
