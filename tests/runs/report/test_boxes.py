from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pyvision.runs.report.crops import Crop, collect_boxes
from tests.runs.runs import noise, picture

PICTURES = {"image_clue_0": picture(noise(120, 90))}


@pytest.mark.parametrize(
    "code",
    [
        "image_clue_0.crop((10, 20, 50, 60))",
        "plt.imshow(image_clue_0.crop([10, 20, 50, 60]).resize((400, 400)))",
        "box = (10, 20, 50, 60)\nfor _ in range(2):\n    display(image_clue_0.crop(box))",
        "image_clue_0.crop((10, 20, 50.2, 59.6)); image_clue_0.crop((10, 20, 50, 60))",
    ],
)
def test_a_box_of_numbers_is_found_once(code: str) -> None:
    assert collect_boxes(code, PICTURES) == (Crop("image_clue_0", 10, 20, 40, 40),)


def test_a_box_is_cut_off_at_the_borders() -> None:
    assert collect_boxes("image_clue_0.crop((-5, 80, 500, 500))", PICTURES) == (
        Crop("image_clue_0", 0, 80, 120, 10),
    )


@pytest.mark.parametrize(
    "code",
    [
        "image_clue_0.crop((x, 20, 50, 60))",
        "image_clue_1.crop((10, 20, 50, 60))",
        "box = (1, 2, 3, 4)\nbox = (5, 6, 7, 8)\nimage_clue_0.crop(box)",
        "image_clue_0.crop((50, 20, 10, 60))",
        "image_clue_0.crop((1, 2, 3))",
        "image_clue_0.crop((1, 2, 3, 1e400))",
        "image_clue_0.crop('1234')",
        "def broken(",
        "# image_clue_0.crop((10, 20, 50, 60))",
    ],
)
def test_what_is_no_box_of_numbers_is_left_out(code: str) -> None:
    assert collect_boxes(code, PICTURES) == ()


@given(some.text())
def test_any_text_is_looked_through(code: str) -> None:
    assert isinstance(collect_boxes(f"image_clue_0.crop({code})", PICTURES), tuple)
