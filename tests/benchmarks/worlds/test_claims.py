"""Claims of papers: numbers of units planned from a pilot, one test for each kind of unit, three verdicts."""

from __future__ import annotations

import pytest

from benchmarks.worlds.claims import (
    Aim,
    ClaimTest,
    compare_questions,
    compare_trainings,
    format_table,
    judge,
    power_of,
    questions_needed,
    trainings_needed,
)
from pyvision.bench.analysis.statistics import Estimate

AIM = Aim(0.05, 0.8, 3)


def test_fewer_discordant_questions_need_fewer_questions() -> None:
    assert questions_needed([1, -1, *[0] * 18], AIM) < questions_needed([1, -1] * 10, AIM)


def test_more_claims_need_more_questions() -> None:
    assert questions_needed([1, -1, 0], AIM) > questions_needed([1, -1, 0], Aim(0.05, 0.8))


def test_the_power_of_a_t_test_is_that_of_published_tables() -> None:
    """Ten paired differences find an effect of one standard deviation with a power of 80 % at 5 % (G*Power 3.1)."""
    assert trainings_needed((0.0, 0.1, 0.2), Aim(0.1, 0.8)) == 10


def test_as_many_trainings_as_planned_have_the_power() -> None:
    pilot = (0.0, 0.1, 0.05)
    number = trainings_needed(pilot, AIM)
    assert power_of(number - 1, pilot, AIM) < 0.8 <= power_of(number, pilot, AIM)


def test_questions_are_compared_by_the_exact_test_of_mcnemar() -> None:
    tested = compare_questions("a", [(True, False)] * 5 + [(True, True)] * 3 + [(False, False)] * 2)
    assert (tested.first, tested.second, tested.difference.value) == (0.8, 0.3, 0.5)
    assert tested.difference.p == 2 / 2**5


def test_trainings_are_compared_by_a_t_test_of_their_differences() -> None:
    """Differences 1, 2, 3, 4, 5 hundredths: t = 3 / sqrt(2.5 / 5) = 4.243 with 4 degrees of freedom."""
    found = compare_trainings("a", [(n / 100, 0.0) for n in range(1, 6)]).difference
    assert found.value == pytest.approx(0.03)
    assert (found.low, found.high) == pytest.approx((0.03 - 0.019632, 0.03 + 0.019632), abs=1e-6)
    assert found.p == pytest.approx(0.01324, abs=1e-5)


def test_trainings_that_do_not_differ_show_nothing() -> None:
    assert compare_trainings("a", [(0.5, 0.5)] * 3).difference == Estimate(0.0, 0.0, 0.0, 3, 1.0)


@pytest.mark.parametrize(
    ("value", "low", "high", "p", "verdict"),
    [
        (0.06, 0.02, 0.10, 0.01, "confirmed"),
        (-0.06, -0.10, -0.02, 0.01, "refuted"),
        (0.01, -0.02, 0.04, 0.6, "refuted"),
        (0.03, -0.01, 0.07, 0.2, "undecidable"),
    ],
)
def test_a_claim_has_one_of_three_verdicts(
    value: float, low: float, high: float, p: float, verdict: str
) -> None:
    assert judge(Estimate(value, low, high, 100), p, 0.05) == verdict


def test_p_is_adjusted_for_the_number_of_claims() -> None:
    found = Estimate(0.06, 0.0, 0.12, 100, 0.03)
    alone, three = (format_table([ClaimTest("a", 0.5, 0.4, found)] * n, ("x", "y"), AIM, "n") for n in (1, 3))
    assert ("0.030  confirmed" in alone, "0.090  undecidable" in three) == (True, True)
