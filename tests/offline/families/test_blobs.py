"""Counting by colour and shape."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.offline.drawings import scattered
from tests.offline.loop import ask


@pytest.mark.parametrize("seed", range(10))
def test_things_of_one_colour_and_shape_are_counted(seed: int) -> None:
    picture, truth = scattered(seed)
    colour, shape = truth[0]
    assert ask(f"How many {colour} {shape}s are there?", picture).answer == str(truth.count((colour, shape)))


@pytest.mark.parametrize("seed", range(10, 16))
def test_things_of_one_shape_are_counted_whatever_their_colour(seed: int) -> None:
    picture, truth = scattered(seed)
    shape = truth[0][1]
    assert ask(f"Count the {shape}s.", picture).answer == str(sum(other == shape for _, other in truth))


@pytest.mark.parametrize("seed", range(16, 22))
def test_things_of_one_colour_are_counted_whatever_their_shape(seed: int) -> None:
    picture, truth = scattered(seed)
    colour = truth[0][0]
    assert ask(f"How many {colour} objects are there?", picture).answer == str(
        sum(c == colour for c, _ in truth)
    )


def test_all_things_are_counted() -> None:
    picture, truth = scattered(30)
    assert ask("How many shapes are in the picture?", picture).answer == str(len(truth))


def test_a_colour_that_is_absent_counts_nothing() -> None:
    picture, _ = scattered(1)
    assert ask("How many yellow stars are there?", picture).answer == "0"


def test_noise_is_not_counted() -> None:
    noise = Image.effect_noise((500, 400), 120).convert("RGB")
    assert ask("How many objects are there?", noise).answer is None
