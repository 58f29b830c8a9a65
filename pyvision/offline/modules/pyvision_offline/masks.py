"""Masks, arrays of True and False: connected components, growing, filling, looking up values."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any  # a numpy array, rows from the top; numpy types what most operations return as Any


def label(mask: Array, *, diagonal: bool = True) -> tuple[Array, int]:
    """Labels 1…n for the connected components of a mask (0 outside), and n; from the runs of its rows."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]  # one past the last pixel of the run
    if not len(rows):
        return np.zeros(mask.shape, np.int32), 0
    span = width + 4
    first_side, last_side = ("left", "right") if diagonal else ("right", "left")  # may corners join two runs?
    first: Array = np.searchsorted(rows * span + ends, (rows + 1) * span + starts, side=first_side)  # type: ignore[call-overload]
    last: Array = np.searchsorted(rows * span + starts, (rows + 1) * span + ends, side=last_side)  # type: ignore[call-overload]
    below = np.maximum(last - first, 0)
    upper = np.repeat(np.arange(len(rows)), below)
    lower = np.arange(below.sum()) - np.repeat(np.cumsum(below) - below, below) + np.repeat(first, below)
    numbers, n = _join_nodes(len(rows), upper, lower)
    labels = np.zeros(mask.shape, np.int32)
    labels[mask.astype(bool)] = np.repeat(numbers + 1, ends - starts)
    return labels, n


def _join_nodes(n: int, left: Array, right: Array) -> tuple[Array, int]:
    """A component number 0…m-1 for each of n nodes that are joined by edges left[i]-right[i], and m."""
    parent = np.arange(n)
    while True:
        a, b = parent[left], parent[right]
        if (a == b).all():
            break
        low = np.minimum(a, b)
        np.minimum.at(parent, a, low)
        np.minimum.at(parent, b, low)
        while (parent[parent] != parent).any():
            parent = parent[parent]
    roots, numbers = np.unique(parent, return_inverse=True)
    return numbers, len(roots)


def boxes(labels: Array, n: int) -> Array:
    """For each of the n components: left, top, right, bottom (both ends inside) and its number of pixels."""
    rows, columns = np.nonzero(labels)
    numbers = labels[rows, columns] - 1
    box = np.empty((n, 5), np.int64)
    box[:, :2] = max(labels.shape)
    box[:, 2:4] = -1
    np.minimum.at(box[:, 0], numbers, columns)
    np.minimum.at(box[:, 1], numbers, rows)
    np.maximum.at(box[:, 2], numbers, columns)
    np.maximum.at(box[:, 3], numbers, rows)
    box[:, 4] = np.bincount(numbers, minlength=n)
    return box


def grow(mask: Array, by: int = 1) -> Array:
    """The mask widened by a number of pixels in all eight directions."""
    for _ in range(by):
        wide = mask.copy()
        wide[1:] |= mask[:-1]
        wide[:-1] |= mask[1:]
        mask = wide.copy()
        mask[:, 1:] |= wide[:, :-1]
        mask[:, :-1] |= wide[:, 1:]
    return mask


def core(mask: Array) -> Array:
    """The pixels of a mask that are not on its border; the blends along an edge have none."""
    return ~grow(np.pad(~mask, 1, constant_values=True))[1:-1, 1:-1]


def fill_holes(mask: Array) -> tuple[Array, int]:
    """The mask with its holes filled, and the number of holes of more than one pixel in a thousand."""
    outside = np.pad(~mask, 1, constant_values=True)
    labels, n = label(outside, diagonal=False)
    sizes = np.bincount(labels.ravel(), minlength=n + 1)
    sizes[0] = sizes[labels[0, 0]] = 0
    return ~(labels == labels[0, 0])[1:-1, 1:-1], int((sizes > max(2, mask.size / 1000)).sum())


def reduce(mask: Array, side: int) -> tuple[Array, int]:
    """The mask with blocks of `factor` pixels merged so that its longer side is at most `side`; the factor."""
    factor = -(-max(mask.shape) // side)
    height, width = (-(-length // factor) for length in mask.shape)
    padded = np.zeros((height * factor, width * factor), bool)
    padded[: mask.shape[0], : mask.shape[1]] = mask
    return padded.reshape(height, factor, width, factor).any(axis=(1, 3)), factor


def lookup(field: Array, points: Array) -> Array:
    """The values of a field at points (x, y), and 0 outside of it."""
    x, y = np.rint(points[..., 0]).astype(int), np.rint(points[..., 1]).astype(int)
    inside = (x >= 0) & (y >= 0) & (x < field.shape[1]) & (y < field.shape[0])
    return np.where(inside, field[y.clip(0, field.shape[0] - 1), x.clip(0, field.shape[1] - 1)], 0)


def stroke_width(mask: Array) -> float:
    """How wide the lines of a mask are, in pixels: twice its area over the length of its border."""
    inner = mask[1:-1, 1:-1] & mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
    return max(1.0, float(2 * mask.sum() / max(1, mask.sum() - inner.sum()) - 1))
