"""The form of a question: which of the four it is, and the two lines that it becomes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.strategies.vdebugger.programs import FORMS, query_of
from pyvision.types import Question
from tests.doubles import picture


def ask(text: str, images: int = 1, choices: tuple[str, ...] = ()) -> Question:
    return Question(text, (picture(),) * images, choices)


@pytest.mark.parametrize(
    ("text", "images", "form"),
    [
        ("How many cups are there?", 1, "vqa"),
        ("Where is the cup?", 1, "vqa"),
        ("Find the cup.", 1, "box"),
        ("please locate the cup", 1, "box"),
        ("Give the bounding box of the cup.", 1, "box"),
        ("Find the man on the left of the bench.", 1, "box"),
        ("Find people with hats", 1, "box"),
        ("Box the cat.", 1, "box"),
        ("Mark all the cups", 1, "box"),
        ("Find the perimeter of the triangle.", 1, "vqa"),
        ("Find the total surface area of the cone.", 1, "vqa"),
        ("Find x.", 1, "vqa"),
        ("Find how many cups there are", 1, "vqa"),
        ("Find the colour of the cup.", 1, "vqa"),
        ("Box A contains 3 balls. How many are left?", 1, "vqa"),
        ("Mark bought 3 apples.", 1, "vqa"),
        ("Ground floor or first floor?", 1, "vqa"),
        ("Find the cup.", 2, "pair"),
        ("Both show a cup.", 2, "pair"),
        ("How many show a cup?", 3, "list"),
    ],
)
def test_the_form_follows_from_the_question(text: str, images: int, form: str) -> None:
    assert query_of(ask(text, images)).form.name == form


def test_choices_are_part_of_the_line() -> None:
    query = query_of(ask("Find the odd one.", 1, ("a cup", "a dish")))
    assert query.line == "Given an image: Find the odd one. A. a cup B. a dish"


def test_what_decided_the_form_is_known() -> None:
    assert query_of(ask("Find the perimeter.")).why == "a value is asked for, not a place"
    assert query_of(ask("Find the cup."), "vqa").why == "set by the option form"


LINES = {
    ("How  many\ncups?", 1): (
        "Given an image: How many cups?",
        "def execute_command(image) -> str:",
        "image_clue_0",
    ),
    ("Find the red cup.", 1): (
        "Given an image: Find the red cup.",
        "def execute_command(image) -> ImagePatch:",
        "image_clue_0",
    ),
    ("Give me the bounding box of the cup", 1): (
        "Given an image: Find the cup.",
        "def execute_command(image) -> ImagePatch:",
        "image_clue_0",
    ),
    ("Both show cups.", 2): (
        "Given two images, one on the left and one on the right: Is the statement true? Both show cups.",
        "def execute_command(image_dict) -> str:",
        '{"left": image_clue_0, "right": image_clue_1}',
    ),
    ("Which side?", 2): (
        "Given two images, one on the left and one on the right: Which side?",
        "def execute_command(image_dict) -> str:",
        '{"left": image_clue_0, "right": image_clue_1}',
    ),
    ("How many?", 3): (
        "Given a list of images: How many?",
        "def execute_command(image_list) -> str:",
        "[image_clue_0, image_clue_1, image_clue_2]",
    ),
}


@pytest.mark.parametrize("asked", LINES)
def test_a_question_becomes_two_lines_with_a_call(asked: tuple[str, int]) -> None:
    query = query_of(ask(*asked))
    assert (query.line, query.signature, query.argument) == LINES[asked]


@pytest.mark.parametrize(("form", "images"), [("vqa", 2), ("box", 3), ("pair", 1), ("pair", 3)])
def test_a_form_that_does_not_take_so_many_images_is_refused(form: str, images: int) -> None:
    with pytest.raises(
        ConfigError, match=f"option form is '{form}', which takes .* the question has {images}"
    ):
        query_of(ask("What?", images), form)  # type: ignore[arg-type]


@given(st.text(min_size=1, max_size=80), st.integers(1, 4))
def test_any_question_is_one_line(text: str, images: int) -> None:
    assert "\n" not in query_of(ask(text, images)).line


@given(st.text(min_size=1, max_size=80), st.integers(1, 4))
def test_the_plain_program_of_any_question_is_python(text: str, images: int) -> None:
    compile(query_of(ask(text, images)).plain_program, "plain", "exec")


@given(st.text(min_size=1, max_size=80), st.integers(1, 4))
def test_any_question_has_one_of_the_forms(text: str, images: int) -> None:
    assert query_of(ask(text, images)).form in FORMS.values()
