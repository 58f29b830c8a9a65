"""Boxes: intersection over union, and whether it reaches a threshold.

`target`: [left, top, right, bottom] in pixels from the top left of the image. An answer without a box scores 0.

* box_iou: the intersection over union as the value (RefCOCO's and RSVG's mean IoU is its mean).
* box_accuracy@T: whether the intersection over union reaches T, above 0 and up to 1; 0.5 if
  omitted.

Flavours
* top-left, and vlmevalkit at thresholds (IoU >= T): the answer counts from the top left, as the target.
* strict: IoU > T, from the top left.
* paper: ViperGPT's and VDebugger's: the answer is [left, lower, right, upper] with y counted up from the bottom left,
  so the target is flipped vertically by `metadata["height"]`, the image's height in pixels; at thresholds IoU > T.

From an answer, the last box in one of these forms is read: [x1, y1, x2, y2] in square or round brackets, two points
(x1, y1), (x2, y2) with or without tags around them, and named sides (x1 and x2, xmin, left and right, x with width).
Four numbers without names are always corners: width and height are never guessed, nor are relative coordinates.
Corners that are not in order make an empty box.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from pyvision.bench.metrics.registry import Metric, numbers_in, target_error, unwrap_box
from pyvision.bench.samples import Sample, Score
from pyvision.errors import ConfigError

Box: TypeAlias = tuple[float, float, float, float]

_N = r"\s*([-+]?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20}))\s*"
_FOUR = re.compile(rf"[\[(]{_N},{_N},{_N},{_N}[\])]", re.ASCII)
_TWO_POINTS = re.compile(rf"[\[(]{_N},{_N}[\])](?:\s|,|;|and|to|-|</?\w+>)*[\[(]{_N},{_N}[\])]", re.ASCII)
_SIDE = re.compile(
    rf"[\"']?\b([a-z]{{1,6}}[_ ]?[a-z0-9]{{0,6}})\b[\"']?\s*[:=]{_N}", re.ASCII | re.IGNORECASE
)
_NAMES: tuple[tuple[str, str, str, str], ...] = (
    ("x1", "y1", "x2", "y2"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("left", "top", "right", "bottom"),
    ("left", "lower", "right", "upper"),
)
_EXTENT = ("x", "y", "width", "height")


def find_box(answer: str) -> Box | None:
    """The four numbers of the last box that the answer gives, in its order, or None."""
    found = sorted((place, box) for place, box in _boxes(unwrap_box(answer)) if all(map(math.isfinite, box)))
    return found[-1][1] if found else None


def _boxes(text: str) -> Iterator[tuple[int, Box]]:
    for pattern in (_FOUR, _TWO_POINTS):
        for match in pattern.finditer(text):
            left, top, right, bottom = map(float, match.groups())
            yield match.start(), (left, top, right, bottom)
    sides = {match[1].lower().replace("_", "").replace(" ", ""): match for match in _SIDE.finditer(text)}
    if box := _name({name: float(match[2]) for name, match in sides.items()}):
        yield min(match.start() for match in sides.values()), box


def _name(sides: Mapping[str, float]) -> Box | None:
    for left, top, right, bottom in _NAMES:
        if sides.keys() >= {left, top, right, bottom}:
            return sides[left], sides[top], sides[right], sides[bottom]
    if sides.keys() >= set(_EXTENT):
        x, y, width, height = (sides[name] for name in _EXTENT)
        return x, y, x + width, y + height
    return None


def overlap(one: Box, other: Box) -> float:
    """Intersection over union, from 0 to 1; 0 when either is empty."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0 or not (_area(one) > 0 and _area(other) > 0):
        return 0.0
    shared = width * height
    return min(1.0, shared / (_area(one) + _area(other) - shared))


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _from_top(sample: Sample) -> Box:
    corners = numbers_in(sample.target, 4)
    if corners is None:
        raise target_error(sample, "a box [left, top, right, bottom] in pixels")
    left, top, right, bottom = corners
    return left, top, right, bottom


def _from_bottom(sample: Sample) -> Box:
    left, top, right, bottom = _from_top(sample)
    height = sample.metadata.get("height")
    if not isinstance(height, int | float) or isinstance(height, bool):
        raise ConfigError(
            f"sample {sample.id!r}: metadata has no height; boxes from the bottom left need the height of the image"
        )
    return left, height - bottom, right, height - top


def iou_metric(truth_of: Callable[[Sample], Box]) -> Metric:
    """A metric whose value is the intersection over union with the truth."""

    def score(answer: str, sample: Sample) -> Score:
        truth, box = truth_of(sample), find_box(answer)
        if box is None:
            return Score(0.0, "no box found")
        value = overlap(box, truth)
        return Score(value, f"IoU {value:.3f}", str(list(box)))

    return score


def threshold_metric(metric: Metric, threshold: float, compare: Callable[[float, float], bool]) -> Metric:
    """A metric that gives 1 when `compare` holds for the value of another metric and the threshold."""

    def score(answer: str, sample: Sample) -> Score:
        found = metric(answer, sample)
        right = found.parsed is not None and compare(found.value or 0.0, threshold)
        return Score(float(right), found.why, found.parsed)

    return score


iou = iou_metric(_from_top)
iou_paper = iou_metric(_from_bottom)


@cache
def accuracy(threshold: float) -> Metric:
    """IoU >= threshold, from the top left."""
    return threshold_metric(iou, threshold, operator.ge)


@cache
def accuracy_strict(threshold: float) -> Metric:
    """IoU > threshold, from the top left."""
    return threshold_metric(iou, threshold, operator.gt)


@cache
def accuracy_paper(threshold: float) -> Metric:
    """IoU > threshold, from the bottom left."""
    return threshold_metric(iou_paper, threshold, operator.gt)
