"""Two pictures compared."""

from __future__ import annotations

import random

import pytest
from PIL import Image, ImageDraw

from tests.offline.drawings import scattered
from tests.offline.loop import ask


def changed(seed: int) -> tuple[Image.Image, Image.Image, list[tuple[int, int, int, int]]]:
    """A drawing, the same with far-apart boxes painted over, and those boxes."""
    chance = random.Random(seed)
    picture = scattered(seed)[0]
    other, boxes = picture.copy(), []
    columns = chance.sample(range(3), chance.randint(1, 3))
    for column in columns:
        left, top = column * picture.width // 3 + 12, chance.randint(10, picture.height - 60)
        box = (left, top, left + chance.randint(8, 40), top + chance.randint(8, 40))
        ImageDraw.Draw(other).rectangle(box, fill=(250, 250, 0))
        boxes.append(box)
    return picture, other, boxes


@pytest.mark.parametrize("seed", range(6))
def test_the_regions_that_changed_are_counted(seed: int) -> None:
    one, other, boxes = changed(seed)
    assert ask("How many differences are there between the two images?", one, other).answer == str(len(boxes))


@pytest.mark.parametrize("seed", range(3))
def test_the_regions_that_changed_are_boxed(seed: int) -> None:
    one, other, boxes = changed(seed)
    answer = ask("What differs between the two pictures?", one, other).answer or ""
    for left, top, right, bottom in boxes:
        assert f"x {left}-{right}, y {top}-{bottom}" in answer


def test_equal_pictures_are_the_same() -> None:
    picture = scattered(1)[0]
    assert ask("Are the two images the same?", picture, picture.copy()).answer == "Yes"
    assert ask("Is there any difference between the images?", picture, picture.copy()).answer == "No"


def test_one_pixel_makes_them_different() -> None:
    one, other = Image.new("RGB", (90, 60), "white"), Image.new("RGB", (90, 60), "white")
    other.putpixel((40, 30), (0, 0, 0))
    assert ask("Are these images identical?", one, other).answer == "No"
    assert ask("How many pixels differ?", one, other).answer == "1 pixels (0.02%)"


def test_pictures_of_different_sizes_are_not_the_same() -> None:
    assert ask("Are the images the same?", Image.new("RGB", (9, 9)), Image.new("RGB", (9, 8))).answer == "No"
