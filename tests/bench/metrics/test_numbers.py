"""Whole numbers in digits and words, and the three ways in which TallyQA is scored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.numbers import UP_TO_TWENTY, whole_number, whole_numbers
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

EVERY = [("integer", "words"), ("integer", "exact"), ("tallyqa", "vlmevalkit"), ("tallyqa", "paper")]
ONES = UP_TO_TWENTY[:10]
TENS = {
    20: "twenty",
    30: "thirty",
    40: "forty",
    50: "fifty",
    60: "sixty",
    70: "seventy",
    80: "eighty",
    90: "ninety",
}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("-3", -3),
        ("7.0", 7),
        ("1,204", 1204),
        ("Seven.", 7),
        ("nineteen", 19),
        ("twenty-one", 21),
        ("twenty one", 21),
        ("hundred", 100),
        ("a hundred", 100),
        ("one hundred and four", 104),
        ("three thousand, two hundred and sixteen", 3216),
        ("7.5", None),
        ("two three", None),
        ("seven dogs", None),
        ("12abc", None),
        ("", None),
        ("²", None),
        ("9" * 5000, None),
    ],
)
def test_a_text_that_is_a_whole_number_is_read(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@given(st.sampled_from(list(TENS)), st.integers(1, 9))
def test_every_number_word_below_a_hundred_is_read(tens: int, ones: int) -> None:
    assert whole_number(f"{TENS[tens]}-{ONES[ones]}") == tens + ones
    assert whole_number(f"one hundred and {TENS[tens]} {ONES[ones]}") == 100 + tens + ones


@given(st.integers(-(10**12), 10**12))
def test_commas_do_not_change_a_number(number: int) -> None:
    assert whole_number(str(number)) == whole_number(f"{number:,}") == number


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3 on the left one, 4 on the other", (3, 4)),
        ("three here and four there", (3, 4)),
        ("often someone", ()),
        ("1.5 and 2", (2,)),
        ("3, 4, 5", (3, 4, 5)),
    ],
)
def test_numbers_are_found_in_prose_digits_first(text: str, numbers: tuple[int, ...]) -> None:
    assert whole_numbers(text) == numbers


@pytest.mark.parametrize(
    "answer",
    ["12", "twelve", "Twelve.", r"\boxed{12}", "5 and 7 make 12", "The answer is: 12 dogs", "**12**"],
)
def test_an_accepted_form_of_the_right_number_scores_one(answer: str) -> None:
    assert value("integer", answer, sample(12)) == 1


# The paper's code calls a module for number words and int() for digits.
@pytest.mark.parametrize(
    ("answer", "exact", "vlmevalkit", "paper"),
    [
        ("3", 1, 1, 1),
        ("three", 1, 1, 0),
        ("3.0", 1, 1, 0),
        ("3 dogs", 0, 1, 0),
        ("I see three of them", 0, 1, 0),
        ("4", 0, 0, 0),
    ],
)
def test_the_flavours_of_tallyqa_part(answer: str, exact: int, vlmevalkit: int, paper: int) -> None:
    assert value("tallyqa", answer, sample("3"), "exact") == exact
    assert value("tallyqa", answer, sample("3"), "vlmevalkit") == vlmevalkit
    assert value("tallyqa", answer, sample("3"), "paper") == paper


def test_vlmevalkit_takes_the_first_of_several_numbers() -> None:
    assert score("tallyqa", "4 minus one is 3", sample(3), "vlmevalkit").parsed == "4"


def test_vlmevalkit_reads_number_words_up_to_twenty() -> None:
    assert score("tallyqa", "twenty", sample(20), "vlmevalkit").parsed == "20"


def test_vlmevalkit_reads_no_number_word_above_twenty() -> None:
    assert score("tallyqa", "thirty", sample(30), "vlmevalkit").parsed is None


def test_vlmevalkit_reads_no_digits_above_twenty() -> None:
    assert score("tallyqa", "21 or 100", sample(21), "vlmevalkit").parsed is None


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("No one could tell how many there are.", None),
        ("I cannot say which one.", None),
        ("There is one.", "1"),
        ("I cannot see all of them, but there are 5.", "5"),
        ("One of the two is red.", "2"),
    ],
)
def test_one_is_not_a_count_where_it_is_a_pronoun(answer: str, number: str | None) -> None:
    assert score("integer", answer, sample(1)).parsed == number


def test_a_target_that_is_not_a_number_is_named() -> None:
    with pytest.raises(ConfigError, match="target 'some' cannot be scored; this metric needs a whole number"):
        value("integer", "3", sample("some"))


@given(st.text(), st.sampled_from(EVERY))
def test_any_text_is_scored(answer: str, metric: tuple[str, str]) -> None:
    assert find_metric(*metric)(answer, sample(3)).value in (0, 1)
