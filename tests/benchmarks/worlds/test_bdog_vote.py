"""A debate against a vote of as many calls: equal budgets, a number of questions planned before, three verdicts."""

from __future__ import annotations

import pytest

from benchmarks.worlds.bdog_vote import Pair, ask, discordant, judge, plan, report
from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import cases
from pyvision.bench.analysis.statistics import Estimate, samples_needed

WON, LOST, TIED = Pair(True, False, 8, 8), Pair(False, True, 8, 8), Pair(True, True, 8, 8)


def test_a_vote_makes_as_many_calls_as_its_debate() -> None:
    pairs = [ask(case, Abilities()) for case in cases(8, 6)]
    assert [pair.vote_calls for pair in pairs] == [pair.debate_calls for pair in pairs]
    assert len({pair.debate_calls for pair in pairs}) > 1


def test_the_number_of_questions_follows_from_the_pilot() -> None:
    noisy, calm = plan([WON, LOST] * 10, 0.05, 0.8, 3), plan([WON, LOST, *[TIED] * 18], 0.05, 0.8, 3)
    assert noisy.questions == samples_needed(0.05, noisy.deviation, power=0.8, alpha=0.05 / 3)
    assert calm.questions < noisy.questions


def test_the_pilot_is_not_asked_again() -> None:
    assert not set(cases(12, 6)[:4]) & set(cases(12, 6)[4:])


def test_only_differing_questions_are_discordant() -> None:
    assert discordant([WON, WON, LOST, TIED]) == (2, 1)


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


def test_the_report_has_a_row_for_each_share_of_errors() -> None:
    lines = report(0.9, 0.5, 4, 6, (0.0, 0.8)).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["0.0", "0.8"]
