"""The offline rules find colours and simple shapes, and decline everything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import ImageDraw

from pyvision.errors import ToolError
from pyvision.images.pixels import crop
from pyvision.images.read import read
from pyvision.offline.perception import tools
from pyvision.types import Observation, Picture, ToolRequest
from tests.tools.perception.pictures import (
    drawn,
    nobody,
    photograph,
    two_circles_and_a_square,
    written,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURE = two_circles_and_a_square()


def find_labels(text: str, picture: Picture = PICTURE) -> list[str]:
    observation = tools.detect("")(ToolRequest(text, picture), nobody)
    return sorted(box["label"] for box in observation.data["boxes"])


def answer(question: str, picture: Picture = PICTURE) -> str:
    return tools.vqa("")(ToolRequest(question, picture), nobody).text


def scores(*texts: str, picture: Picture = PICTURE) -> list[float]:
    request = ToolRequest(picture=picture, options={"texts": list(texts)})
    observation: Observation = tools.match("")(request, nobody)
    return [float(score) for score in observation.data["scores"]]


def test_objects_are_found_where_they_are() -> None:
    (box,) = tools.detect("")(ToolRequest("blue square", PICTURE), nobody).data["boxes"]
    assert [box[edge] for edge in ("left", "top", "right", "bottom")] == pytest.approx(
        [90, 100, 130, 140], abs=1
    )


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("object", ["blue square", "red circle", "red circle"]),
        ("", ["blue square", "red circle", "red circle"]),
        ("red circles", ["red circle", "red circle"]),
        ("the square", ["blue square"]),
        ("blue object", ["blue square"]),
        ("green thing", []),
        ("ring", []),
    ],
)
def test_a_description_selects_objects(text: str, labels: list[str]) -> None:
    assert find_labels(text) == labels


def test_rings_differ_from_discs() -> None:
    def draw(page: ImageDraw.ImageDraw) -> None:
        page.ellipse((10, 10, 70, 70), outline="red", width=8)
        page.line((100, 20, 220, 140), fill="green", width=4)
        page.line((20, 150, 90, 150), fill="blue", width=3)

    picture = drawn(draw)
    assert find_labels("ring", picture) == ["red ring"]
    assert find_labels("lines", picture) == ["blue line", "green line"]


def test_an_animal_is_declined_with_another_provider() -> None:
    with pytest.raises(ToolError, match=r"not 'black dog'; .* --tool detect=model"):
        find_labels("black dog")


def test_a_photograph_is_separated_into_regions_of_one_colour() -> None:
    assert find_labels("object", photograph()) == ["blue region", "green region"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many red circles are there?", "2"),
        ("How many objects are in the picture?", "3"),
        ("What color is the square?", "blue"),
        ("What colour is the background?", "white"),
        ("What is the dominant colour?", "white"),
        ("What colour is this?", "red"),
        ("Is there a blue square?", "yes"),
        ("Are there any triangles?", "no"),
        ("Is the square red?", "no"),
        ("Is this a circle?", "yes"),
        ("What shape is the blue object?", "square"),
        ("What is this?", "red circle"),
        ("Where is the square?", "lower center"),
        ("What is the size of the image?", "240 x 160"),
        ("How big is the square?", "40 x 40"),
    ],
)
def test_simple_questions_are_answered(question: str, expected: str) -> None:
    assert answer(question) == expected


def test_a_crop_can_be_asked_about() -> None:
    patch = crop(PICTURE, (80, 90, 140, 150))
    assert answer("What color is this?", patch) == "blue"
    assert answer("Is this a circle?", patch) == "no"


@pytest.mark.parametrize(
    "question", ["Who painted it?", "How many dogs are there?", "Is the dog red?", "?", "what"]
)
def test_other_questions_are_declined(question: str) -> None:
    with pytest.raises(ToolError, match="vqa"):
        answer(question)


def test_objects_in_a_photograph_are_not_counted() -> None:
    with pytest.raises(ToolError, match="not a simple drawing"):
        answer("How many circles are there?", photograph())


def test_the_sky_is_taken_to_be_the_top_of_a_photograph() -> None:
    assert answer("What colour is the sky?", photograph()) == "blue"
    assert answer("What colour is the grass?", photograph()) == "green"


def test_the_text_that_fits_best_scores_highest() -> None:
    right, wrong_shape, wrong_colour, unknown = scores(
        "red circle", "red square", "green circle", "a happy dog"
    )
    assert right > wrong_shape > wrong_colour == unknown == 0


def test_texts_about_anything_else_are_declined() -> None:
    with pytest.raises(ToolError, match="none of these texts names one"):
        scores("a happy dog", "a sad dog")


def test_what_stands_lower_counts_as_nearer() -> None:
    data = tools.depth("")(ToolRequest(picture=PICTURE), nobody).data
    rows, (width, height) = data["depth"], (data["width"], data["height"])

    def at(x: int, y: int) -> float:
        return float(rows[y * height // 160][x * width // 240])

    assert at(110, 120) < at(180, 80) < at(230, 5)
    assert at(50, 50) < at(140, 50)  # a thing stands before the ground beside it


def test_a_caption_contains_objects_with_the_text() -> None:
    assert tools.caption("")(ToolRequest(picture=PICTURE), nobody).text == (
        "A drawing on a white background with 2 red circles and 1 blue square."
    )
    assert (
        'The text "EXIT" can be read.' in tools.caption("")(ToolRequest(picture=written("EXIT")), nobody).text
    )


def test_capital_letters_are_read_with_the_gaps_between_words() -> None:
    assert (
        tools.ocr("")(ToolRequest(picture=written("MAIN STREET")), nobody).data["lines"][0]["text"]
        == "MAIN STREET"
    )


def test_a_line_that_cannot_be_read_as_a_whole_is_not_read_at_all() -> None:
    assert tools.ocr("")(ToolRequest(picture=written("Total 34")), nobody).data == {"lines": []}


def test_knowledge_is_declined() -> None:
    with pytest.raises(ToolError, match="llm_qa=model"):
        tools.llm_qa("")(ToolRequest("Who wrote Faust?"), nobody)


def test_the_examples_are_described_correctly() -> None:
    shapes, lake = read(EXAMPLES / "shapes.png"), read(EXAMPLES / "lake.jpg")
    assert len(find_labels("red circle", shapes)) == 4
    assert answer("How many triangles are there?", shapes) == "2"
    assert answer("What colour is the sky?", lake) == "blue"
    assert set(find_labels("object", lake)) == {"blue region", "grey region", "purple region"}
