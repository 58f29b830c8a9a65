"""MathVision: letters, values and free answers; expressions are read without evaluating them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics.mathvision import equal, extract, value_of
from tests.bench.metrics.samples import sample, score, value

OPTIONS = ("5", "6", "7", r"\frac{1}{2}", "12 cm")


# The rules of its evaluate.py: an ending, the number behind "is", the last box, the sentence behind "the answer is".
@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("So it is C.", "c"),
        ("It must be (C).", "c"),
        ("C\nBecause it fits.", "c"),
        ("Their sum is 12.", "12"),
        (r"First \boxed{3}, then \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        ("The answer is 5 cm. It fits.", "5cm"),
        (r"x = 6", "6"),
        (r"\pi \approx 3.14", "3.14"),
        (r"60^{\circ}", "60"),
        ("12 km", "12"),
        ("12 m^3", "12"),
        (".5", "0.5"),
        (r"\text{East}", "{east}"),
        (r"2\sqrt3", r"2\sqrt{3}"),
        ("A definitive answer cannot be given.", "adefinitiveanswercannotbegiven"),
    ],
)
def test_the_answer_is_taken_out_as_the_script_does(reply: str, found: str) -> None:
    assert extract(reply) == found


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("6", "6.0"),
        ("0.5", r"\frac{1}{2}"),
        ("1/2", "0.5"),
        ("0.333", "1/3"),
        ("(1,2)", "(1,2.0)"),
        ("[0.5,2]", r"[\frac{1}{2},2]"),
        ("East", "east"),
        (r"2\sqrt{3}", r"\sqrt{12}"),
    ],
)
def test_equal_answers_are_equal(answer: str, truth: str) -> None:
    assert equal(answer, truth)


@pytest.mark.parametrize(
    ("answer", "truth"),
    [("6", "7"), ("2x", "2"), ("(1,2)", "(2,1)"), ("1,2", "1,2,3"), ("", ""), ("b", "a"), ("12cm", "12")],
)
def test_different_answers_are_not(answer: str, truth: str) -> None:
    assert not equal(answer, truth)


@pytest.mark.parametrize(
    "answer", ["B", "(B)", "6", r"\boxed{6}", r"\boxed{B}", "6.0", "The answer is B.", "So it must be (B)."]
)
def test_the_right_option_scores_one_in_any_notation(answer: str) -> None:
    assert value("mathvision", answer, sample("B", *OPTIONS)) == 1


def test_an_option_may_be_met_by_its_value_in_another_notation() -> None:
    assert score("mathvision", "0.5", sample("D", *OPTIONS)).parsed == "D"


@pytest.mark.parametrize("answer", ["C", "7", "8", "hm"])
def test_other_options_are_wrong(answer: str) -> None:
    assert value("mathvision", answer, sample("B", *OPTIONS)) == 0


def test_nothing_is_parsed_where_no_option_is_found() -> None:
    assert score("mathvision", "hm", sample("B", *OPTIONS)).parsed is None


def test_a_free_answer_is_compared_by_value() -> None:
    assert value("mathvision", r"Thus \boxed{\frac{7}{2}}.", sample("3.5")) == 1
    assert value("mathvision", "The answer is 3.5.", sample("3.5")) == 1


def test_what_only_computer_algebra_can_decide_is_wrong_here() -> None:
    assert value("mathvision", "2(x+1)", sample("2x+2")) == 0


@given(st.text())
def test_any_text_is_scored(answer: str) -> None:
    assert value("mathvision", answer, sample("B", *OPTIONS)) in (0, 1)
    assert value("mathvision", answer, sample("(1, 2)")) in (0, 1)


@given(st.integers(-(10**6), 10**6))
def test_a_number_equals_itself_in_other_notations(number: int) -> None:
    for form in (str(number), f"{number}.0", rf"\frac{{{2 * number}}}{{2}}"):
        assert equal(form, str(number))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3.5", -3.5),
        ("−3", -3),
        ("1,204", 1204),
        ("1{,}204.5", 1204.5),
        ("1e-3", 0.001),
        ("3/4", 0.75),
        (r"\frac{3}{4}", 0.75),
        (r"\dfrac 34", 0.75),
        (r"\frac\pi2", math.pi / 2),
        (r"1\frac{1}{2}", 1.5),
        ("-1 1/2", -1.5),
        ("½", 0.5),
        ("2¾", 2.75),
        (r"\sqrt{2}", math.sqrt(2)),
        (r"\sqrt[3]{8}", 2),
        ("√2", math.sqrt(2)),
        ("2π", 2 * math.pi),
        (r"2\sqrt{3}", 2 * math.sqrt(3)),
        (r"4+2\sqrt{2}", 4 + 2 * math.sqrt(2)),
        (r"3\times 10^{3}", 3000),
        (r"\left(1+2\right)\cdot 3", 9),
        ("10^-2", 0.01),
        ("-2^2", -4),
        (r"60^{\circ}", 60),
        ("60°", 60),
        (r"50\%", 50),
        (r"\$5", 5),
        ("$7$", 7),
        ("5 cm", 5),
        ("5cm²", 5),
        (r"5\text{ cm}^2", 5),
        ("12 square units", 12),
        ("5 m^2", 5),
        ("5.", 5),
    ],
)
def test_a_number_is_read_in_any_of_its_forms(text: str, value: float) -> None:
    assert value_of(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "2x",
        "3 4",
        "1/0",
        "2^9999",
        "1e999",
        "(-8)^(1/3)",
        r"\sqrt{-1}",
        "(1",
        "1)",
        r"\sin 1",
        "__import__('os')",
        "(" * 100 + "1" + ")" * 100,
        "2" + "^2" * 140,
        "²",
        "٣",
    ],
)
def test_what_is_no_number_has_no_value(text: str) -> None:
    assert value_of(text) is None


@given(st.integers(-999_999, 999_999), st.integers(1, 999))
def test_a_fraction_is_read_in_each_notation(above: int, below: int) -> None:
    forms = (
        f"{above}/{below}",
        rf"\frac{{{above}}}{{{below}}}",
        rf"$\dfrac{{{above}}}{{{below}}}$ cm",
        f"{above / below!r}",
    )
    for form in forms:
        assert value_of(form) == pytest.approx(above / below, abs=1e-9)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_back(number: float) -> None:
    assert value_of(repr(number)) == number


@given(st.text() | st.text("0123456789+-*/^(){}[]\\,. πfracsqrt%$e"))
def test_no_text_has_an_infinite_value(text: str) -> None:
    value = value_of(text)
    assert value is None or math.isfinite(value)
