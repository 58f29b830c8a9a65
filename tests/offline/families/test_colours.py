"""Colours of drawn pictures."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.offline.drawings import INKS, filled_shape, finished, page
from tests.offline.loop import ask


def drawing(paper: tuple[int, int, int] = (255, 255, 255)) -> Image.Image:
    """A red square, top left, and a blue circle, in the middle."""
    image, pen = page(400, 300, paper)
    filled_shape(pen, "square", (80, 80, 50), INKS["red"], turn=0.785)
    filled_shape(pen, "circle", (200, 150, 40), INKS["blue"])
    return finished(image)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What colour is the background?", "white"),
        ("What is the dominant colour?", "white"),
        ("What color is the square?", "red"),
        ("What is the colour of the circle?", "blue"),
        ("What colour is at the centre?", "blue"),
        ("What colour is the pixel at (80, 80)?", "red"),
        ("What is the colour of the top left corner?", "white"),
        ("Is there anything red?", "Yes"),
        ("Is there anything green in the picture?", "No"),
        ("Does the image contain any blue?", "Yes"),
        ("How many different colours are there?", "3"),
    ],
)
def test_the_colour_that_is_asked_for_is_measured(question: str, answer: str) -> None:
    assert ask(question, drawing()).answer == answer


@pytest.mark.parametrize(
    ("paper", "name"),
    [
        ((20, 20, 25), "black"), ((128, 128, 130), "grey"), ((240, 210, 40), "yellow"), ((10, 110, 30), "green"),
        ((250, 180, 200), "pink"), ((130, 80, 45), "brown"), ((250, 130, 20), "orange"), ((120, 60, 170), "purple"),
    ],
)  # fmt: skip
def test_a_background_has_its_everyday_name(paper: tuple[int, int, int], name: str) -> None:
    assert ask("What is the background colour?", drawing(paper)).answer == name


def test_a_shape_that_is_not_there_has_no_colour() -> None:
    assert ask("What colour is the triangle?", drawing()).answer is None


def test_a_pixel_outside_has_no_colour() -> None:
    assert ask("What colour is the pixel at (4000, 10)?", drawing()).answer is None


def test_two_colours_of_the_same_area_are_not_ranked() -> None:
    picture = Image.new("RGB", (100, 100), "red")
    picture.paste((0, 0, 255), (0, 0, 50, 100))
    assert ask("What is the dominant colour?", picture).answer is None
