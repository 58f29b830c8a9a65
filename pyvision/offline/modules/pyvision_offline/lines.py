"""Follow drawn lines of different colours: where two of them cross, and which letters they connect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .drawing import Drawing
from .letters import Letter, match_letters
from .masks import Array, boxes, grow, label, lookup, stroke_width
from .palette import masks_of_inks, match_name, name_of, palette_of

_Box: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Crossing:
    """A place where two lines meet."""

    x: float
    y: float

    def __str__(self) -> str:
        return f"they meet at ({self.x:.0f}, {self.y:.0f})"

    def draw(self, axes: Any, number: int) -> None:
        """Draw a circle around it."""
        axes.plot(self.x, self.y, "o", color="black", mfc="none", ms=10)


@dataclass(frozen=True, slots=True)
class Path:
    """A line of one colour. tips: its ends (x, y). letters: the letter nearest to each end."""

    colour_name: str
    tips: tuple[tuple[float, float], ...]
    letters: tuple[str, ...]

    def __str__(self) -> str:
        places = ", ".join(f"({x:.0f}, {y:.0f})" for x, y in self.tips) or "none"
        return f"{self.colour_name} path: ends at {places}; near {', '.join(self.letters) or 'nothing'}"

    def draw(self, axes: Any, number: int) -> None:
        """Draw its ends, with the letter nearest to each."""
        for (x, y), letter in zip(self.tips, self.letters, strict=False):
            axes.plot(x, y, "o", color="black", ms=4)
            axes.text(x, y, f"{self.colour_name}–{letter}", fontsize=7)


def find_crossings(drawing: Drawing, colours: tuple[str, str] | None = None) -> tuple[list[Crossing], str]:
    """The places where two lines of different colours meet; `colours` says which two if there are more."""
    offsets = drawing.array.astype(float) - drawing.background
    strength = np.linalg.norm(offsets, axis=2)
    hues = (
        offsets / np.maximum(strength, 1)[..., None]
    )  # blends with the background have the hue of their ink
    ink = drawing.mask_of_ink(48)
    directions = _find_hues(hues, strength, ink)
    names = []
    for hue in directions:
        typical = np.percentile(strength[_find_strong(strength, ink) & (hues @ hue > 0.95)], 90)
        names.append(name_of(np.clip(drawing.background + hue * typical, 0, 255)))
    chosen = [match_name(name, names) for name in colours] if colours else [[i] for i in range(len(names))]
    if len(chosen) != 2 or not all(len(each) == 1 for each in chosen) or chosen[0] == chosen[1]:
        return (
            [],
            f"two lines of clearly different colours are needed; there are {len(names)}: {', '.join(names)}",
        )
    a, b = (directions[each[0]] for each in chosen)
    return _find_meetings(drawing, ink & (hues @ a > hues @ b), ink), ""


def _find_strong(strength: Array, ink: Array) -> Array:
    """Where the ink is not a blend with the background."""
    return ink & (strength > 0.6 * np.percentile(strength[ink], 90)) if ink.any() else ink


def _find_hues(hues: Array, strength: Array, ink: Array) -> list[Array]:
    """The direction from the background to each colour that a line has, the most frequent first."""
    strong = _find_strong(strength, ink)
    codes = np.rint(hues * 8).astype(int) @ np.array([400, 20, 1])
    directions: list[Array] = []
    for code in sorted(set(codes[strong].tolist()), key=lambda code: -(codes[strong] == code).sum())[:40]:
        pixels = strong & (codes == code)
        mean = hues[pixels].mean(axis=0)
        mean /= np.linalg.norm(mean)
        if pixels.sum() > 0.05 * strong.sum() and all(mean @ other < 0.93 for other in directions):
            directions.append(mean)
    return directions


def _find_meetings(drawing: Drawing, first: Array, ink: Array) -> list[Crossing]:
    """Where the pixels of the first line touch the rest of the ink, the second line."""
    second = ink & ~first
    stroke = max(stroke_width(first), stroke_width(second))
    labels, _ = label(grow(first, 1) & grow(second, 1))
    found = boxes(*label(grow(labels > 0, int(stroke / 2) + 1))).tolist()
    scale = drawing.scale / 2
    return [Crossing((left + right) * scale, (top + bottom) * scale) for left, top, right, bottom, _ in found]


def find_paths(drawing: Drawing, between: tuple[str, str]) -> tuple[list[Path], str]:
    """Every path of one colour, where two letters mark stations; those whose ends are near these two come first."""
    array, background = drawing.array, drawing.background
    palette, _ = palette_of(array, min_share=0.0002)
    palette = palette[np.abs(palette - background).max(axis=1) > 36]
    masks = masks_of_inks(array, background, palette)
    letters = _find_station_letters(masks, between)
    for letter in letters:
        left, top, right, bottom = letter.box
        for mask in masks:
            mask[max(0, top - 2) : bottom + 3, max(0, left - 2) : right + 3] = False
    stations = {letter.name: letter.box for letter in letters}
    strokes = [stroke_width(mask) for mask in masks]
    stroke = np.median(
        [width for width, mask in zip(strokes, masks, strict=True) if mask.sum() > 0.001 * mask.size] or [2.0]
    )
    masks = [_drop_specks(mask, stroke) for mask in masks]
    lines = [i for i, mask in enumerate(masks) if mask.sum() > stroke * 0.05 * max(mask.shape)]
    everything = np.any([masks[i] for i in lines], axis=0) if lines else None
    paths = []
    for i in lines:
        tips = _find_tips(masks[i], everything, stroke)
        nearest = tuple(_nearest_station(tip, stations) for tip in tips) if stations else ()
        scaled = tuple((x * drawing.scale, y * drawing.scale) for x, y in tips)
        paths.append(Path(name_of(palette[i]), scaled, nearest))
    paths.sort(key=lambda path: sorted(path.letters) != sorted(between))
    return paths, _find_doubts(paths, stations, between)


def _find_doubts(paths: Sequence[Path], stations: Mapping[str, _Box], between: tuple[str, str]) -> str:
    missing = [name for name in between if name not in stations]
    if missing:
        return f"no letter {missing[0]} was found"
    if not paths:
        return "no line was found"
    return "" if all(len(path.tips) == 2 for path in paths) else "a path forks, or its ends are hidden"


def _find_station_letters(masks: Sequence[Array], names: tuple[str, str]) -> list[Letter]:
    """The letters in the colour in which the wanted ones are clearest, the clearest letter last."""
    letters = match_letters(masks)
    colour = max(range(len(masks)), default=None, key=lambda i: _sum_scores(letters, i, names))
    return sorted((each for each in letters if each.mask == colour), key=lambda letter: letter.score)


def _sum_scores(letters: Sequence[Letter], mask: int, names: tuple[str, str]) -> float:
    return sum(letter.score for letter in letters if letter.mask == mask and letter.name in names)


def _nearest_station(tip: tuple[float, float], stations: Mapping[str, _Box]) -> str:
    x, y = tip

    def distance(name: str) -> float:
        left, top, right, bottom = stations[name]
        return float(np.hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom)))

    return min(stations, key=distance)


def _drop_specks(mask: Array, stroke: float) -> Array:
    """The mask without specks, which blends of two colours leave behind."""
    labels, n = label(mask)
    sizes = np.bincount(labels.ravel(), minlength=n + 1)
    sizes[0] = 0
    return (sizes >= 1.5 * stroke * stroke)[labels]


def _find_tips(mask: Array, everything: Array, stroke: float) -> list[tuple[float, float]]:
    """The ends (x, y) of the lines of a mask, except those that meet another line.

    At an end a small circle around a pixel cuts its line once, anywhere else twice or more.
    """
    radius = max(1.6 * stroke, stroke + 2)
    y, x = np.nonzero(mask)
    points = np.column_stack([x, y])
    ends = np.zeros(mask.shape, bool)
    for start in range(0, len(points), 20000):
        part = points[start : start + 20000]
        part = part[_count_arcs(mask, part, radius) == 1]
        part = part[_count_arcs(everything, part, radius) == 1]
        ends[part[:, 1], part[:, 0]] = True
    found = boxes(*label(ends)).tolist()
    return [((b[0] + b[2]) / 2, (b[1] + b[3]) / 2) for b in found if b[4] >= 0.5 * stroke * stroke]


def _count_arcs(mask: Array, points: Array, radius: float, samples: int = 72) -> Array:
    """How many separate arcs of a circle around each point lie on the mask."""
    angle = np.arange(samples) * 2 * np.pi / samples
    ring = points[:, None] + radius * np.column_stack([np.cos(angle), np.sin(angle)])[None]
    on = lookup(mask, ring) > 0
    return (on & ~np.roll(on, 1, axis=1)).sum(axis=1)
