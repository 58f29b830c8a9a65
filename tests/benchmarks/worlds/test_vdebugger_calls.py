"""The calls of VDebugger in a small world: exact tools, scripted roles, and what the cache answers."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.worlds.vdebugger_calls import Calls, play, table
from benchmarks.worlds.vdebugger_world.grammar import make_cases
from sandbox import Policy, Sandbox


def test_the_cache_saves_the_uses_that_it_answers() -> None:
    text = table([Calls(True, 4, 4, 2), Calls(False, 2, 0, 0)])
    assert "without cache        3.00   2.00   5.00" in text
    assert "with cache           3.00   1.00   4.00" in text
    assert "-20.0% calls, -50.0% uses of tools" in text


def test_questions_are_answered_in_the_sandbox(sandbox_of: Callable[[Policy], Sandbox]) -> None:
    done = [play(case, sandbox_of(Policy())) for case in make_cases("calls", 2)]
    assert [each.is_right for each in done] == [True, True]
    assert all(each.asked >= 2 for each in done)
