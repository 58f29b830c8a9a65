"""Questions about a subway map: how many single-coloured paths run from one lettered station to another?

Difficulty: from one path between other stations (0) to four (1), and from nearly straight paths to winding ones.
Zero to three paths run between the two stations, all equally likely.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TypeAlias

from pyvision.bench.synthetic.canvas import Box, Canvas, Point
from pyvision.bench.synthetic.geometry import near
from pyvision.bench.synthetic.scene import INKS, Dice, Scene, some_inks

_Node: TypeAlias = tuple[int, int]
_Pair: TypeAlias = tuple[int, int]

_GRID = 18  # steps along each side of the map
_STEP = 34
_MARGIN = 80
_SIDE = _GRID * _STEP + 2 * _MARGIN
_PORTS = range(3, _GRID - 2, 2)
_LETTERS = "ABDEFHKLNPTXYZ"  # easy to tell apart in any typeface
_STROKE = 8


@dataclass(frozen=True, slots=True)
class _Net:
    """The map so far: the free ports of each station, and the edges that are in use."""

    ports: tuple[list[int], ...]
    used: set[frozenset[_Node]] = field(default_factory=set)


def make_paths(dice: Dice) -> Scene | None:
    """One map; None when a path cannot be routed, or a colour is not visible at exactly its two stations."""
    pair, *others = dice.goal.sample(list(combinations(range(4), 2)), 6)
    wanted = dice.goal.randrange(4)
    pairs = [pair] * wanted + dice.chance.choices(others, k=dice.whole(1, 4))
    net = _Net(tuple(dice.chance.sample(_PORTS, len(_PORTS)) for _ in range(4)))
    routes = [_route(dice, net, each) for each in pairs]
    if not all(routes):
        return None
    names = some_inks(dice.chance, len(pairs))
    letters = dice.chance.sample(_LETTERS, 4)  # of the stations at the top, right, bottom and left
    page = _draw(dice.chance, routes, names, letters)
    if any(_colours_at(page, station) != _colours_ending_at(pairs, names, station) for station in range(4)):
        return None
    one, other = (letters[station] for station in pair)
    truth = {
        "paths": [{"colour": n, "ends": [letters[k] for k in p]} for n, p in zip(names, pairs, strict=True)]
    }
    question = f"How many single-coloured paths go from {one} to {other}? Answer with a number."
    return Scene(question, wanted, (page,), "integer", "paths", truth)


def _route(dice: Dice, net: _Net, pair: _Pair) -> list[_Node]:
    """A route along free edges, straight at both ends; empty when there is none."""
    start, end = ((station, net.ports[station].pop()) for station in pair)
    goal, winding = _node(end, 1), dice.between(2, 18)
    previous: dict[_Node, _Node] = {}
    queue: list[tuple[float, _Node, _Node]] = [(0.0, _node(start, 1), _node(start, 0))]
    while queue and goal not in previous:
        cost, node, before = heapq.heappop(queue)
        if node in previous:
            continue
        previous[node] = before
        for further in _neighbours(node, net.used):
            if further not in previous:
                heapq.heappush(queue, (cost + dice.chance.uniform(1, winding), further, node))
    nodes = _trace(previous, [_node(end, 0), goal])
    net.used.update(frozenset(edge) for edge in pairwise(nodes))
    return nodes if len(nodes) > 2 else []


def _trace(previous: dict[_Node, _Node], nodes: list[_Node]) -> list[_Node]:
    while nodes[-1] in previous:
        nodes.append(previous[nodes[-1]])
    return nodes


def _neighbours(node: _Node, used: set[frozenset[_Node]]) -> list[_Node]:
    steps = [(node[0] + x, node[1] + y) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return [
        step
        for step in steps
        if all(1 <= at <= _GRID - 1 for at in step) and frozenset((node, step)) not in used
    ]


def _node(port: tuple[int, int], depth: int) -> _Node:
    """The node `depth` steps in from a port of the top, right, bottom or left side."""
    station, at = port
    return ((at, depth), (_GRID - depth, at), (at, _GRID - depth), (depth, at))[station]


def _draw(
    chance: random.Random, routes: Sequence[Sequence[_Node]], names: Sequence[str], letters: Sequence[str]
) -> Canvas:
    page = Canvas(_SIDE, _SIDE)
    for index in chance.sample(range(len(routes)), len(routes)):
        page.stroke([_point(node) for node in routes[index]], INKS[names[index]], _STROKE)
    middle, edge = _SIDE / 2, _MARGIN * 0.45
    places = ((middle, edge), (_SIDE - edge, middle), (middle, _SIDE - edge), (edge, middle))
    for letter, place in zip(letters, places, strict=True):
        page.text(place, letter, _STEP * 1.2, bold=0.8)
    return page


def _point(node: _Node) -> Point:
    return _MARGIN + node[0] * _STEP, _MARGIN + node[1] * _STEP


def _colours_ending_at(pairs: Sequence[_Pair], names: Sequence[str], station: int) -> set[str]:
    return {name for name, pair in zip(names, pairs, strict=True) if station in pair}


def _colours_at(page: Canvas, station: int) -> set[str]:
    """The colours in the strip along a side, where only paths of that station run."""
    left, top, right, bottom = _strip(station)
    pixels = page.pixels()[top:bottom, left:right]
    return {name for name, ink in INKS.items() if near(pixels, ink, 12).sum() > _STROKE}


def _strip(station: int) -> Box:
    first, last, deep = _MARGIN + _STEP, _SIDE - _MARGIN - _STEP, _STEP // 2
    near_side, far_side = _MARGIN, _SIDE - _MARGIN
    return (
        (first, near_side, last, near_side + deep),
        (far_side - deep, first, far_side, last),
        (first, far_side - deep, last, far_side),
        (near_side, first, near_side + deep, last),
    )[station]
