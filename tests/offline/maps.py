"""Seeded drawings made of lines: subway maps with lettered stations, and two lines that cross."""

from __future__ import annotations

import heapq
import random
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.offline.drawings import INKS, PAPERS, contrasting, finish, page, stroke

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

Node = tuple[int, int]
_GRID = 18  # nodes along each side of a map


def subway(seed: int) -> tuple[Image, dict[tuple[str, str], int]]:
    """Four stations at the sides and paths of one colour each; the truth is the number of paths for each pair."""
    chance = random.Random(seed)
    letters = "ABCD" if seed % 2 else "".join(chance.sample("AEFHKMNPRSXZ", 4))
    step, paper = chance.uniform(20, 44), PAPERS[seed % 3]
    width = chance.choice((0.12, 0.18, 0.24)) * step
    margin = 2.2 * step
    side = round(step * _GRID + 2 * margin)
    image, pen = page(side, side, paper)
    truth: dict[tuple[str, str], int] = {}
    ports = {letter: chance.sample(range(4, _GRID - 3, 3), 3) for letter in letters}
    paths, used = [], set[frozenset[Node]]()
    for ink in contrasting(chance, chance.randint(2, 5), paper):
        one, other = sorted(chance.sample(range(4), 2))
        pair = (letters[one], letters[other])
        if not ports[pair[0]] or not ports[pair[1]]:
            continue
        nodes = _walk(chance, (one, ports[pair[0]].pop()), (other, ports[pair[1]].pop()), used)
        if not nodes:
            continue
        paths.append((ink, [(margin + x * step, margin + y * step) for x, y in nodes]))
        truth[pair] = truth.get(pair, 0) + 1
    for ink, points in paths:
        stroke(pen, points, ink, width)
    middle = side / 2
    places = (
        (middle, margin * 0.4),
        (side - margin * 0.4, middle),
        (middle, side - margin * 0.4),
        (margin * 0.4, middle),
    )
    for letter, (x, y) in zip(letters, places, strict=True):
        pen.text((x * 4, y * 4), letter, fill=(0, 0, 0), font=_bold(step * 1.1 * 4), anchor="mm")
    return finish(image), truth


def _bold(size: float) -> FreeTypeFont:
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans-Bold.ttf", size)


def _walk(
    chance: random.Random, start: tuple[int, int], end: tuple[int, int], used: set[frozenset[Node]]
) -> list[Node]:
    """A winding path along the grid from side to side: straight in and out, along no edge that another path uses."""
    goal, out = _port(end, 1), _port(end, 0)
    came: dict[Node, Node] = {}
    queue: list[tuple[float, Node, Node]] = [(0.0, _port(start, 1), _port(start, 0))]
    while queue and goal not in came:
        cost, node, before = heapq.heappop(queue)
        if node in came:
            continue
        came[node] = before
        for step in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            further = (node[0] + step[0], node[1] + step[1])
            inside = all(1 <= at < _GRID for at in further)
            if inside and further not in came and frozenset((node, further)) not in used:
                heapq.heappush(queue, (cost + chance.choice((0.2, 1, 5, 20)), further, node))
    nodes = [out, goal]
    while nodes[-1] in came:
        nodes.append(came[nodes[-1]])
    used |= {frozenset(pair) for pair in pairwise(nodes)}
    return nodes if len(nodes) > 2 else []


def _port(side: tuple[int, int], depth: int) -> Node:
    """The node `depth` steps in from the top, right, bottom or left side."""
    where, at = side
    return ((at, depth), (_GRID - depth, at), (at, _GRID - depth), (depth, at))[where]


def two_lines(seed: int) -> tuple[Image, tuple[str, str], int]:
    """Two polylines of different colours, their colours, and how often they cross, well away from their corners."""
    chance = random.Random(seed)
    paper, side = PAPERS[seed % 3], chance.randint(250, 900)
    names = chance.sample(sorted(INKS), 2) if seed % 2 else ["blue", "red"]
    count = chance.randint(3, 6)
    xs = [side * (0.1 + 0.8 * k / (count - 1)) for k in range(count)]
    while True:
        one, other = ([chance.uniform(0.1, 0.9) * side for _ in xs] for _ in range(2))
        gaps = [a - b for a, b in zip(one, other, strict=True)]
        if min(map(abs, gaps)) > side / 14:
            break
    image, pen = page(side, side, paper)
    width = chance.choice((1.5, 2.5, 5.0))
    for name, ys in zip(names, (one, other), strict=True):
        stroke(pen, list(zip(xs, ys, strict=True)), INKS[name], width)
    crossings = sum(a * b < 0 for a, b in pairwise(gaps))
    return finish(image), (names[0], names[1]), crossings
