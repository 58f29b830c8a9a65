"""Counting by colour and shape, outlines that cross, discs that run together, and gaps of about a pixel."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from PIL import Image, ImageFilter, ImageOps

from tests.offline.drawings import (
    INKS,
    chain,
    corners,
    disc,
    finish,
    nest,
    page,
    polygon,
    scatter,
    seeds,
    two_discs,
)
from tests.offline.loop import ask


@seeds(10, quick=4)
def test_objects_of_one_colour_with_one_shape_are_counted(seed: int) -> None:
    picture, truth = scatter(seed)
    colour, shape = truth[0]
    assert ask(f"How many {colour} {shape}s are there?", picture).answer == str(truth.count((colour, shape)))


@seeds(10, 16)
def test_objects_of_one_shape_are_counted_whatever_their_colour(seed: int) -> None:
    picture, truth = scatter(seed)
    shape = truth[0][1]
    assert ask(f"Count the {shape}s.", picture).answer == str(sum(other == shape for _, other in truth))


@seeds(16, 22)
def test_objects_of_one_colour_are_counted_whatever_their_shape(seed: int) -> None:
    picture, truth = scatter(seed)
    colour = truth[0][0]
    assert ask(f"How many {colour} objects are there?", picture).answer == str(
        sum(c == colour for c, _ in truth)
    )


def test_all_objects_are_counted() -> None:
    picture, truth = scatter(30)
    assert ask("How many shapes are in the picture?", picture).answer == str(len(truth))


def test_a_colour_that_is_absent_counts_nothing() -> None:
    picture, _ = scatter(1)
    assert ask("How many yellow stars are there?", picture).answer == "0"


def test_noise_is_not_counted() -> None:
    noise = Image.effect_noise((500, 400), 120).convert("RGB")
    assert ask("How many objects are there?", noise).answer is None


@seeds(12, quick=4)
def test_nested_squares_are_counted(seed: int) -> None:
    picture, count = nest(seed)
    assert ask("How many squares are there?", picture).answer == str(count)


def test_squares_that_cross_are_counted_by_another_method() -> None:
    image, pen = page(400, 300)
    for x, y, half in ((120, 140, 70), (190, 170, 80), (240, 120, 50)):
        polygon(pen, corners(x, y, half * math.sqrt(2), 4, math.pi / 4), line=(0, 0, 0), width=2)
    run = ask("How many squares are in the image?", finish(image))
    assert run.answer == "3"
    assert len(run.cells) == 2


@seeds(8)
def test_rings_that_cross_are_counted(seed: int) -> None:
    picture, count = chain(seed, 0)
    assert ask("Count the circles in the image.", picture).answer == str(count)


@pytest.mark.parametrize(("noun", "sides", "seed"), [
    ("pentagons", 5, 3), ("hexagons", 6, 1), ("triangles", 3, 1),
    *(pytest.param("pentagons", 5, seed, marks=pytest.mark.slow) for seed in (0, 1)),
])  # fmt: skip
def test_polygons_that_cross_are_counted(noun: str, sides: int, seed: int) -> None:
    picture, count = chain(seed, sides)
    assert ask(f"How many {noun} are there?", picture).answer == str(count)


@seeds(8)
def test_filled_discs_that_run_together_are_counted(seed: int) -> None:
    chance = random.Random(seed)
    image, pen = page(560, 420)
    radius, count = chance.uniform(25, 45), chance.randint(3, 6)
    x, y = 60.0, 210.0
    for _ in range(count):
        disc(pen, x, y, radius, fill=INKS["blue"])
        step, angle = radius * chance.uniform(1.5, 1.8), chance.uniform(-0.5, 0.5)
        x, y = x + step * math.cos(angle), y + step * math.sin(angle)
    assert ask("How many blue circles are there?", finish(image)).answer == str(count)


def test_a_picture_like_a_photograph_is_not_guessed_at() -> None:
    noise = np.random.default_rng(1).normal(128, 90, (180, 240)).clip(0, 255).astype(np.uint8)
    photo = Image.fromarray(noise).filter(ImageFilter.GaussianBlur(6)).convert("RGB")
    photo = ImageOps.autocontrast(
        ImageOps.colorize(ImageOps.autocontrast(photo.convert("L")), "navy", "gold")
    )
    assert ask("How many circles are there?", photo).answer is None


@pytest.mark.parametrize("colours", [1, 2])
@pytest.mark.parametrize("gap", [-9, -1.6, 0, 1.6, 12])
@seeds(2, quick=1)
def test_discs_touch_when_no_gap_is_left(seed: int, gap: float, colours: int) -> None:
    picture = two_discs(seed, gap, colours=colours)
    assert ask("Are the two circles touching?", picture).answer == ("Yes" if gap <= 0 else "No")


@pytest.mark.parametrize("gap", [-9, -1.6, 0, 1.6])
@seeds(2, 5, quick=1)
def test_discs_that_only_touch_do_not_overlap(seed: int, gap: float) -> None:
    assert ask("Do the circles overlap?", two_discs(seed, gap)).answer == ("Yes" if gap < 0 else "No")


def test_only_the_named_discs_are_compared() -> None:
    image, pen = page(400, 300)
    disc(pen, 100, 100, 40, fill=INKS["red"])
    disc(pen, 160, 100, 40, fill=INKS["blue"])
    disc(pen, 320, 200, 40, fill=INKS["green"])
    picture = finish(image)
    assert ask("Do the red circle and the blue circle overlap?", picture).answer == "Yes"
    assert ask("Do the red circle and the green circle overlap?", picture).answer == "No"


def test_one_disc_alone_cannot_be_decided() -> None:
    image, pen = page(200, 200)
    disc(pen, 100, 100, 40, fill=INKS["red"])
    assert ask("Are the circles touching?", finish(image)).answer is None


def test_an_empty_picture_cannot_be_decided() -> None:
    assert ask("Are the circles touching?", Image.new("RGB", (80, 80), "white")).answer is None


def test_crossing_outlines_overlap() -> None:
    image, pen = page(300, 200)
    disc(pen, 110, 100, 50, line=INKS["red"], width=3)
    disc(pen, 180, 100, 50, line=INKS["blue"], width=3)
    assert ask("Do the circles overlap?", finish(image)).answer == "Yes"
