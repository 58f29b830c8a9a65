"""InfoSeek: words, dates and ranges, and where its README promises more than its script does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.infoseek import numbers_of
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

PLACE = sample(["Paris", "City of Paris"], question_type="String")
YEAR = sample(["1889"], question_type="Time")
HEIGHT = sample([300, 330], question_type="Numerical")


@pytest.mark.parametrize(
    ("answer", "right"), [("paris", 1), ("The city of Paris!", 1), ("in Paris", 0), ("", 0)]
)
def test_words_match_after_normalisation(answer: str, right: int) -> None:
    assert value("infoseek", answer, PLACE) == right


# infoseek_eval: the first two numbers, a hyphen behind a digit is no minus, of a falling pair only the first.
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("320 m", (320.0,)),
        ("300-330", (300.0, 330.0)),
        ("from 300 to 330 or 400", (300.0, 330.0)),
        ("330 to 300", (330.0,)),
        ("-5 degrees", (-5.0,)),
        ("1,000", (1000.0,)),
        ("1e6", (1_000_000.0,)),
        ("1.5E-2", (0.015,)),
        ("5.", (5.0,)),
        ("tall", ()),
    ],
)
def test_the_numbers_of_an_answer(text: str, numbers: tuple[float, ...]) -> None:
    assert numbers_of(text) == numbers


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("300", 1),
        ("331", 0),
        ("305-325", 1),
        ("310-350", 0),  # shares 20 of 50
        ("300-360", 1),  # shares 30 of 60
        ("295-335", 1),  # shares 30 of 40
        ("", 0),
    ],
)
def test_a_range_must_hold_the_answer_or_share_half_with_it(answer: str, right: int) -> None:
    assert value("infoseek", answer, HEIGHT) == right


@pytest.mark.parametrize(
    "target", [100, "unused", [{"range": [90, 110]}], {"range": [90, 110]}, [90, 110], [100]]
)
def test_a_range_may_be_given_in_each_form(target: object) -> None:
    if target == "unused":
        with pytest.raises(ConfigError, match=r"needs a range \[low, high\] or a number"):
            value("infoseek", "90", sample(target, question_type="Numerical"))
        return
    assert value("infoseek", "90", sample(target)) == 1
    assert value("infoseek", "89", sample(target)) == 0


def test_a_year_off_by_one_is_right_by_the_readme_alone() -> None:
    assert value("infoseek", "1890", YEAR, "strict") == 0
    assert value("infoseek", "1890", YEAR, "readme") == 1
    assert value("infoseek", "1891", YEAR, "readme") == 0
    assert value("infoseek", "1889", YEAR, "readme") == value("infoseek", "1889", YEAR, "as-published") == 1


def test_an_answer_without_a_number_is_0_as_published_alone() -> None:
    of = sample([0, 5], question_type="Numerical")
    assert value("infoseek", "hard to say", of, "as-published") == 1
    assert value("infoseek", "hard to say", of, "strict") == 0
    assert value("infoseek", "hard to say", of, "readme") == 0
    assert score("infoseek", "hard to say", of, "as-published").parsed is None


@given(
    st.text(), st.sampled_from([PLACE, YEAR, HEIGHT]), st.sampled_from(["strict", "as-published", "readme"])
)
def test_any_text_is_scored(answer: str, of: Sample, flavour: str) -> None:
    assert find_metric("infoseek", flavour)(answer, of).value in (0, 1)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_range_answered_with_itself_is_right(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert value("infoseek", f"{low} to {high}", sample([low, high])) == 1
    assert value("infoseek", f"{low}-{high}", sample([low, high])) == 1
