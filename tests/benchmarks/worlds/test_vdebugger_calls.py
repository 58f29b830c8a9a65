"""The calls of VDebugger in a small world: exact tools, scripted roles, and what the cache answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.worlds.vdebugger_calls import Calls, play, table
from benchmarks.worlds.vdebugger_world.grammar import make_cases
from sandbox import Policy, Sandbox

PAPER = [
    Calls(True, 4, 4, 2, {"coder": 1, "critic": 2, "refiner": 1}),
    Calls(False, 2, 0, 0, {"coder": 1, "critic": 1}),
]
EARLY = [Calls(True, 3, 4, 2, {"coder": 1, "critic": 1, "refiner": 1}), Calls(True, 1, 0, 0, {"coder": 1})]
MERGED = [Calls(True, 2, 4, 2, {"coder": 1, "critic": 1}), Calls(True, 1, 0, 0, {"coder": 1})]


def test_the_cache_saves_the_uses_that_it_answers() -> None:
    text = table(PAPER, EARLY, MERGED)
    assert "without cache                  1.00     1.50     0.50     2.00     5.00   +0.0%" in text
    assert "with cache                     1.00     1.50     0.50     1.00     4.00  -20.0%" in text


def test_what_fewer_critics_save_is_compared_pair_by_pair() -> None:
    text = table(PAPER, EARLY, MERGED)
    assert "no critic of failures          1.00     0.50     0.50     1.00     3.00  -40.0%" in text
    assert "no critic of failures: 100.0% [34.2%, 100.0%]; 1 won, 0 lost, p = 1.000" in text


def test_one_reply_for_verdict_with_correction_is_compared_with_two() -> None:
    text = table(PAPER, EARLY, MERGED)
    assert "one reply                      1.00     0.50     0.00     1.00     2.50  -50.0%" in text
    assert "one reply as well: 100.0% [34.2%, 100.0%]; 0 won, 0 lost, p = 1.000" in text


@pytest.mark.slow
def test_one_reply_changes_no_answer(sandbox_of: Callable[[Policy], Sandbox]) -> None:
    for case in make_cases("calls", 8):
        two, one = (play(case, sandbox_of(Policy()), one_reply=merged) for merged in (False, True))
        assert (one.is_right, one.used) == (two.is_right, two.used)


def test_questions_are_answered_in_the_sandbox(sandbox_of: Callable[[Policy], Sandbox]) -> None:
    done = [play(case, sandbox_of(Policy())) for case in make_cases("calls", 2)]
    assert [each.is_right for each in done] == [True, True]
    assert all(each.asked >= 2 for each in done)
