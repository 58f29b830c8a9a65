"""Outlines that cross, and discs that run together."""

from __future__ import annotations

import math
import random

import pytest
from PIL import Image, ImageFilter, ImageOps

from tests.offline.drawings import INKS, chain, disc, finished, page
from tests.offline.loop import ask


@pytest.mark.parametrize("seed", range(8))
def test_rings_that_cross_are_counted(seed: int) -> None:
    picture, count = chain(seed, 0)
    assert ask("Count the circles in the image.", picture).answer == str(count)


@pytest.mark.parametrize(("noun", "sides", "seed"), [
    ("pentagons", 5, 0), ("pentagons", 5, 1), ("pentagons", 5, 3),
    ("hexagons", 6, 1), ("triangles", 3, 1),
])  # fmt: skip
def test_polygons_that_cross_are_counted(noun: str, sides: int, seed: int) -> None:
    picture, count = chain(seed, sides)
    assert ask(f"How many {noun} are there?", picture).answer == str(count)


@pytest.mark.parametrize("seed", range(8))
def test_filled_discs_that_run_together_are_counted(seed: int) -> None:
    chance = random.Random(seed)
    image, pen = page(560, 420)
    radius, count = chance.uniform(25, 45), chance.randint(3, 6)
    x, y = 60.0, 210.0
    for _ in range(count):
        disc(pen, x, y, radius, fill=INKS["blue"])
        step, angle = radius * chance.uniform(1.5, 1.8), chance.uniform(-0.5, 0.5)
        x, y = x + step * math.cos(angle), y + step * math.sin(angle)
    assert ask("How many blue circles are there?", finished(image)).answer == str(count)


def test_a_picture_like_a_photograph_is_not_guessed_at() -> None:
    photo = Image.effect_noise((240, 180), 90).filter(ImageFilter.GaussianBlur(6)).convert("RGB")
    photo = ImageOps.autocontrast(
        ImageOps.colorize(ImageOps.autocontrast(photo.convert("L")), "navy", "gold")
    )
    assert ask("How many circles are there?", photo).answer is None
