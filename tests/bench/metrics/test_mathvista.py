"""MathVista: its official rules, and where VLMEvalKit parts from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.mathvista import edit_distance
from pyvision.bench.samples import Sample
from tests.bench.metrics.samples import sample, score, value

SHAPES = sample("isosceles", "equilateral", "isosceles", "scalene")
COUNT = sample("12", answer_type="integer")
LENGTH = sample("1.2", answer_type="float", precision=1)
YEARS = sample("[2007, 2008]", answer_type="list")


# As published: "(X)" and the bare letter, else the option at the smallest edit distance.
@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("(B)", "B"),
        ("B", "B"),
        ("(B) scalene", "B"),
        ("isoceles", "B"),
        ("Scalene triangle", "C"),
        ("Shall we dance?", "C"),  # every text has a nearest option
        ("I cannot answer this.", None),  # but for one that declines
    ],
)
def test_as_published_takes_the_nearest_option(answer: str, letter: str | None) -> None:
    assert score("mathvista", answer, SHAPES, "as-published").parsed == letter


def test_long_prose_has_no_nearest_option() -> None:
    assert score("mathvista", "hm " * 1_000, SHAPES, "as-published").parsed is None


@pytest.mark.parametrize(
    ("answer", "right"), [("12", 1), ("12.0", 1), ("12.9", 1), ("12 apples", 1), ("13", 0), ("no", 0)]
)
def test_strict_cuts_a_whole_number_to_its_integer_part(answer: str, right: int) -> None:
    assert value("mathvista", answer, COUNT) == right


@pytest.mark.parametrize(
    ("answer", "right"), [("1.2", 1), ("1.23", 1), ("The answer is 1.19 cm", 1), ("1.3", 0)]
)
def test_strict_rounds_a_decimal(answer: str, right: int) -> None:
    assert value("mathvista", answer, LENGTH) == right


def test_strict_compares_lists_as_python_writes_them() -> None:
    assert value("mathvista", "[2007,2008]", YEARS) == 1
    assert value("mathvista", "[2007, 2008]", sample([2007, 2008], answer_type="list")) == 1
    assert value("mathvista", "[2008, 2007]", YEARS) == 0


def test_a_list_is_always_wrong_for_vlmevalkit() -> None:
    assert value("mathvista", "[2007, 2008]", YEARS, "strict") == 1
    assert value("mathvista", "[2007, 2008]", YEARS, "vlmevalkit") == 0


def test_a_whole_number_with_decimals_is_invalid_for_vlmevalkit() -> None:
    assert value("mathvista", "12.0", COUNT, "strict") == 1
    assert value("mathvista", "12.0", COUNT, "vlmevalkit") == 0
    assert value("mathvista", "12", COUNT, "vlmevalkit") == 1


def test_vlmevalkit_does_not_round() -> None:
    assert value("mathvista", "1.23", LENGTH, "strict") == 1
    assert value("mathvista", "1.23", LENGTH, "vlmevalkit") == 0
    assert value("mathvista", "1.20", LENGTH, "vlmevalkit") == 1


def test_a_misspelt_option_is_no_choice_for_vlmevalkit() -> None:
    assert value("mathvista", "isoceles", SHAPES, "as-published") == 1
    assert score("mathvista", "isoceles", SHAPES, "vlmevalkit").parsed is None
    assert value("mathvista", "It is isosceles", SHAPES, "vlmevalkit") == 1


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("same", "same", 0), ("flaw", "lawn", 2)],
)
def test_the_edit_distance_of_known_pairs(left: str, right: str, distance: int) -> None:
    assert edit_distance(left, right) == distance


@given(st.text(max_size=12), st.text(max_size=12))
def test_the_edit_distance_is_symmetric(left: str, right: str) -> None:
    assert edit_distance(left, right) == edit_distance(right, left)


@given(st.text(max_size=12), st.text(max_size=12))
def test_the_edit_distance_is_bounded_by_the_lengths(left: str, right: str) -> None:
    longest = max(len(left), len(right))
    assert abs(len(left) - len(right)) <= edit_distance(left, right) <= longest


@given(
    st.text(),
    st.sampled_from([SHAPES, COUNT, LENGTH, YEARS]),
    st.sampled_from(["strict", "as-published", "vlmevalkit"]),
)
def test_any_text_is_scored(answer: str, of: Sample, flavour: str) -> None:
    assert find_metric("mathvista", flavour)(answer, of).value in (0, 1)
