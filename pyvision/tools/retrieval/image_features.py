"""Describe a picture by its looks: two hashes that tell copies, a descriptor that tells likeness.

All is computed from the picture scaled down to 128 pixels on its longer side.

* dhash, 64 bits: the grey picture averaged into 9 columns and 8 rows; a bit for each pair of neighbours in a row,
  set when the right one is lighter by more than 2 of 255 levels (the difference hash of N. Krawetz,
  hackerfactor.com, 2013, with a margin, so that even areas stay 0 after they went through JPEG).
* phash, 64 bits: the grey picture averaged into 32x32, its discrete cosine transform, the 8x8 lowest frequencies; a
  bit is set when the coefficient exceeds their median by more than 16 (the DCT hash described there in 2011, with
  a margin for the same reason). The constant one is left out, its bit is 0.
* descriptor, 295 numbers, none negative, of length 1: three parts, each the roots of shares, weighted. Colours: a
  histogram of 4x4x4 cells of RGB, each pixel shared among its neighbours. Places: the mean colour of 5x5 fields and
  what it lacks of white. Gradients: in 3x3 fields, 8 orientations without direction weighted by magnitude, and how
  even the field is. A white border is cut off before, so that a drawing is like its crop. The dot product of two
  descriptors is 0 to 1.

Not covered: turned, mirrored and strongly cropped copies; what a picture means: two photos of one thing from two
sides are no more alike than others. A network can stand in for the descriptor (describers.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from pyvision.images.pixels import file_hash, pixels
from pyvision.tools.retrieval.entries import ImageFeatures
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy import bool_, float32, float64, uint8
    from numpy.typing import NDArray

DESCRIPTOR_LENGTH = 4**3 + 5 * 5 * 6 + 3 * 3 * 9
SIDE_PX = 128
_RISE = 2.0  # levels of 255
_COEFFICIENT = 16.0  # of an orthonormal transform of levels, whose largest is 32 * 255
_WHITE = 235  # of 255 levels in each channel, at least
_EVENNESS = 4.0  # levels from one pixel to the next: a field of this mean magnitude is half even
_WEIGHTS = (0.4, 0.3, 0.3)  # colours, places, gradients


def features_of(
    picture: Picture, describe: Callable[[Picture], NDArray[float32]] | None = None
) -> ImageFeatures:
    """How a picture looks; its vector by `describe`, else the descriptor. Raises ImageError."""
    from numpy import array, float16

    small = pixels(picture, SIDE_PX)
    grey = small @ array((0.299, 0.587, 0.114))
    return ImageFeatures(
        file_hash(picture),
        picture.width,
        picture.height,
        _pack(_dhash(grey)),
        _pack(_phash(grey)),
        (describe(picture) if describe else descriptor_of(small)).astype(float16).tobytes(),
    )


def descriptor_of(small: NDArray[uint8]) -> NDArray[float32]:
    """The descriptor of rows of RGB pixels: `DESCRIPTOR_LENGTH` numbers."""
    from numpy import concatenate, float32, sqrt
    from numpy.linalg import norm

    inner = _without_border(small)
    parts = (_colours(inner), _places(inner), _gradients(inner))
    whole = concatenate(
        [sqrt(weight * part / part.sum()) for weight, part in zip(_WEIGHTS, parts, strict=True)]
    )
    found: NDArray[float32] = (whole / norm(whole)).astype(float32)
    return found


def _dhash(grey: NDArray[float64]) -> NDArray[bool_]:
    fields = _average(grey, 8, 9)
    bits: NDArray[bool_] = fields[:, 1:] - fields[:, :-1] > _RISE
    return bits


def _phash(grey: NDArray[float64]) -> NDArray[bool_]:
    from numpy import median

    waves = _cosines()
    low = waves @ _average(grey, 32, 32) @ waves.T
    bits: NDArray[bool_] = low > median(low.ravel()[1:]) + _COEFFICIENT
    bits[0, 0] = False
    return bits


@cache
def _cosines() -> NDArray[float64]:
    """The 8 lowest rows of the orthonormal cosine transform of 32 values (DCT-II)."""
    from numpy import arange, cos, pi, sqrt

    rows: NDArray[float64] = cos(pi / 32 * (arange(32) + 0.5) * arange(8)[:, None]) * sqrt(2 / 32)
    rows[0] /= sqrt(2)
    return rows


def _pack(bits: NDArray[bool_]) -> bytes:
    from numpy import packbits

    return packbits(bits.ravel()).tobytes()


def _average(values: NDArray[float64], rows: int, columns: int) -> NDArray[float64]:
    """The means of rows x columns fields of equal size; a pixel on a seam counts in both by its share."""
    from numpy import tensordot

    across = tensordot(_shares(values.shape[0], rows), values, axes=(1, 0))
    found: NDArray[float64] = tensordot(_shares(values.shape[1], columns), across, axes=(1, 1)).swapaxes(0, 1)
    return found


@cache
def _shares(size: int, fields: int) -> NDArray[float64]:
    """fields x size: how much each of `size` pixels in a row counts in the mean of each field."""
    from numpy import arange, clip, minimum

    edges = arange(fields + 1) * size / fields
    pixel = arange(size)
    inside = minimum(pixel + 1, edges[1:, None]) - clip(pixel, edges[:-1, None], None)
    shares: NDArray[float64] = clip(inside, 0, None) * fields / size
    return shares


def _without_border(small: NDArray[uint8]) -> NDArray[uint8]:
    """What is left when white rows and columns at the edges are cut off; all where hardly anything is.

    Borders of other colours stay: the outer stripes of a flag belong to it.
    """
    from numpy import flatnonzero

    is_ink = small.min(axis=2) < _WHITE
    rows, columns = flatnonzero(is_ink.any(axis=1)), flatnonzero(is_ink.any(axis=0))
    if len(rows) < 4 or len(columns) < 4:
        return small
    return small[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _colours(small: NDArray[uint8]) -> NDArray[float64]:
    from numpy import einsum

    red, green, blue = (_cells()[small[..., channel].ravel()] for channel in range(3))
    pairs = einsum("pr,pg->rgp", red, green).reshape(16, -1)
    found: NDArray[float64] = (pairs @ blue).ravel()
    return found


@cache
def _cells() -> NDArray[float64]:
    """256 x 4: how a level is shared between the two cells next to it; the centre of cell k is at k * 85."""
    from numpy import abs as distance
    from numpy import arange, clip

    shares: NDArray[float64] = clip(1 - distance(arange(256)[:, None] / 85 - arange(4)), 0, None)
    return shares


def _places(small: NDArray[uint8]) -> NDArray[float64]:
    from numpy import concatenate

    fields = _average(small / 255, 5, 5).clip(0, 1)
    found: NDArray[float64] = concatenate([fields.ravel(), 1 - fields.ravel()])
    return found


def _gradients(small: NDArray[uint8]) -> NDArray[float64]:
    from numpy import arctan2, array, concatenate, full, hypot, indices, pad, pi, zeros

    grey = pad(small @ array((0.299, 0.587, 0.114)), 1, mode="edge")
    right, down = grey[1:-1, 2:] - grey[1:-1, :-2], grey[2:, 1:-1] - grey[:-2, 1:-1]
    angle, magnitude = arctan2(down, right) % pi * (8 / pi), hypot(right, down) / 2
    low = angle.astype(int) % 8
    share = angle % 1
    shares, rows, columns = zeros((*low.shape, 8)), *indices(low.shape, sparse=True)
    shares[rows, columns, low] = magnitude * (1 - share)
    shares[rows, columns, (low + 1) % 8] = magnitude * share
    fields = _average(shares, 3, 3)
    even = full((3, 3, 1), _EVENNESS)
    found = concatenate([fields, even], axis=2)
    shares_of_fields: NDArray[float64] = found / found.sum(axis=2, keepdims=True)
    return shares_of_fields.ravel()
