"""Draw the pictures that the benchmark of the index puts in: flags, emblems on white, clutter, smooth noise.

Each hangs on its number alone.
"""

from __future__ import annotations

import random

import numpy as np
from PIL import Image, ImageDraw


def drawn(number: int) -> Image.Image:
    """The picture of that number, 240 to 400 pixels on each side."""
    choose = random.Random(number)
    size = choose.choice([(320, 240), (256, 256), (240, 320), (400, 300)])
    return (_flag, _emblem, _clutter, _noise)[number % 4](choose, size)


def _colour(choose: random.Random) -> tuple[int, int, int]:
    return choose.randrange(256), choose.randrange(256), choose.randrange(256)


def _flag(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    image, (width, height) = Image.new("RGB", size, _colour(choose)), size
    draw, stripes, is_upright = ImageDraw.Draw(image), choose.choice([2, 3, 4]), choose.random() < 0.5
    for place in range(stripes):
        upright = (place * width // stripes, 0, (place + 1) * width // stripes, height)
        level = (0, place * height // stripes, width, (place + 1) * height // stripes)
        draw.rectangle(upright if is_upright else level, fill=_colour(choose))
    if choose.random() < 0.7:
        draw.ellipse((width * 0.35, height * 0.35, width * 0.65, height * 0.65), fill=_colour(choose))
    return image


def _emblem(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    image, (width, height) = Image.new("RGB", size, "white"), size
    draw = ImageDraw.Draw(image)
    for _ in range(choose.randint(2, 5)):
        x, y = choose.uniform(0.2, 0.6) * width, choose.uniform(0.2, 0.6) * height
        side = choose.uniform(0.1, 0.35) * min(size)
        shape = choose.choice([draw.ellipse, draw.rectangle])
        shape((x, y, x + side, y + side), fill=_colour(choose), outline="black")
    return image


def _clutter(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    image, (width, height) = Image.new("RGB", size, _colour(choose)), size
    draw = ImageDraw.Draw(image)
    for _ in range(30):
        x, y = choose.random() * width, choose.random() * height
        side = choose.uniform(0.03, 0.25) * min(size)
        third = (x + choose.uniform(-side, side), y + side)
        draw.polygon([(x, y), (x + side, y + choose.uniform(-side, side)), third], fill=_colour(choose))
    return image


def _noise(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    generator = np.random.default_rng(choose.randrange(2**32))
    coarse = Image.fromarray(generator.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    smooth = np.asarray(coarse.resize(size, Image.Resampling.BICUBIC), dtype=np.float64)
    grain = generator.normal(0, 8, (size[1], size[0], 1))
    return Image.fromarray(np.clip(smooth + grain, 0, 255).astype(np.uint8))
