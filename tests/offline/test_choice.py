"""Which family takes which question."""

from __future__ import annotations

import pytest

from pyvision.offline.model import find_plan
from pyvision.offline.wording import read_question

QUESTIONS = {
    "size": (
        "What is the size of the picture?",
        "how wide is this image in pixels?",
        "What are the dimensions of the photo? Answer as WxH.",
        "What is the aspect ratio of the image?",
        "Is the image portrait or landscape?",
        "How big is the picture?",
    ),
    "ruled_table": (
        "How many rows and columns are in the table? Answer as (rows, columns).",
        "Count the rows in the grid.",
        "number of columns",
        "How many columns does this table have?",
        "In the image, how many rows are there?",
        "What is the size of the table?",
    ),
    "gap": (
        "Are the two circles touching? Answer Yes or No.",
        "Do the circles touch each other?",
        "Do the red circle and the blue circle overlap?",
        "Are the discs touching or overlapping?",
        "Do any of the circles in the image overlap?",
    ),
    "paths": (
        "How many single-coloured paths go from A to C?",
        "How many single-colored paths go from A to C? Answer with a number in curly brackets.",
        "Count the routes between station B and station D.",
        "Which colour is the path from A to B?",
    ),
    "crossings": (
        "How many times do the blue and red lines intersect?",
        "How often do the two lines cross each other?",
        "How many intersections are there between the green line and the red line?",
    ),
    "objects": (
        "How many squares are in the image?",
        "Count the circles in the image.",
        "How many red triangles are there?",
        "Please count all the pentagons.",
        "What is the number of dots in this picture?",
        "How many blue objects can you see?",
        "How many nested squares are there?",
    ),
    "colours": (
        "What is the dominant colour?",
        "Which color is the background?",
        "What colour is the square?",
        "What is the color of the circle in the image?",
        "Is there anything red?",
        "Does the image contain any green?",
        "What colour is the pixel at (10, 20)?",
        "What is the colour in the top left corner?",
        "How many different colours are there?",
        "What colours are in the picture?",
    ),
    "text": (
        "What text is in the image?",
        "Read the text.",
        "What does the label say?",
        "What does it say?",
    ),
    "closer": (
        "What does the name tag say?",
        "Read the badge.",
        "What does the sign say?",
        "What is written on the street signs?",
    ),
}
NOT_QUESTIONS = (
    "What breed is the dog?",
    "How many dogs are in the image?",
    "How many red circles are to the left of the square?",
    "How many people wear red?",
    "What colour is the car?",
    "Is the woman on the table touching the circle?",
    "How many rows of seats are empty?",
    "Describe the picture.",
    "What is the size of the dog?",
    "How many times does the word red occur?",
    "Which circle is the largest?",
    "Is there a red car next to the square?",
    "How many lines of text are there?",
    "What is the width of the red square?",
    "",
)


@pytest.mark.parametrize(
    ("template", "question"), [(name, text) for name, texts in QUESTIONS.items() for text in texts]
)
def test_a_question_goes_to_the_family_that_can_measure_it(template: str, question: str) -> None:
    plan = find_plan(read_question(question, images=1))
    assert plan is not None
    assert plan.cells[0].template == template


@pytest.mark.parametrize("question", NOT_QUESTIONS)
def test_a_question_that_rules_cannot_answer_gets_no_plan(question: str) -> None:
    assert find_plan(read_question(question, images=1)) is None


@pytest.mark.parametrize(
    "question",
    [
        "What differs between the two pictures?",
        "Are the two images the same?",
        "How many differences are there between the images?",
        "Where do these two images differ?",
        "Spot the differences.",
        "How many pixels differ?",
    ],
)
def test_a_comparison_needs_exactly_two_images(question: str) -> None:
    assert find_plan(read_question(question, images=2)) is not None
    assert find_plan(read_question(question, images=1)) is None
    assert find_plan(read_question(question, images=3)) is None


def test_the_image_that_the_question_names_is_used() -> None:
    for question in ("How many circles are in the second image?", "Count the circles in image 2."):
        plan = find_plan(read_question(question, images=2))
        assert plan is not None
        assert plan.cells[0].images == (1,)


def test_one_of_several_images_must_be_named() -> None:
    assert find_plan(read_question("How many circles are there?", images=2)) is None


def test_an_image_that_does_not_exist_gets_no_plan() -> None:
    assert find_plan(read_question("How many circles are in the third image?", images=2)) is None
