"""Claims about debates: against a vote of as many calls, and against a debate without personalities."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.worlds.bdog_claims import COMPARISONS, ask_debate_then_vote, ask_with_then_without, report
from benchmarks.worlds.claims import Aim
from benchmarks.worlds.debates.models import Abilities
from benchmarks.worlds.debates.modes import cases


def test_a_vote_makes_as_many_calls_as_its_debate() -> None:
    pairs = [ask_debate_then_vote(case, Abilities()) for case in cases(8, 6)]
    assert [vote.calls for _, vote in pairs] == [debate.calls for debate, _ in pairs]
    assert len({debate.calls for debate, _ in pairs}) > 1


def test_the_pilot_is_not_asked_again() -> None:
    assert not set(cases(12, 6)[:4]) & set(cases(12, 6)[4:])


def graphs(diversity: float) -> list[bool]:
    """Whether personalities change what a debate draws, for some questions."""
    able = Abilities(shared=0.8, diversity=diversity)
    pairs = [ask_with_then_without(case, able) for case in cases(8, 6)]
    return [with_.drawn != without.drawn for with_, without in pairs]


def test_personalities_without_errors_of_their_own_change_nothing() -> None:
    assert not any(graphs(0.0))


def test_personalities_with_errors_of_their_own_change_graphs() -> None:
    assert any(graphs(1.0))


@pytest.mark.parametrize("claim", list(COMPARISONS))
def test_the_report_has_a_row_for_each_world(claim: str) -> None:
    comparison = COMPARISONS[claim]
    worlds = list(comparison.worlds)[:2]
    comparison = replace(comparison, worlds={world: comparison.worlds[world] for world in worlds})
    rows = report(comparison, Aim(0.9, 0.5, 2), 4, 6).splitlines()[2:-1]
    assert [row.partition(", ")[0] for row in rows] == worlds
