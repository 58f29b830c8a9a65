"""Boxes of whole pixels that cover an area once, and an equal area elsewhere in the image.

A box is (left, top, right, bottom) in pixels from the top left corner; right and bottom are outside of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

PixelBox: TypeAlias = tuple[int, int, int, int]


def cover(boxes: Iterable[Sequence[float]], size: tuple[int, int]) -> tuple[PixelBox, ...]:
    """Disjoint boxes that cover the same pixels within the image: a pixel touched by a box counts as covered."""
    whole = [_whole(box, size) for box in boxes if box[0] < box[2] and box[1] < box[3]]
    return tuple(_join_rows(_rows(whole, size, inside=True)))


def complement(boxes: Sequence[PixelBox], size: tuple[int, int]) -> tuple[PixelBox, ...]:
    """Disjoint boxes that cover all other pixels of the image."""
    return tuple(_join_rows(_rows(boxes, size, inside=False)))


def area(boxes: Iterable[PixelBox]) -> int:
    """How many pixels disjoint boxes cover."""
    return sum((right - left) * (bottom - top) for left, top, right, bottom in boxes)


def elsewhere(
    boxes: Sequence[PixelBox], size: tuple[int, int], chance: random.Random
) -> tuple[PixelBox, ...] | None:
    """Disjoint boxes of the same total area outside of the given disjoint ones, at random places.

    A box keeps its shape where there is space for it, and is divided where there is none. None if the rest of the image
    is smaller than the area.
    """
    free = list(complement(boxes, size))
    if area(free) < area(boxes):
        return None
    waiting = sorted((_extent(box) for box in boxes), key=lambda extent: extent[0] * extent[1])
    placed: list[PixelBox] = []
    while waiting:
        width, height = waiting.pop()
        box, rest = _place((width, height), free, chance)
        placed.append(box)
        waiting += rest
    return tuple(placed)


def _place(
    extent: tuple[int, int], free: list[PixelBox], chance: random.Random
) -> tuple[PixelBox, list[tuple[int, int]]]:
    """A place for as much of the extent as fits into one free box, and what is left of it; `free` shrinks."""
    width, height = extent

    def fitting(space: PixelBox) -> int:
        across, down = _extent(space)
        return min(width, across) * min(height, down)

    most = max(map(fitting, free))
    weights = [area([space]) if fitting(space) == most else 0 for space in free]
    space = free.pop(chance.choices(range(len(free)), weights)[0])
    across, down = (min(one, other) for one, other in zip(extent, _extent(space), strict=True))
    left = chance.randint(space[0], space[2] - across)
    top = chance.randint(space[1], space[3] - down)
    box = left, top, left + across, top + down
    free += _around(box, space)
    rest = [(width - across, height), (across, height - down)]
    return box, [each for each in rest if min(each) > 0]


def _around(box: PixelBox, space: PixelBox) -> list[PixelBox]:
    """The rest of a space without a box in it."""
    left, top, right, bottom = box
    rest = [
        (space[0], space[1], space[2], top),
        (space[0], top, left, bottom),
        (right, top, space[2], bottom),
        (space[0], bottom, space[2], space[3]),
    ]
    return [each for each in rest if min(_extent(each)) > 0]


def _extent(box: PixelBox) -> tuple[int, int]:
    return box[2] - box[0], box[3] - box[1]


def _whole(box: Sequence[float], size: tuple[int, int]) -> PixelBox:
    left, top, right, bottom = box
    return (
        max(0, math.floor(left)),
        max(0, math.floor(top)),
        min(size[0], math.ceil(right)),
        min(size[1], math.ceil(bottom)),
    )


def _rows(boxes: Sequence[PixelBox], size: tuple[int, int], *, inside: bool) -> Iterator[PixelBox]:
    """The image in rows between the edges of the boxes, each divided into what is covered and what is not."""
    edges = sorted(
        {0, size[1], *(edge for box in boxes for edge in (box[1], box[3]) if 0 <= edge <= size[1])}
    )
    for top, bottom in pairwise(edges):
        spans = sorted((box[0], box[2]) for box in boxes if box[1] <= top and bottom <= box[3])
        at = 0
        for left, right in _merge(spans):
            if inside:
                yield left, top, right, bottom
            elif at < left:
                yield at, top, left, bottom
            at = right
        if not inside and at < size[0]:
            yield at, top, size[0], bottom


def _merge(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that overlap or touch as one; they come in order."""
    current: tuple[int, int] | None = None
    for left, right in spans:
        if left >= right:
            continue
        if current and left <= current[1]:
            current = current[0], max(current[1], right)
            continue
        if current:
            yield current
        current = left, right
    if current:
        yield current


def _join_rows(boxes: Iterable[PixelBox]) -> Iterator[PixelBox]:
    """Boxes with the same sides that lie directly below each other as one."""
    open_boxes: dict[tuple[int, int], PixelBox] = {}
    for left, top, right, bottom in boxes:
        above = open_boxes.get((left, right))
        if above and above[3] == top:
            open_boxes[left, right] = left, above[1], right, bottom
            continue
        if above:
            yield above
        open_boxes[left, right] = left, top, right, bottom
    yield from open_boxes.values()
