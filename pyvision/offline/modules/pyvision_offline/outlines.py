"""Find circles and regular polygons whose lines may cross, by matching templates of every size with the ink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .drawing import NOT_SIMPLE, Drawing
from .masks import Array, grow, lookup, reduce, stroke_width

_Guess: TypeAlias = tuple[float, float, float, float, float]  # score, x, y, radius, turn
_MAX_GUESSES = 400
_MIN_MATCH = 0.92 - 1e-9  # the share of a template on ink, in the coarse search


@dataclass(frozen=True, slots=True)
class Outline:
    """A circle (sides 0) or a regular polygon. turn: its rotation in radians. score: the share of it on ink."""

    x: float
    y: float
    radius: float
    turn: float
    sides: int
    score: float

    def __str__(self) -> str:
        return f"centre ({self.x:.1f}, {self.y:.1f}), radius {self.radius:.1f} px, {self.score:.0%} on ink"

    def draw(self, axes: Any, number: int) -> None:
        """Draw it and its number."""
        points = unit_outline(self.sides, self.turn, 240) * self.radius + (self.x, self.y)
        axes.plot(*points.T, lw=1)
        axes.text(self.x, self.y, str(number), ha="center", va="center", fontsize=8)


def find_outlines(drawing: Drawing, sides: int = 0, turns: int = 1) -> tuple[list[Outline], str]:
    """The circles (sides 0) or regular polygons, tried in so many rotations."""
    if not drawing.is_simple:
        return [], NOT_SIMPLE
    angles = [turn * 2 * np.pi / sides / turns for turn in range(turns)] if sides else [0.0]
    scale = drawing.scale
    found = [
        Outline(x * scale, y * scale, radius * scale, turn, sides, score)
        for score, x, y, radius, turn in match_outlines(drawing.mask_of_ink(), sides, angles)
    ]
    return found, "" if found else "no such outline was found"


def unit_outline(sides: int, turn: float, samples: int) -> Array:
    """Points of an outline of radius 1 around the origin: a circle if sides is 0, else a regular polygon."""
    if sides == 0:
        angle = np.arange(samples) * 2 * np.pi / samples
        return np.column_stack([np.cos(angle), np.sin(angle)])
    angle = turn + np.arange(sides + 1) * 2 * np.pi / sides - np.pi / 2
    corners = np.column_stack([np.cos(angle), np.sin(angle)])
    at = np.arange(samples) * sides / samples
    edge, part = at.astype(int), (at % 1)[:, None]
    return corners[edge] * (1 - part) + corners[edge + 1] * part


def match_outlines(ink: Array, sides: int, turns: Sequence[float]) -> list[_Guess]:
    """The outlines in the ink, the best first, in coordinates of the array."""
    rows, columns = np.nonzero(ink)
    if not len(rows):
        return []
    left, top = columns.min() - 2, rows.min() - 2
    ink = np.pad(ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1], 2)
    stroke, field = stroke_width(ink), _closeness(ink)
    guesses, factor = _search_coarsely(ink, sides, turns)
    found = [_refine(guess, field, sides, max(1.0, factor)) for guess in _drop_similar(guesses, 2.5 * factor)]
    near, likely = grow(ink, 1), _drop_similar(found, stroke + 2)[:60]
    clear = [guess for guess in likely if _stands_out(guess, ink, near, sides, stroke)]
    clear = _drop_mixtures(clear, ink.shape, sides, int(np.ceil(stroke / 2)) + 1)
    return [(float(score), x + left, y + top, radius, turn) for score, x, y, radius, turn in clear]


def _closeness(ink: Array) -> Array:
    """1 on the ink, less beside it, 0 three pixels away: what a template climbs on while it is refined."""
    return ink * 0.4 + grow(ink, 1) * 0.35 + grow(ink, 2) * 0.25


def _search_coarsely(ink: Array, sides: int, turns: Sequence[float]) -> tuple[list[_Guess], int]:
    """A guess for every template that finds enough ink below it in the reduced mask; by how much that is reduced."""
    coarse, factor = reduce(ink, 160)
    shape = [length + length // 2 for length in coarse.shape]
    spectrum = np.fft.rfft2(grow(coarse, 1), shape)
    guesses: list[_Guess] = []
    for turn in turns:
        unit = unit_outline(sides, turn, 720)
        for radius in range(4, int(max(coarse.shape) * 0.75) + 2):
            points = np.unique(np.rint(unit * radius).astype(int), axis=0)
            low, high = -points.min(axis=0), np.array(coarse.shape)[::-1] - points.max(axis=0)
            if (low >= high).any():
                break
            kernel = np.zeros(shape)
            kernel[points[:, 1] % shape[0], points[:, 0] % shape[1]] = 1
            match = np.fft.irfft2(spectrum * np.fft.rfft2(kernel).conj(), shape) / len(points)
            match = match[low[1] : high[1], low[0] : high[0]]
            for y, x in np.argwhere((match >= _MIN_MATCH) & (match >= _max_of_neighbours(match) - 1e-6)):
                centre = (x + low[0] + 0.5) * factor - 0.5, (y + low[1] + 0.5) * factor - 0.5
                guesses.append((match[y, x], *centre, radius * factor, turn))
    return guesses, factor


def _max_of_neighbours(field: Array) -> Array:
    """For each place the largest value among it and its eight neighbours."""
    padded = np.pad(field, 1, constant_values=-1)
    rows = np.maximum(np.maximum(padded[:-2], padded[1:-1]), padded[2:])
    return np.maximum(np.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def _drop_similar(guesses: Sequence[_Guess], min_distance: float) -> list[_Guess]:
    """The guesses without those whose place and radius are close to a better one's."""
    best: list[_Guess] = []
    for guess in sorted(guesses, reverse=True):
        distances = (
            np.hypot(guess[1] - other[1], guess[2] - other[2]) + abs(guess[3] - other[3]) for other in best
        )
        if len(best) < _MAX_GUESSES and all(distance > min_distance for distance in distances):
            best.append(guess)
    return best


def _refine(guess: _Guess, field: Array, sides: int, step: float) -> _Guess:
    """The guess moved to the place, radius and turn where the field below it is fullest."""
    x, y, radius, turn = guess[1:]
    best = lookup(field, unit_outline(sides, turn, 240) * radius + (x, y)).mean()
    while step >= 0.2:
        moves = [(dx, dy, dr, 0) for dx in (-1, 0, 1) for dy in (-1, 0, 1) for dr in (-1, 0, 1)]
        moves += [(0, 0, 0, way) for way in ((-1, 1) if sides else ())]
        trials = [
            (x + a * step, y + b * step, max(3, radius + c * step), turn + d * step / radius)
            for a, b, c, d in moves
        ]
        points = np.stack([unit_outline(sides, t[3], 240) * t[2] + t[:2] for t in trials])
        means = lookup(field, points).mean(axis=1)
        if means.max() > best + 1e-9:
            best, (x, y, radius, turn) = means.max(), trials[int(means.argmax())]
        else:
            step /= 2
    return best, x, y, radius, turn


def _stands_out(guess: _Guess, ink: Array, near: Array, sides: int, stroke: float) -> bool:
    """Whether the outline lies on ink, with little ink just inside and outside of it."""
    _, x, y, radius, turn = guess
    unit = unit_outline(sides, turn, 480)
    if radius < 1.5 * stroke + 3 or lookup(near, unit * radius + (x, y)).mean() < 0.9:
        return False
    distance = (stroke + 3) / (np.cos(np.pi / sides) if sides else 1)
    beside = [lookup(ink, unit * (radius + way * distance) + (x, y)).mean() for way in (-1, 1)]
    return bool(max(beside) < 0.6)


def _drop_mixtures(guesses: Sequence[_Guess], shape: tuple[int, ...], sides: int, reach: int) -> list[_Guess]:
    """The guesses without those that consist of pieces of others, starting with the one that shares most of its ink."""
    traces = [_trace(guess, shape, sides) for guess in guesses]
    bands = []
    for trace in traces:
        band = np.zeros(shape, bool)
        band[trace[:, 1], trace[:, 0]] = True
        bands.append(grow(band, reach))
    cover = sum((band.astype(int) for band in bands), np.zeros(shape, int))
    rest = list(range(len(guesses)))
    while rest:
        unshared = {i: (cover[traces[i][:, 1], traces[i][:, 0]] == 1).mean() for i in rest}
        least = min(rest, key=lambda i: (unshared[i], guesses[i][3]))
        if unshared[least] > 0.2:
            break
        rest.remove(least)
        cover -= bands[least]
    return [guesses[i] for i in rest]


def _trace(guess: _Guess, shape: tuple[int, ...], sides: int) -> Array:
    """The pixels (x, y) below an outline."""
    _, x, y, radius, turn = guess
    trace = np.rint(unit_outline(sides, turn, 2000) * radius + (x, y)).astype(int)
    return trace.clip(0, np.array(shape)[::-1] - 1)
