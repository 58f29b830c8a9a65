"""Seeded drawings of the kinds that Offline answers, each with its exact truth."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

RGB = tuple[int, int, int]
PAPERS: tuple[RGB, ...] = ((255, 255, 255), (248, 244, 230), (225, 232, 240), (20, 24, 30))
INKS: dict[str, RGB] = {
    "red": (214, 39, 40),
    "blue": (31, 80, 200),
    "green": (30, 140, 50),
    "orange": (255, 127, 14),
    "purple": (120, 60, 170),
    "brown": (120, 72, 40),
    "cyan": (20, 185, 205),
    "magenta": (225, 30, 200),
}
_FINE = 4  # drawn this much larger and reduced, so that edges are smooth


def seeds(*limits: int, quick: int = 2) -> pytest.MarkDecorator:
    """Parametrizes with each `seed` of `range(*limits)`; those after the first few are slow."""
    marked = [
        pytest.param(seed, marks=pytest.mark.slow if number >= quick else ())
        for number, seed in enumerate(range(*limits))
    ]
    return pytest.mark.parametrize("seed", marked)


def page(width: int, height: int, paper: RGB = PAPERS[0]) -> tuple[Image, ImageDraw]:
    """A large empty page and its pen; positions are given in pixels of the finish picture times `_FINE`."""
    from PIL import Image as ImageModule
    from PIL import ImageDraw as DrawModule

    image = ImageModule.new("RGB", (width * _FINE, height * _FINE), paper)
    return image, DrawModule.Draw(image)


def finish(image: Image) -> Image:
    """The page reduced to its size, with smooth edges."""
    from PIL import Image as ImageModule

    return image.resize((image.width // _FINE, image.height // _FINE), ImageModule.Resampling.BOX)


def disc(
    pen: ImageDraw,
    x: float,
    y: float,
    radius: float,
    *,
    fill: RGB | None = None,
    line: RGB | None = None,
    width: float = 1,
) -> None:
    """A disc, or the outline of one, around (x, y)."""
    reach = radius + (width / 2 if line else 0)
    box = [(x - reach) * _FINE, (y - reach) * _FINE, (x + reach) * _FINE, (y + reach) * _FINE]
    pen.ellipse(box, fill=fill, outline=line, width=round(width * _FINE))


def corners(x: float, y: float, radius: float, sides: int, turn: float = 0.0) -> list[tuple[float, float]]:
    """The corners of a regular polygon; the first points up when turn is 0."""
    angles = [turn + 2 * math.pi * k / sides - math.pi / 2 for k in range(sides)]
    return [(x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]


def polygon(
    pen: ImageDraw,
    points: Sequence[tuple[float, float]],
    *,
    fill: RGB | None = None,
    line: RGB | None = None,
    width: float = 1,
) -> None:
    """A filled polygon, or its outline with mitred corners near enough."""
    scaled = [(x * _FINE, y * _FINE) for x, y in points]
    if fill:
        pen.polygon(scaled, fill=fill)
    if line:
        pen.line([*scaled, scaled[0], scaled[1]], fill=line, width=round(width * _FINE), joint="curve")


def stroke(pen: ImageDraw, points: Sequence[tuple[float, float]], line: RGB, width: float) -> None:
    """A polyline."""
    pen.line(
        [(x * _FINE, y * _FINE) for x, y in points], fill=line, width=round(width * _FINE), joint="curve"
    )


def contrasting(chance: random.Random, count: int, paper: RGB, *, one_colour: bool = False) -> list[RGB]:
    """Colours that differ from each other and stand out on the paper."""
    names = chance.sample(sorted(INKS), min(count, len(INKS)))
    ink = (0, 0, 0) if sum(paper) > 380 else (240, 240, 240)
    return [ink] * count if one_colour else [INKS[names[k % len(names)]] for k in range(count)]


def chain(seed: int, sides: int) -> tuple[Image, int]:
    """Outlines of circles (sides 0) or upright polygons in two rows that cross like the Olympic rings."""
    chance = random.Random(seed)
    count, radius = chance.randint(4, 9), chance.uniform(22, 60)
    width, paper = chance.choice((1.0, 1.5, 2.5, 4.0)), PAPERS[seed % len(PAPERS)]
    side = round(radius * (count + 3) * 1.3) + chance.randint(0, 200)
    image, pen = page(side, round(side * chance.uniform(0.5, 1.0)), paper)
    inks = contrasting(chance, count, paper, one_colour=seed % 2 == 0)
    left, top = radius * 1.5 + chance.uniform(0, 20), radius * 1.4 + chance.uniform(0, 20)
    for k in range(count):
        x, y = left + k * radius * 1.08, top + (k % 2) * radius * chance.uniform(0.85, 0.95)
        if sides == 0:
            disc(pen, x, y, radius, line=inks[k], width=width)
        else:
            polygon(pen, corners(x, y, radius, sides), line=inks[k], width=width)
    return finish(image), count


def nest(seed: int) -> tuple[Image, int]:
    """Square outlines inside each other, off centre, all turned alike, none touching another."""
    chance = random.Random(seed)
    count, width, side = chance.randint(2, 6), chance.choice((1.0, 2.0, 3.5)), chance.randint(420, 900)
    paper, turn = PAPERS[seed % len(PAPERS)], math.pi / 4 + chance.choice((0.0, 0.0, chance.uniform(0, 1.5)))
    image, pen = page(side, side, paper)
    x, y, radius = side / 2, side / 2, side * chance.uniform(0.3, 0.45)
    for ink in contrasting(chance, count, paper, one_colour=seed % 3 != 0):
        polygon(pen, corners(x, y, radius, 4, turn), line=ink, width=width)
        smaller = radius * chance.uniform(0.66, 0.8)
        room = (radius - smaller) / math.sqrt(2) - 2 * width - 2
        u, v = (chance.uniform(-room, room) for _ in range(2))
        x, y = (
            x + u * math.cos(turn + math.pi / 4) - v * math.sin(turn + math.pi / 4),
            y + u * math.sin(turn + math.pi / 4) + v * math.cos(turn + math.pi / 4),
        )
        radius = smaller
    return finish(image), count


def scatter(seed: int) -> tuple[Image, list[tuple[str, str]]]:
    """Filled shapes of several colours that stand apart; the truth is (colour, shape) for each."""
    chance = random.Random(seed)
    width, height = chance.randint(300, 900), chance.randint(300, 900)
    paper = PAPERS[seed % 3]
    image, pen = page(width, height, paper)
    names = chance.sample(sorted(INKS), 3)
    placed: list[tuple[float, float, float]] = []
    truth: list[tuple[str, str]] = []
    for _ in range(400):
        radius = chance.uniform(min(width, height) / 26, min(width, height) / 12)
        x, y = chance.uniform(radius + 2, width - radius - 2), chance.uniform(radius + 2, height - radius - 2)
        if len(placed) == 16 or any(math.hypot(x - a, y - b) < radius + r + 4 for a, b, r in placed):
            continue
        placed.append((x, y, radius))
        name, shape = (
            chance.choice(names),
            chance.choice(("circle", "triangle", "square", "pentagon", "hexagon", "star")),
        )
        truth.append((name, shape))
        draw_shape(pen, shape, (x, y, radius), INKS[name], turn=chance.uniform(0, 6))
    return finish(image), truth


def draw_shape(
    pen: ImageDraw, shape: str, place: tuple[float, float, float], ink: RGB, *, turn: float = 0.0
) -> None:
    """One filled shape; its place is x, y and the radius of the circle around it."""
    x, y, radius = place
    sides = {"triangle": 3, "square": 4, "pentagon": 5, "hexagon": 6}
    if shape == "circle":
        disc(pen, x, y, radius, fill=ink)
    elif shape == "star":
        outer, inner = corners(x, y, radius, 5, turn), corners(x, y, radius * 0.4, 5, turn + math.pi / 5)
        polygon(pen, [point for pair in zip(outer, inner, strict=True) for point in pair], fill=ink)
    else:
        polygon(pen, corners(x, y, radius, sides[shape], turn), fill=ink)


def table(seed: int) -> tuple[Image, tuple[int, int]]:
    """A ruled table, with or without words in its cells, with or without an outer border; (rows, columns)."""
    chance = random.Random(seed)
    rows, columns, line = chance.randint(2, 11), chance.randint(2, 11), chance.choice((1, 2, 3, 6))
    paper = PAPERS[seed % len(PAPERS)]
    ink = chance.choice(((0, 0, 0), (120, 120, 120), (40, 60, 160))) if sum(paper) > 380 else (200, 210, 220)
    margin, high, wide = chance.choice((0, 12, 40)), chance.uniform(34, 70), chance.uniform(50, 110)
    image, pen = page(
        round(columns * wide + 2 * margin + line), round(rows * high + 2 * margin + line), paper
    )
    open_sides = margin > 0 and chance.random() < 0.25
    ends = range(1, rows) if open_sides else range(rows + 1)
    for k in ends:
        y = margin + line / 2 + k * high
        stroke(pen, [(margin, y), (margin + columns * wide + line, y)], ink, line)
    for k in range(1, columns) if open_sides else range(columns + 1):
        x = margin + line / 2 + k * wide
        stroke(pen, [(x, margin), (x, margin + rows * high + line)], ink, line)
    if seed % 2:
        for r in range(rows):
            for c in range(columns):
                word = chance.choice(("apple", "door", "kite", "moon", "37", "x"))
                at = ((margin + (c + 0.2) * wide) * _FINE, (margin + (r + 0.3) * high) * _FINE)
                pen.text(at, word, fill=ink, font_size=13 * _FINE)
    return finish(image), (rows, columns)


def two_discs(seed: int, gap: float, *, colours: int = 2) -> Image:
    """Two filled discs whose edges are `gap` pixels apart (below zero: they overlap)."""
    chance = random.Random(seed)
    paper = PAPERS[seed % len(PAPERS)]
    inks = contrasting(chance, 2, paper)
    one, other, angle = chance.uniform(18, 90), chance.uniform(18, 90), chance.uniform(0, 6.28)
    side = round(2.4 * (one + other)) + chance.randint(10, 200)
    image, pen = page(side, side, paper)
    reach = (one + other + gap) / 2
    for sign, radius, ink in ((1, one, inks[0]), (-1, other, inks[0 if colours == 1 else 1])):
        shift = sign * reach + (other - one) / 2
        disc(pen, side / 2 + shift * math.cos(angle), side / 2 + shift * math.sin(angle), radius, fill=ink)
    return finish(image)
