"""Draw the difference between two graphs as SVG: additions green, pruned parts red and dashed, updates orange.

Each change also has a sign, for readers who cannot tell the colours apart. The boxes stand in rows by their distance
from the node with most connections, and no two overlap. The SVG needs no other file and runs no script; text that a
model wrote is escaped.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from pyvision.strategies.bdog.graphs import Changed, Edge, GraphDifference, GraphNode
from pyvision.strategies.bdog.graphs.graph import ChangeKind

INK: dict[ChangeKind, str] = {
    "kept": "#444444",
    "updated": "#b35c00",
    "pruned": "#b3261e",
    "added": "#1b7a3d",
}
FILL: dict[ChangeKind, str] = {
    "kept": "#f6f6f6",
    "updated": "#fff1dc",
    "pruned": "#fdecea",
    "added": "#e6f5ea",
}
SIGN: dict[ChangeKind, str] = {"kept": "", "updated": "~ ", "pruned": "− ", "added": "+ "}
_CHARACTER, _LINE, _PADDING = 7.4, 17.0, 9.0  # pixels at the font size below
_MAX_CHARS, _MAX_LINES = 34, 12  # characters of a line, lines of a box
_UNPRINTABLE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
    'height="{height:.0f}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12" role="img">'
)
_TEXT = '<text x="{x:.1f}" y="{y:.1f}" fill="{ink}"{more}>{text}</text>'
_HALO = ' text-anchor="middle" paint-order="stroke" stroke="#ffffff" stroke-width="4"'
_GAP_X, _GAP_Y, _MARGIN = 70, 76, 24
_ARROW = 28  # pixels of a line that its label leaves visible
_MAX_WIDTH = 980  # pixels; a wider row is wrapped


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle in pixels from the top left: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2

    def border(self, x: float, y: float) -> tuple[float, float]:
        """Where the line from the centre to a point leaves the box; the centre if the point is inside."""
        centre_x, centre_y = self.centre
        dx, dy = x - centre_x, y - centre_y
        reach = max(abs(dx) / (self.width / 2), abs(dy) / (self.height / 2))
        if reach <= 1:
            return self.centre
        return centre_x + dx / reach, centre_y + dy / reach


@dataclass(frozen=True, slots=True)
class _Card:
    """The text of one box: lines with their changes, the name first."""

    change: ChangeKind
    lines: tuple[tuple[ChangeKind, str], ...]

    @property
    def size(self) -> tuple[float, float]:
        longest = max(len(text) for _, text in self.lines)
        return longest * _CHARACTER + 2 * _PADDING, len(self.lines) * _LINE + 2 * _PADDING


@dataclass(frozen=True, slots=True)
class _Line:
    """A relation between two boxes, given by index; `bend` counts those between the same two boxes."""

    start: int
    end: int
    change: ChangeKind
    text: str
    bend: int


def draw(changed: GraphDifference) -> str:
    """Both graphs in one picture, as the text of an SVG file."""
    cards = [_card(entity, changed) for entity in changed.entities]
    lines = _lines(changed)
    boxes = arrange([card.size for card in cards], [(line.start, line.end) for line in lines])
    labels = _Labels()
    drawn = [_relation(line, boxes, labels) for line in lines]
    drawn += [_box(card, box) for card, box in zip(cards, boxes, strict=True)]
    width = max([box.x + box.width for box in boxes] + [labels.right, 220]) + _MARGIN
    height = max([box.y + box.height for box in boxes] + [labels.bottom, 40]) + _MARGIN
    head = _HEAD.format(width=width, height=height) + '<rect width="100%" height="100%" fill="#ffffff"/>'
    empty = "" if cards else _TEXT.format(x=_MARGIN, y=40, ink=INK["kept"], more="", text="(an empty graph)")
    return "\n".join([head, empty, *drawn, *labels.drawn, "</svg>\n"])


def arrange(sizes: Sequence[tuple[float, float]], links: Sequence[tuple[int, int]]) -> tuple[Rectangle, ...]:
    """A box for each (width, height), in the same order. links: pairs of indices; linked boxes are placed close."""
    neighbours = _neighbours(len(sizes), links)
    boxes: dict[int, Rectangle] = {}
    top = float(_MARGIN)
    for row in _wrap(_rows(neighbours), sizes):
        row.sort(key=lambda place: _mean_position(place, neighbours, boxes))
        left = float(_MARGIN)
        for place in row:
            width, height = sizes[place]
            boxes[place] = Rectangle(left, top, width, height)
            left += width + _GAP_X
        top += max(sizes[place][1] for place in row) + _GAP_Y
    return _center(boxes)


def _card(entity: Changed[GraphNode], changed: GraphDifference) -> _Card:
    node = entity.item
    name = node.name
    if entity.before and entity.after and entity.before.name != name and entity.change == "updated":
        name = f"{entity.before.name} → {name}"
    lines = [(entity.change, SIGN[entity.change] + name), *_attribute_lines(entity, changed)]
    if len(lines) > _MAX_LINES:
        lines = [*lines[: _MAX_LINES - 1], ("kept", f"… {len(lines) - _MAX_LINES + 1} more")]
    return _Card(entity.change, tuple((change, _short(text)) for change, text in lines))


def _attribute_lines(entity: Changed[GraphNode], changed: GraphDifference) -> list[tuple[ChangeKind, str]]:
    if entity.before is None or entity.after is None:
        return [
            (entity.change, f"  {_format_attribute(name, value)}") for name, value in entity.item.attributes
        ]
    ends = entity.before.id, entity.after.id
    return [
        (each.change, f"  {SIGN[each.change]}{_attribute_change(each)}")
        for each in changed.attributes
        if (each.before is not None and each.before[0] == ends[0])
        or (each.after is not None and each.after[0] == ends[1])
    ]


def _attribute_change(each: Changed[tuple[str, str, str]]) -> str:
    _, name, value = each.item
    if each.change == "updated" and each.before:
        return f"{name}: {each.before[2]} → {value}"
    return _format_attribute(name, value)


def _format_attribute(name: str, value: str) -> str:
    return name if value == "true" else f"{name}: {value}"


def _lines(changed: GraphDifference) -> list[_Line]:
    before = {e.before.id: place for place, e in enumerate(changed.entities) if e.before}
    after = {e.after.id: place for place, e in enumerate(changed.entities) if e.after}
    bends: Counter[frozenset[int]] = Counter()
    lines = []
    for each in changed.relations:
        places = before if each.after is None else after
        start, end = places[each.item.source], places[each.item.target]
        ends = frozenset((start, end))
        lines.append(_Line(start, end, each.change, SIGN[each.change] + _relation_text(each), bends[ends]))
        bends[ends] += 1
    return lines


def _relation_text(each: Changed[Edge]) -> str:
    if each.change == "updated" and each.before and each.after:
        return f"{each.before.relation} → {each.after.relation}"
    return each.item.relation


class _Labels:
    """The labels of the lines: each moves down until it overlaps no other."""

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.right = self.bottom = 0.0
        self._taken: list[Rectangle] = []

    def place(self, x: float, y: float, line: _Line) -> None:
        text = _short(line.text)
        width = len(text) * _CHARACTER
        while any(abs(x - t.x) < (width + t.width) / 2 and abs(y - t.y) < t.height for t in self._taken):
            y += _LINE * 0.8
        self._taken.append(Rectangle(x, y, width, _LINE * 0.8))
        self.right, self.bottom = max(self.right, x + width / 2), max(self.bottom, y)
        self.drawn.append(_TEXT.format(x=x, y=y, ink=INK[line.change], more=_HALO, text=_escape(text)))


def _relation(line: _Line, boxes: tuple[Rectangle, ...], labels: _Labels) -> str:
    """A curve from box to box with its label in the middle and an arrow head at its end."""
    start, end = boxes[line.start], boxes[line.end]
    bend = _bend(line, start, end)
    (x1, y1), (x2, y2) = start.centre, end.centre
    middle_x, middle_y = (x1 + x2) / 2 + bend[0], (y1 + y2) / 2 + bend[1]
    x1, y1 = start.border(middle_x, middle_y)
    x2, y2 = end.border(middle_x, middle_y)
    if line.start == line.end:
        x1, y1, x2, y2 = (
            start.x + start.width,
            start.y + 10,
            start.x + start.width,
            start.y + start.height - 8,
        )
        middle_x, middle_y = start.x + start.width + 60, start.centre[1]
    labels.place((x1 + 2 * middle_x + x2) / 4, (y1 + 2 * middle_y + y2) / 4 + 4, line)
    dashed = ' stroke-dasharray="5 4"' if line.change == "pruned" else ""
    path = f"M{x1:.1f},{y1:.1f} Q{middle_x:.1f},{middle_y:.1f} {x2:.1f},{y2:.1f}"
    ink = INK[line.change]
    return (
        f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="1.4"{dashed}/>'
        f'<path d="{_head(x2, y2, x2 - middle_x, y2 - middle_y)}" fill="{ink}"/>'
    )


def _bend(line: _Line, start: Rectangle, end: Rectangle) -> tuple[float, float]:
    """How far the middle of the curve lies off the straight line, to clear boxes, labels and parallel lines."""
    twin = (line.bend + 1) // 2 * 44 * (1 if line.bend % 2 else -1)
    if start.y == end.y:
        between = abs(start.centre[0] - end.centre[0])
        free = between - start.width / 2 - end.width / 2
        far = free > 90 or free < len(_short(line.text)) * _CHARACTER + _ARROW  # or no room for the label
        return 0.0, (start.height + 60 if far else 0) + twin
    return float(twin), 0.0


def _head(x: float, y: float, dx: float, dy: float) -> str:
    """An arrow head at a point, for a line that arrives in this direction."""
    length = (dx**2 + dy**2) ** 0.5 or 1.0
    along_x, along_y = dx / length * 8, dy / length * 8
    left = f"{x - along_x - along_y / 2:.1f},{y - along_y + along_x / 2:.1f}"
    right = f"{x - along_x + along_y / 2:.1f},{y - along_y - along_x / 2:.1f}"
    return f"M{x:.1f},{y:.1f} L{left} L{right} Z"


def _box(card: _Card, box: Rectangle) -> str:
    dashed = ' stroke-dasharray="5 4"' if card.change == "pruned" else ""
    parts = [
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="5" '
        f'fill="{FILL[card.change]}" stroke="{INK[card.change]}" stroke-width="1.4"{dashed}/>'
    ]
    for number, (change, text) in enumerate(card.lines):
        y = box.y + _PADDING + _LINE * (number + 0.75)
        struck = ' text-decoration="line-through"' if change == "pruned" else ""
        bold = ' font-weight="bold"' if number == 0 else ""
        more = f'{bold}{struck} xml:space="preserve"'
        parts.append(_TEXT.format(x=box.x + _PADDING, y=y, ink=INK[change], more=more, text=_escape(text)))
    return "".join(parts)


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def _escape(text: str) -> str:
    return escape(_UNPRINTABLE.sub("\ufffd", text))


def _neighbours(count: int, links: Sequence[tuple[int, int]]) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(count)]
    for start, end in links:
        if start != end:
            found[start].add(end)
            found[end].add(start)
    return found


def _rows(neighbours: list[set[int]]) -> list[list[int]]:
    """Each connected component as rows by distance; single boxes share the last rows."""
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
        rows += _component(start, neighbours, seen)
    return [*rows, single] if single else rows


def _component(start: int, neighbours: list[set[int]], seen: set[int]) -> list[list[int]]:
    rows: list[list[int]] = []
    queue = deque([(start, 0)])
    while queue:
        place, depth = queue.popleft()
        if depth == len(rows):
            rows.append([])
        rows[depth].append(place)
        for near in sorted(neighbours[place] - seen):
            seen.add(near)
            queue.append((near, depth + 1))
    return rows


def _wrap(rows: list[list[int]], sizes: Sequence[tuple[float, float]]) -> list[list[int]]:
    wrapped: list[list[int]] = []
    for row in rows:
        width = float(_MAX_WIDTH)
        for place in row:
            width += sizes[place][0] + _GAP_X
            if width > _MAX_WIDTH:
                wrapped.append([])
                width = sizes[place][0]
            wrapped[-1].append(place)
    return wrapped


def _mean_position(place: int, neighbours: list[set[int]], boxes: dict[int, Rectangle]) -> float:
    """The mean position of the neighbours that have been placed."""
    placed = [boxes[near].centre[0] for near in neighbours[place] if near in boxes]
    return sum(placed) / len(placed) if placed else 0.0


def _center(boxes: dict[int, Rectangle]) -> tuple[Rectangle, ...]:
    """Centre every row on the widest."""
    rights: dict[float, float] = {}
    for box in boxes.values():
        rights[box.y] = max(rights.get(box.y, 0.0), box.x + box.width)
    widest = max(rights.values(), default=0.0)
    return tuple(
        Rectangle(box.x + (widest - rights[box.y]) / 2, box.y, box.width, box.height)
        for box in (boxes[place] for place in range(len(boxes)))
    )
