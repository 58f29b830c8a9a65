"""The size, the differences, the colours and the text of whole images."""

from __future__ import annotations

import importlib.util
import random
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from pyvision.images.fit import fit
from pyvision.images.objects import to_pil
from pyvision.images.read import read
from pyvision.offline.model import find_plan
from pyvision.offline.wording import read_question
from tests.offline.drawings import INKS, draw_shape, finish, page, scatter
from tests.offline.loop import ask

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the size of the image?", "640 x 480"),
        ("How wide is the image?", "640"),
        ("What is the height of the picture in pixels?", "480"),
        ("What is the aspect ratio of the image?", "4:3"),
        ("Is the image portrait or landscape?", "landscape"),
        ("Is the image in portrait orientation?", "No"),
        ("How many pixels does the image have?", "307200"),
        ("How many megapixels does the image have?", "0.31"),
    ],
)
def test_the_size_is_measured(question: str, answer: str) -> None:
    assert ask(question, Image.new("RGB", (640, 480), "navy")).answer == answer


def test_the_second_image_is_measured_when_it_is_meant() -> None:
    pictures = Image.new("RGB", (30, 40)), Image.new("RGB", (50, 60))
    assert ask("What is the size of the second image?", *pictures).answer == "50 x 60"


def draw_change(seed: int) -> tuple[Image.Image, Image.Image, list[tuple[int, int, int, int]]]:
    """A drawing, the same with far-apart boxes painted over, and those boxes."""
    chance = random.Random(seed)
    picture = scatter(seed)[0]
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
    one, other, boxes = draw_change(seed)
    assert ask("How many differences are there between the two images?", one, other).answer == str(len(boxes))


@pytest.mark.parametrize("seed", range(3))
def test_the_regions_that_changed_are_boxed(seed: int) -> None:
    one, other, boxes = draw_change(seed)
    answer = ask("What differs between the two pictures?", one, other).answer or ""
    for left, top, right, bottom in boxes:
        assert f"x {left}-{right}, y {top}-{bottom}" in answer


def test_equal_pictures_are_the_same() -> None:
    picture = scatter(1)[0]
    assert ask("Are the two images the same?", picture, picture.copy()).answer == "Yes"
    assert ask("Is there any difference between the images?", picture, picture.copy()).answer == "No"


def test_one_pixel_makes_them_different() -> None:
    one, other = Image.new("RGB", (90, 60), "white"), Image.new("RGB", (90, 60), "white")
    other.putpixel((40, 30), (0, 0, 0))
    assert ask("Are these images identical?", one, other).answer == "No"
    assert ask("How many pixels differ?", one, other).answer == "1 pixels (0.02%)"


def test_pictures_of_different_sizes_are_not_the_same() -> None:
    assert ask("Are the images the same?", Image.new("RGB", (9, 9)), Image.new("RGB", (9, 8))).answer == "No"


def drawing(paper: tuple[int, int, int] = (255, 255, 255)) -> Image.Image:
    """A red square, top left, and a blue circle, in the middle."""
    image, pen = page(400, 300, paper)
    draw_shape(pen, "square", (80, 80, 50), INKS["red"], turn=0.785)
    draw_shape(pen, "circle", (200, 150, 40), INKS["blue"])
    return finish(image)


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


ENGINE = shutil.which("tesseract") or any(map(importlib.util.find_spec, ("rapidocr", "rapidocr_onnxruntime")))


def sign() -> Image.Image:
    picture = Image.new("RGB", (400, 120), "white")
    ImageDraw.Draw(picture).text((30, 30), "HELLO 42", fill="black", font_size=48)
    return picture


@pytest.mark.skipif(bool(ENGINE), reason="a text engine is installed")
def test_without_an_engine_it_says_what_to_install() -> None:
    run = ask("What text is in the image?", sign())
    assert run.answer is None
    assert "tesseract" in run.reply.text


@pytest.mark.skipif(not ENGINE, reason="no text engine is installed")
def test_with_an_engine_the_text_is_read() -> None:
    assert ask("What text is in the image?", sign()).answer == "HELLO 42"


LOCATING = importlib.util.find_spec("rapidocr") is not None


@pytest.mark.slow
@pytest.mark.skipif(not LOCATING, reason="no engine that finds text is installed")
def test_a_name_tag_is_read_enlarged() -> None:
    run = ask("What does the name tag say?", Image.open(EXAMPLES / "portrait.jpg"))
    assert run.answer == "COMO HOPPER"
    assert "zoom(image_clue_0" in run.cells[-1]


@pytest.mark.slow
@pytest.mark.skipif(not LOCATING, reason="no engine that finds text is installed")
def test_street_names_that_the_copy_for_models_does_not_show_are_read() -> None:
    photo = read(EXAMPLES / "street.jpg")
    shown = (photo, fit(photo).picture)
    answers = [ask("What do the street signs say?", to_pil(picture)).answer for picture in shown]
    assert answers == ["SE88 / SE MORRISON / STOP", "STOP"]


@pytest.mark.parametrize(
    "question",
    [
        "What does the name tag say?",
        "What is the name on the badge?",
        "What name is on the tag?",
        "Read the name tag.",
        "What do the street signs say?",
    ],
)
def test_a_question_about_a_tag_or_sign_looks_closer(question: str) -> None:
    plan = find_plan(read_question(question, images=1))
    assert plan is not None
    assert [cell.template for cell in plan.cells[:2]] == ["closer", "around"]
