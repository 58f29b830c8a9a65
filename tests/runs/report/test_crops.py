from __future__ import annotations

import pytest
from PIL import Image

from pyvision.runs.report.crops import Crop, CropFinder
from pyvision.types import Picture
from tests.runs.runs import noise, picture

WHOLE = noise(160, 120)


def found(figure: Image.Image, whole: Image.Image = WHOLE) -> Crop | None:
    return CropFinder({"image_clue_0": picture(whole)}).find(picture(figure))


@pytest.mark.parametrize("box", [(0, 0, 40, 30), (120, 90, 160, 120), (33, 17, 61, 100), (0, 50, 160, 60)])
def test_a_cut_is_found_where_it_lies(box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    assert found(WHOLE.crop(box)) == Crop("image_clue_0", left, top, right - left, bottom - top)


@pytest.mark.parametrize("factor", [2, 3, 8])
def test_a_cut_that_was_enlarged_with_sharp_pixels_is_found(factor: int) -> None:
    cut = WHOLE.crop((20, 30, 60, 50))
    large = cut.resize((cut.width * factor, cut.height * factor), Image.Resampling.NEAREST)
    assert found(large) == Crop("image_clue_0", 20, 30, 40, 20, factor)


def test_the_right_one_of_several_images_is_named() -> None:
    other = noise(160, 120, seed=99)
    pictures = {"image_clue_0": picture(WHOLE), "image_clue_1": picture(other)}
    crop = CropFinder(pictures).find(picture(other.crop((5, 6, 45, 36))))
    assert crop == Crop("image_clue_1", 5, 6, 40, 30)


def test_a_cut_with_one_other_pixel_is_not_found() -> None:
    cut = WHOLE.crop((10, 10, 50, 50))
    cut.putpixel((20, 20), (1, 2, 3))
    assert found(cut) is None


def test_a_cut_that_is_in_two_places_is_not_found() -> None:
    twice = Image.new("RGB", (160, 120), "white")
    tile = noise(40, 30)
    twice.paste(tile, (0, 0))
    twice.paste(tile, (100, 60))
    assert found(tile, twice) is None


@pytest.mark.parametrize("figure", [Image.new("RGB", (40, 30), "white"), noise(300, 300), WHOLE, noise(2, 2)])
def test_what_is_plain_or_larger_or_the_whole_or_tiny_is_not_found(figure: Image.Image) -> None:
    assert found(figure) is None


def test_a_plain_image_is_searched_without_finding_anything() -> None:
    assert found(Image.new("RGB", (40, 30), "white"), Image.new("RGB", (2000, 2000), "white")) is None


def test_a_grey_cut_is_found_in_a_grey_image() -> None:
    grey = WHOLE.convert("L")
    assert found(grey.crop((12, 13, 92, 83)), grey) == Crop("image_clue_0", 12, 13, 80, 70)


def test_what_is_no_image_is_not_found() -> None:
    assert CropFinder({"image_clue_0": picture(WHOLE)}).find(Picture(b"no", "image/png", 40, 30)) is None


def test_a_search_without_time_finds_nothing() -> None:
    finder = CropFinder({"image_clue_0": picture(WHOLE)}, seconds=-1.0)
    assert finder.find(picture(WHOLE.crop((0, 0, 40, 40)))) is None
