"""Draw the example images into this folder: python examples/draw.py. The same images every time.

portrait.jpg is the only image that is not drawn here; see README.md for its origin.
"""

from __future__ import annotations

import math
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

HERE = Path(__file__).resolve().parent
FINE = 4  # drawings are made this much larger and reduced, so that edges are smooth
RED, BLUE, GREEN = (214, 39, 40), (31, 90, 200), (40, 150, 60)
ORANGE, PURPLE, GREY = (255, 140, 20), (130, 70, 170), (90, 90, 90)


def main() -> None:
    """Write every picture."""
    rings().save(HERE / "circles.png", optimize=True)
    shapes().save(HERE / "shapes.png", optimize=True)
    table().save(HERE / "table.png", optimize=True)
    before = shapes()
    after = before.copy()
    ImageDraw.Draw(after).ellipse((402, 250, 440, 288), fill=ORANGE)
    after.save(HERE / "shapes_changed.png", optimize=True)
    squares().save(HERE / "squares.png", optimize=True)
    landscape().save(HERE / "lake.jpg", quality=86)
    edit_portrait().save(HERE / "portrait_changed.jpg", quality=92)


def edit_portrait() -> Image.Image:
    """The portrait without a star of the flag, the name tag and the button of the coat."""
    image = Image.open(HERE / "portrait.jpg")
    for source, target in (
        ((52, 208, 92, 242), (88, 174)),
        ((60, 380, 170, 440), (66, 472)),
        ((180, 560, 225, 600), (225, 560)),
    ):
        patch = image.crop(source)
        mask = Image.new("L", patch.size, 0)
        ImageDraw.Draw(mask).rectangle((4, 4, patch.width - 5, patch.height - 5), fill=255)
        image.paste(patch, target, mask.filter(ImageFilter.GaussianBlur(2)))
    return image


def page(width: int, height: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty page at the fine scale, and its pen."""
    image = Image.new("RGB", (width * FINE, height * FINE), "white")
    return image, ImageDraw.Draw(image)


def downscale(image: Image.Image) -> Image.Image:
    """The page at its final size."""
    return image.resize((image.width // FINE, image.height // FINE), Image.Resampling.BOX)


def rings() -> Image.Image:
    """Seven rings that cross."""
    image, pen = page(640, 320)
    for k, ink in enumerate((BLUE, ORANGE, GREY, GREEN, RED, PURPLE, BLUE)):
        x, y, radius = (90 + 75 * k) * FINE, (130 + 60 * (k % 2)) * FINE, 70 * FINE
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=ink, width=3 * FINE)
    return downscale(image)


def shapes() -> Image.Image:
    """Four red circles, three blue squares, two green triangles."""
    image, pen = page(520, 360)
    for x, y, radius in ((80, 80, 38), (230, 60, 24), (330, 190, 46), (90, 280, 30)):
        pen.ellipse([FINE * v for v in (x - radius, y - radius, x + radius, y + radius)], fill=RED)
    for x, y, side in ((150, 150, 60), (400, 40, 70), (200, 260, 50)):
        pen.rectangle([FINE * v for v in (x, y, x + side, y + side)], fill=BLUE)
    for x, y, side in ((300, 300, 56), (450, 200, 60)):
        pen.polygon(
            [(FINE * (x + dx * side), FINE * (y + dy * side)) for dx, dy in ((0, 0), (1, 0), (0.5, -0.87))],
            GREEN,
        )
    return downscale(image)


def table() -> Image.Image:
    """A ruled table of six rows and four columns, with words in it."""
    image, pen = page(560, 372)
    labels = (
        "apple",
        "river",
        "stone",
        "cloud",
        "lamp",
        "green",
        "north",
        "paper",
        "glass",
        "wheat",
        "coast",
        "ember",
    )
    for row in range(7):
        pen.line([FINE * v for v in (20, 20 + 55 * row, 540, 20 + 55 * row)], fill="black", width=2 * FINE)
    for column in range(5):
        pen.line(
            [FINE * v for v in (20 + 130 * column, 20, 20 + 130 * column, 350)], fill="black", width=2 * FINE
        )
    for cell in range(24):
        at = (FINE * (45 + 130 * (cell % 4)), FINE * (36 + 55 * (cell // 4)))
        pen.text(at, labels[cell % len(labels)], fill=GREY, font_size=20 * FINE)
    return downscale(image)


def squares() -> Image.Image:
    """Five squares inside each other, turned and off centre."""
    image, pen = page(420, 420)
    x, y, radius, turn = 210.0, 215.0, 190.0, 0.35
    for _ in range(5):
        corners = [turn + math.pi / 4 + k * math.pi / 2 for k in range(5)]
        pen.line(
            [(FINE * (x + radius * math.cos(a)), FINE * (y + radius * math.sin(a))) for a in corners],
            fill="black", width=2 * FINE, joint="curve",
        )  # fmt: skip
        x, y, radius = x + 0.06 * radius, y - 0.05 * radius, 0.72 * radius
    return downscale(image)


def landscape(width: int = 960, height: int = 640) -> Image.Image:
    """A lake below mountains at dusk, with the grain and softness of a photograph."""
    horizon = int(height * 0.58)
    noise = np.random.default_rng(7)
    sky = gradient(width, horizon, ((64, 92, 150), (242, 178, 130)))
    sky += clouds(noise, width, horizon)[..., None] * np.array([60, 45, 40])
    for layer, (base, rise, ink) in enumerate(((0.80, 0.42, (112, 108, 140)), (0.95, 0.3, (52, 58, 84)))):
        ridge = ridge_line(random.Random(layer), width, base * horizon, rise * horizon)
        below = np.arange(horizon)[:, None] > ridge[None, :]
        haze = np.linspace(0.0, 0.35, horizon)[:, None, None]
        sky = np.where(below[..., None], np.array(ink) * (1 - haze) + np.array([200, 160, 140]) * haze, sky)
    water = sky[::-1][: height - horizon] * 0.62 + np.array([8, 18, 30])
    ripples = (
        clouds(noise, width, height - horizon, stretch=14) * np.linspace(2, 10, height - horizon)[:, None]
    )
    rows = np.clip(np.arange(height - horizon)[:, None] + ripples, 0, height - horizon - 1).astype(int)
    scene = np.concatenate([sky, water[rows, np.arange(width)[None, :]]])
    grain = noise.normal(0, 4, (height, width, 1))
    picture = Image.fromarray(np.clip(scene + grain, 0, 255).astype(np.uint8))
    return picture.filter(ImageFilter.GaussianBlur(0.7))


def gradient(width: int, height: int, ends: tuple[tuple[int, int, int], tuple[int, int, int]]) -> np.ndarray:
    """Rows that blend from one colour to the other."""
    part = np.linspace(0, 1, height)[:, None, None] ** 1.4
    return np.broadcast_to(
        np.array(ends[0]) * (1 - part) + np.array(ends[1]) * part, (height, width, 3)
    ).copy()


def clouds(noise: np.random.Generator, width: int, height: int, stretch: int = 4) -> np.ndarray:
    """Soft random blotches in -0.5…0.5, longer than high, of several sizes."""
    total = np.zeros((height, width))
    for size in (6, 12, 24, 48):
        coarse = noise.normal(0, 6 / size, (size, max(2, size // stretch * 2)))
        layer = Image.fromarray(coarse.astype(np.float32)).resize((width, height), Image.Resampling.BICUBIC)
        total += np.asarray(layer)
    return np.clip(total / 4, -0.5, 0.5)


def ridge_line(chance: random.Random, width: int, base: float, rise: float) -> np.ndarray:
    """The height of a mountain ridge at every column, by halving its segments again and again."""
    points, rough = [base, base - rise, base - rise * 0.4, base - rise * 0.8, base], rise * 0.35
    while len(points) < width:
        between = [(a + b) / 2 + chance.uniform(-rough, rough) for a, b in pairwise(points)]
        points = [value for pair in zip(points, [*between, 0.0], strict=True) for value in pair][:-1]
        rough *= 0.52
    return np.interp(np.arange(width), np.linspace(0, width - 1, len(points)), points)


if __name__ == "__main__":
    main()
