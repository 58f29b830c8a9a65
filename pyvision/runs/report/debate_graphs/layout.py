"""Where the boxes of a graph go on a page: rows by distance from the best connected one, no two overlapping."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

GAP_X, GAP_Y, MARGIN = 70, 76, 24
_WIDEST = 980  # pixels; a row that would be wider is broken


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels from the top left: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2

    def border(self, x: float, y: float) -> tuple[float, float]:
        """Where the line from the centre to a point leaves the box; the centre itself for a point inside."""
        centre_x, centre_y = self.centre
        way_x, way_y = x - centre_x, y - centre_y
        reach = max(abs(way_x) / (self.width / 2), abs(way_y) / (self.height / 2))
        if reach <= 1:
            return self.centre
        return centre_x + way_x / reach, centre_y + way_y / reach


def arrange(sizes: Sequence[tuple[float, float]], links: Sequence[tuple[int, int]]) -> tuple[Box, ...]:
    """A box for each size (width, height), by its place; links join places, and what is linked comes near."""
    neighbours = _neighbours(len(sizes), links)
    boxes: dict[int, Box] = {}
    top = float(MARGIN)
    for row in _broken(_rows(neighbours), sizes):
        row.sort(key=lambda place: _pull(place, neighbours, boxes))
        left = float(MARGIN)
        for place in row:
            width, height = sizes[place]
            boxes[place] = Box(left, top, width, height)
            left += width + GAP_X
        top += max(sizes[place][1] for place in row) + GAP_Y
    return _center(boxes)


def _neighbours(count: int, links: Sequence[tuple[int, int]]) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(count)]
    for start, end in links:
        if start != end:
            found[start].add(end)
            found[end].add(start)
    return found


def _rows(neighbours: list[set[int]]) -> list[list[int]]:
    """Each connected part as rows by distance; parts of one box share rows at the end."""
    rows: list[list[int]] = []
    single: list[int] = []
    seen: set[int] = set()
    for start in sorted(range(len(neighbours)), key=lambda place: -len(neighbours[place])):
        if start in seen:
            continue
        seen.add(start)
        if not neighbours[start]:
            single.append(start)
            continue
        rows += _part(start, neighbours, seen)
    return [*rows, single] if single else rows


def _part(start: int, neighbours: list[set[int]], seen: set[int]) -> list[list[int]]:
    rows: list[list[int]] = []
    waiting = deque([(start, 0)])
    while waiting:
        place, depth = waiting.popleft()
        if depth == len(rows):
            rows.append([])
        rows[depth].append(place)
        for near in sorted(neighbours[place] - seen):
            seen.add(near)
            waiting.append((near, depth + 1))
    return rows


def _broken(rows: list[list[int]], sizes: Sequence[tuple[float, float]]) -> list[list[int]]:
    broken: list[list[int]] = []
    for row in rows:
        width = float(_WIDEST)
        for place in row:
            width += sizes[place][0] + GAP_X
            if width > _WIDEST:
                broken.append([])
                width = sizes[place][0]
            broken[-1].append(place)
    return broken


def _pull(place: int, neighbours: list[set[int]], boxes: dict[int, Box]) -> float:
    """The mean position of the neighbours that have one."""
    placed = [boxes[near].centre[0] for near in neighbours[place] if near in boxes]
    return sum(placed) / len(placed) if placed else 0.0


def _center(boxes: dict[int, Box]) -> tuple[Box, ...]:
    """Every row in the middle of the widest."""
    rights: dict[float, float] = {}
    for box in boxes.values():
        rights[box.y] = max(rights.get(box.y, 0.0), box.x + box.width)
    widest = max(rights.values(), default=0.0)
    return tuple(
        Box(box.x + (widest - rights[box.y]) / 2, box.y, box.width, box.height)
        for box in (boxes[place] for place in range(len(boxes)))
    )
