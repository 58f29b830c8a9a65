"""Intervals and tests against published values, and against what an interval promises."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.analysis.statistics import (
    difference_interval,
    mcnemar_exact,
    mean_interval,
    wilson,
)


# Newcombe, Statistics in Medicine 17 (1998), 857-872, Table I, method 3 (score, without continuity correction).
@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_wilson_interval_is_the_published_one(right: int, n: int, low: float, high: float) -> None:
    found = wilson(right, n)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_no_sample_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert mean_interval([]) is None
    assert difference_interval([]) is None


@given(st.integers(0, 500), st.integers(1, 500))
def test_a_wilson_interval_holds_its_share_and_stays_between_0_and_1(right: int, n: int) -> None:
    found = wilson(min(right, n), n)
    assert found is not None
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.low < found.high


# statsmodels 0.15, contingency_tables.mcnemar(exact=True), and scipy.stats.binomtest: 0.0768 for 4 against 12.
@pytest.mark.parametrize(
    ("first", "second", "p"), [(4, 12, 0.0768), (12, 4, 0.0768), (0, 0, 1.0), (5, 5, 1.0)]
)
def test_mcnemars_p_is_the_one_of_statsmodels(first: int, second: int, p: float) -> None:
    assert round(mcnemar_exact(first, second), 4) == p


# Agresti, Categorical Data Analysis, 2nd edition (2002), Table 10.1: approval ratings, 86 against 150 changed.
def test_mcnemars_p_of_the_textbook_example_is_tiny() -> None:
    assert mcnemar_exact(86, 150) == pytest.approx(3.716e-05, rel=1e-3)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemars_p_is_the_sum_of_all_outcomes_that_are_as_unlikely(first: int, second: int) -> None:
    n = first + second
    ways = [1]
    for _ in range(n):
        ways = [a + b for a, b in zip([0, *ways], [*ways, 0], strict=True)]
    as_unlikely = sum(way for way in ways if way <= ways[first])
    assert mcnemar_exact(first, second) == pytest.approx(float(Fraction(as_unlikely, 2**n)))


def test_single_right_or_wrong_answers_get_the_wilson_interval() -> None:
    assert mean_interval([[1.0]] * 81 + [[0.0]] * 182) == wilson(81, 263)


def test_repeats_of_a_sample_do_not_count_as_more_samples() -> None:
    groups = [[1.0] * 10] * 30 + [[0.0] * 10] * 30
    repeated, single = mean_interval(groups), wilson(30, 60)
    assert repeated is not None
    assert single is not None
    assert repeated.n == 60
    assert repeated.high - repeated.low == pytest.approx(single.high - single.low, rel=0.1)


def test_equal_differences_of_a_few_samples_do_not_make_a_sure_thing() -> None:
    found = difference_interval([0.0] * 6)
    assert found is not None
    assert found.value == 0.0
    assert found.low < -0.1
    assert found.high > 0.1


def test_the_bootstrap_of_many_differences_is_the_normal_interval() -> None:
    values = [1.0] * 120 + [-1.0] * 60 + [0.0] * 820
    found = difference_interval(values)
    reach = 1.96 * (0.18 - 0.06**2) ** 0.5 / 1000**0.5
    assert found is not None
    assert found.low == pytest.approx(0.06 - reach, abs=0.003)
    assert found.high == pytest.approx(0.06 + reach, abs=0.003)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [0.1, 0.4, 0.35, 0.8, 0.2]
    assert difference_interval(values, seed=3) == difference_interval(values, seed=3)
    assert difference_interval(values, seed=3) != difference_interval(values, seed=4)


def test_an_interval_of_differences_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = random.Random(11)
    covered = 0
    for seed in range(200):
        values = [float(generator.choices((1, -1, 0), (0.3, 0.2, 0.5))[0]) for _ in range(60)]
        found = difference_interval(values, seed=seed)
        covered += found is not None and found.holds(0.1)
    assert covered >= 180  # 190 are expected; fewer than 180 has a chance of one in a thousand


def test_a_wider_confidence_is_a_wider_interval() -> None:
    usual, wide = wilson(5, 10), wilson(5, 10, 0.99)
    assert usual is not None
    assert wide is not None
    assert wide.low < usual.low < usual.high < wide.high
