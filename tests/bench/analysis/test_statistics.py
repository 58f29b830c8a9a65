"""Intervals and tests against published values, and against what an interval promises."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.analysis.statistics import (
    Pair,
    detectable,
    difference_interval,
    holm,
    mcnemar_exact,
    mean_interval,
    only_first_interval,
    repeat_variance,
    retention_interval,
    samples_needed,
    wilson,
)


def pairs_of(*differences: float) -> list[Pair]:
    """Samples answered once in two runs, with these differences."""
    return [((max(each, 0.0),), (max(-each, 0.0),)) for each in differences]


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
def test_a_wilson_interval_contains_its_share(right: int, n: int) -> None:
    found = wilson(min(right, n), n)
    assert found is not None
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12


@given(st.integers(0, 500), st.integers(1, 500))
def test_a_wilson_interval_is_within_0_to_1(right: int, n: int) -> None:
    found = wilson(min(right, n), n)
    assert found is not None
    assert 0 <= found.low < found.high <= 1


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


def test_a_few_repeated_samples_are_no_surer_than_their_signs() -> None:
    found = difference_interval([((1.0, 1.0), (0.0, 0.0))] * 5)
    assert found is not None
    assert found.p == mcnemar_exact(5, 0)


def test_equal_differences_of_a_few_samples_leave_the_result_uncertain() -> None:
    found = difference_interval(pairs_of(*[0.0] * 6))
    assert found is not None
    assert found.value == 0.0
    assert found.low < -0.1
    assert found.high > 0.1


# Bonett and Price (2012), equation 4: p12 = 13/48, p21 = 5/48 with one added to each cell, n + 2 = 48.
def test_the_interval_of_single_answers_is_the_bonett_price_interval() -> None:
    found = difference_interval(pairs_of(*[1.0] * 12, *[-1.0] * 4, *[0.0] * 30))
    centre, reach = (13 - 5) / 48, 1.959964 * ((18 / 48 - (8 / 48) ** 2) / 47) ** 0.5
    assert found is not None
    assert (found.low, found.high) == pytest.approx((centre - reach, centre + reach), abs=1e-6)


def test_a_p_value_is_below_5_percent_if_the_interval_excludes_zero() -> None:
    for only_first in range(4, 20):
        found = difference_interval(pairs_of(*[1.0] * only_first, *[-1.0] * 4, *[0.0] * 30))
        assert found is not None
        assert found.p is not None
        assert (found.p < 0.05) == (found.low > 0)


def test_repeats_that_agree_count_as_one_answer() -> None:
    once = [((1.0,), (0.0,))] * 9 + [((1.0,), (1.0,))] * 31
    often = [(first * 8, second * 8) for first, second in once]
    assert difference_interval(often) == difference_interval(once)


def test_samples_that_only_the_first_run_solves_are_counted_where_answers_do_not_vary() -> None:
    pairs = [((1, 1), (0, 0))] * 3 + [((0, 0), (1, 1))] + [((1, 1), (1, 1))] * 6
    found = only_first_interval(pairs)
    swapped = only_first_interval([(second, first) for first, second in pairs])
    assert found is not None
    assert swapped is not None
    assert (found.value, swapped.value) == pytest.approx((0.3, 0.1))


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=6), st.lists(st.integers(0, 1), min_size=2, max_size=6)
)
def test_the_two_directions_differ_by_the_gain(first: list[int], second: list[int]) -> None:
    one, other = only_first_interval([(first, second)]), only_first_interval([(second, first)])
    gain = difference_interval([(first, second)])
    assert one is not None
    assert other is not None
    assert gain is not None
    assert one.value - other.value == pytest.approx(gain.value)


def exact_mean(estimate: object, chance: Fraction, other: Fraction, repeats: int) -> Fraction:
    """The expectation over all outcomes of the repeats of one sample in two runs."""
    total = Fraction(0)
    for right in range(repeats + 1):
        for wrong in range(repeats + 1):
            ways = math.comb(repeats, right) * math.comb(repeats, wrong)
            probability = chance**right * (1 - chance) ** (repeats - right)
            probability *= other**wrong * (1 - other) ** (repeats - wrong)
            values = [1] * right + [0] * (repeats - right), [1] * wrong + [0] * (repeats - wrong)
            found = estimate([values])  # type: ignore[operator]
            total += ways * probability * Fraction(found.value).limit_denominator(10**6)
    return total


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_the_share_beyond_chance_has_the_expected_mean(repeats: int) -> None:
    p, q = Fraction(7, 10), Fraction(4, 10)
    expected = ((p - q) + (p - q) ** 2) / 2
    assert float(exact_mean(only_first_interval, p, q, repeats)) == pytest.approx(float(expected), abs=1e-5)


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_two_runs_alike_have_no_share_beyond_chance(repeats: int) -> None:
    p = Fraction(3, 10)
    assert float(exact_mean(only_first_interval, p, p, repeats)) == pytest.approx(0, abs=1e-5)


def test_what_is_kept_is_the_share_where_answers_do_not_vary() -> None:
    pairs = [((1, 1), (1, 1))] * 3 + [((1, 1), (0, 0))] + [((0, 0), (1, 1))] * 5
    found = retention_interval(pairs)
    assert found is not None
    assert (found.value, found.n) == (0.75, 4)


def test_what_is_kept_is_unknown_where_nothing_is_solved_twice() -> None:
    assert retention_interval([((1, 0), (1, 1))] * 20) is None
    assert retention_interval([]) is None


# Holm (1979); as p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") of R.
def test_p_values_are_adjusted_as_holm_does() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()


# Connor (1987): 20 % of the pairs differ, by 10 points: (1.96 sqrt(0.2) + 0.8416 sqrt(0.19))^2 / 0.01.
def test_the_number_of_samples_is_that_of_connors_formula() -> None:
    assert samples_needed(0.1, 0.19**0.5) == 155


@given(st.integers(30, 5000), st.floats(0.05, 0.7))
def test_what_is_detectable_needs_as_many_samples(n: int, deviation: float) -> None:
    found = detectable(n, deviation)
    assert found is not None
    assert samples_needed(found, deviation) <= n
    assert samples_needed(found * 0.98, deviation) >= n


def test_too_few_samples_detect_nothing() -> None:
    assert detectable(3, 0.7) is None


def test_the_variance_between_repeats_is_unknown_without_any() -> None:
    assert repeat_variance([(1.0,), (0.0,)]) is None
    assert repeat_variance([(1.0, 0.0), (1.0, 1.0), (1.0,)]) == 0.25


def test_an_interval_of_differences_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = random.Random(11)
    covered = 0
    for _ in range(200):
        values = [float(generator.choices((1, -1, 0), (0.3, 0.2, 0.5))[0]) for _ in range(60)]
        found = difference_interval(pairs_of(*values))
        covered += found is not None and found.holds(0.1)
    assert covered >= 180  # 190 are expected; fewer than 180 has a chance of one in a thousand


def test_a_wider_confidence_is_a_wider_interval() -> None:
    usual, wide = wilson(5, 10), wilson(5, 10, 0.99)
    assert usual is not None
    assert wide is not None
    assert wide.low < usual.low < usual.high < wide.high
