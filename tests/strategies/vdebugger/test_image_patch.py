"""The functions that a program calls: geometry from the bottom left, and what they make of a service's answer."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pyvision.text.prompts import load
from tests.strategies.vdebugger.scenes import Near, Scene, SceneObject, World
from tests.strategies.vdebugger.snooping import api

NUMBER = "What number is written in the image (in digits)?"
SCENE = Scene(
    (
        SceneObject("cup", (20, 20, 80, 80), "red", {NUMBER: "7"}, 2.0),
        SceneObject("cup", (150, 150, 230, 230), "green", {NUMBER: "none"}, 8.0),
    ),
    {"What is this?": "a table", NUMBER: "12"},
)
NAMES = api(Near(World(SCENE)))
WHOLE = World(SCENE).image()
SIDES = st.integers(-20, 120)


def patch(*box: int, image: Image.Image | None = None) -> Any:
    return NAMES["ImagePatch"](image or WHOLE, *box)


def test_a_patch_is_formatted_as_the_published_one() -> None:
    assert repr(patch(image=Image.new("RGB", (500, 375)))) == (
        "ImagePatch(left=0, right=500, upper=375, lower=0, height=375, width=500, "
        "horizontal_center=250.0, vertical_center=187.5)"
    )


def test_the_origin_is_at_the_bottom_left() -> None:
    assert patch(0, 0, 10, 20).cropped_image.getpixel((0, 0)) == WHOLE.getpixel((0, 256 - 20))


def test_a_patch_of_a_patch_has_the_coordinates_of_the_original() -> None:
    child = patch(100, 50, 200, 150).crop(30, 30, 50, 60)
    assert (child.left, child.lower, child.right, child.upper) == (120, 70, 160, 120)
    assert child.cropped_image.getpixel((0, 0)) == WHOLE.getpixel((120, 256 - 120))


def test_a_crop_grows_by_the_margin_inside_its_image() -> None:
    corner = patch().crop(0, 0, 50, 50)
    assert (corner.left, corner.lower, corner.right, corner.upper) == (0, 0, 60, 60)


@pytest.mark.parametrize("box", [(5, 5, 5, 9), (9, 5, 5, 9), (300, 0, 400, 10)])
def test_a_patch_without_area_is_an_error(box: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="ImagePatch has no area"):
        patch(*box)


def patch_of(left: int, lower: int, right: int, upper: int) -> Any:
    """A patch of an image of 100 x 80 pixels; None where the two have no pixel in common."""
    try:
        return patch(left, lower, right, upper, image=Image.new("RGB", (100, 80)))
    except ValueError:
        assert min(right, 100) <= max(left, 0) or min(upper, 80) <= max(lower, 0)
        return None


@given(SIDES, SIDES, SIDES, SIDES)
def test_every_patch_is_inside_its_image(left: int, lower: int, right: int, upper: int) -> None:
    if (found := patch_of(left, lower, right, upper)) is not None:
        assert 0 <= found.left < found.right <= 100
        assert 0 <= found.lower < found.upper <= 80


@given(SIDES, SIDES, SIDES, SIDES)
def test_every_patch_measures_its_pixels(left: int, lower: int, right: int, upper: int) -> None:
    if (found := patch_of(left, lower, right, upper)) is not None:
        size = (found.right - found.left, found.upper - found.lower)
        assert found.cropped_image.size == (found.width, found.height) == size


def rectangle(left: int, lower: int, width: int, height: int) -> Any:
    return patch(left, lower, left + width, lower + height)


RECTANGLES = st.builds(
    rectangle, st.integers(0, 100), st.integers(0, 100), st.integers(1, 100), st.integers(1, 100)
)


@given(RECTANGLES, RECTANGLES)
def test_a_distance_is_symmetric(one: Any, other: Any) -> None:
    assert NAMES["distance"](one, other) == NAMES["distance"](other, one)


@given(RECTANGLES, RECTANGLES)
def test_a_distance_is_below_zero_only_where_patches_overlap(one: Any, other: Any) -> None:
    distance = NAMES["distance"](one, other)
    assert -1 <= distance < 256 * math.sqrt(2)
    assert distance >= 0 or one.overlaps_with(other)


@given(RECTANGLES)
def test_the_distance_of_a_patch_from_itself_is_minus_one(one: Any) -> None:
    assert NAMES["distance"](one, one) == -1


def test_distances_are_from_edge_to_edge() -> None:
    assert NAMES["distance"](rectangle(0, 0, 10, 10), rectangle(13, 14, 5, 5)) == 5
    assert NAMES["distance"](rectangle(0, 0, 10, 10), rectangle(0, 5, 10, 10)) == pytest.approx(-1 / 3)
    assert NAMES["distance"](3, 5) == 2


def test_a_detection_is_turned_to_the_bottom_left() -> None:
    first, second = patch().find("cup")
    assert {repr(first)[:50], repr(second)[:50]} == {
        repr(patch(10, 166, 90, 246))[:50],
        repr(patch(140, 16, 240, 116))[:50],
    }


def test_something_exists_when_a_detection_is_confirmed() -> None:
    assert patch().exists("cup")
    assert not patch().exists("dog")


@pytest.mark.parametrize(("name", "there"), [("12", True), ("number twelve", True), ("number 13", False)])
def test_a_number_exists_when_it_is_written_there(name: str, there: bool) -> None:
    assert patch().exists(name) is there


def test_a_property_has_to_fit_better_than_others() -> None:
    cups = sorted(patch().find("cup"), key=lambda each: each.left)
    assert [each.verify_property("cup", "red") for each in cups] == [True, False]
    assert [each.verify_property("cup", "green") for each in cups] == [False, True]


def test_the_best_text_is_chosen() -> None:
    assert patch().find("cup")[0].best_text_match(["red cup", "green cup"]) in ("red cup", "green cup")
    assert patch(10, 166, 90, 246).best_text_match(["green cup", "red cup"]) == "red cup"
    with pytest.raises(ValueError, match="at least one option"):
        patch().best_text_match([])


def test_the_best_image_is_chosen() -> None:
    cups = sorted(patch().find("cup"), key=lambda each: each.left)
    assert NAMES["best_image_match"](cups, ["green"]) is cups[1]
    assert NAMES["best_image_match"](cups, ["red"], return_index=True) == 0
    assert NAMES["best_image_match"]([], ["red"]) is None


def test_depth_is_the_median_of_the_patch_in_the_original() -> None:
    cups = sorted(patch(5, 5, 250, 250).find("cup"), key=lambda each: each.left)
    assert [each.compute_depth() for each in cups] == [2.0, 8.0]
    assert patch().compute_depth() == 9.0


def test_a_question_without_words_is_what_this_is() -> None:
    assert patch().simple_query() == "a table"


def test_a_service_that_fails_is_a_clear_error() -> None:
    names = api(Near(World()))
    with pytest.raises(names["ServiceError"]):
        names["ImagePatch"](WHOLE).find("cup")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("about 1,200 people", 1200),
        ("-3.5 degrees", -3.5),
        ("three", 3),
        ("twenty-one", 21),
        ("two hundred and five", 205),
        ("three thousand", 3000),
        ("10-12", 10),
        (4, 4),
        ("none of it", "none of it"),
    ],
)
def test_a_number_is_found_in_every_form(text: Any, number: Any) -> None:
    assert NAMES["coerce_to_numeric"](text) == number


def test_a_text_without_a_number_can_be_refused() -> None:
    with pytest.raises(ValueError, match="holds no number"):
        NAMES["coerce_to_numeric"]("none", no_string=True)


@given(st.text(max_size=60))
def test_any_text_is_searched_for_a_number_without_fail(text: str) -> None:
    assert NAMES["coerce_to_numeric"](text) == text or isinstance(
        NAMES["coerce_to_numeric"](text), int | float
    )


@pytest.mark.parametrize("value", ["a picture", None, [WHOLE], {"left": WHOLE}])
def test_what_is_no_image_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="ImagePatch takes an image, not a "):
        NAMES["ImagePatch"](value)


def test_the_functions_that_the_coder_is_shown_are_there() -> None:
    names: dict[str, Any] = {}
    exec(
        load("vdebugger/api.py").replace("ImagePatch]", "Any]").replace("-> ImagePatch", ""),
        {"Any": Any},
        names,
    )
    methods = {name for name in vars(names["ImagePatch"]) if not name.startswith("_")}
    assert methods <= set(vars(NAMES["ImagePatch"]))
    assert {name for name in names if not name.startswith("_")} <= set(NAMES)


def test_the_program_can_stand_inside_the_cell_that_compiles_it() -> None:
    assert "'''" not in load("vdebugger/image_patch.py")
