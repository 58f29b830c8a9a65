"""MathVision: letters, values and free answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics.mathvision import equal
from tests.bench.metrics.samples import sample, score, value

OPTIONS = ("5", "6", "7", r"\frac{1}{2}", "12 cm")


# The rules of its find_math_answer and is_equal: the box, the part behind "=" or "≈", equal text or value to 1e-6.
@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("6", "6"),
        (r"x = 6", "6"),
        (r"\pi \approx 3.14", "3.14"),
        ("0.5", r"\frac{1}{2}"),
        ("1/2", "0.5"),
        (r"60^{\circ}", "60"),
        ("0.3333333", "1/3"),
        ("12 km", "12"),
        ("12 m^3", "12"),
        (r"\text{East}", "east"),
        ("(1, 2)", "(1,2)"),
        (r"\left(0.5, 2\right)", r"(\frac12, 2)"),
        ("3,4,5", "3, 4, 5"),
        ("1,204", "1204"),
        (r"2\sqrt{3}", r"\sqrt{12}"),
    ],
)
def test_equal_answers_are_equal(answer: str, truth: str) -> None:
    assert equal(answer, truth)


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("6", "7"),
        ("0.333", "1/3"),
        ("2x", "2"),
        ("(1,2)", "(2,1)"),
        ("1,2", "1,2,3"),
        ("", ""),
        ("50%", "0.5"),
        ("b", "a"),
    ],
)
def test_different_answers_are_not(answer: str, truth: str) -> None:
    assert not equal(answer, truth)


@pytest.mark.parametrize(
    "answer", ["B", "(B)", "6", r"\boxed{6}", r"\boxed{B}", "6.0", "The answer is B.", "So it must be (B)"]
)
def test_letter_and_value_of_the_right_option_score_one(answer: str) -> None:
    assert value("mathvision", answer, sample("B", *OPTIONS)) == 1


def test_an_option_may_be_met_by_its_value_in_another_notation() -> None:
    assert score("mathvision", "0.5", sample("D", *OPTIONS)).parsed == "D"
    assert value("mathvision", "12", sample("E", *OPTIONS)) == 1


@pytest.mark.parametrize("answer", ["C", "7", "8", "hm"])
def test_other_options_are_wrong(answer: str) -> None:
    assert value("mathvision", answer, sample("B", *OPTIONS)) == 0


def test_nothing_is_parsed_where_no_option_is_found() -> None:
    assert score("mathvision", "hm", sample("B", *OPTIONS)).parsed is None


def test_a_free_answer_is_compared_by_value() -> None:
    assert value("mathvision", r"Thus \boxed{\frac{7}{2}}.", sample("3.5")) == 1
    assert value("mathvision", "The answer is 3.5.", sample("3.5")) == 1


def test_what_only_computer_algebra_can_tell_is_wrong_here() -> None:
    assert value("mathvision", "2(x+1)", sample("2x+2")) == 0


@given(st.text())
def test_any_text_is_scored(answer: str) -> None:
    assert value("mathvision", answer, sample("B", *OPTIONS)) in (0, 1)
    assert value("mathvision", answer, sample("(1, 2)")) in (0, 1)


@given(st.integers(-(10**6), 10**6))
def test_a_number_equals_itself_in_other_notations(number: int) -> None:
    for form in (str(number), f"{number:,}", f"{number}.0", rf"\frac{{{2 * number}}}{{2}}", f"{number} cm"):
        assert equal(form, str(number))
