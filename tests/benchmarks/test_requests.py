"""The benchmark of requests runs, and prints what it compares."""

from __future__ import annotations

from benchmarks.requests import building, together


def test_building_compares_both_ways_in_one_table() -> None:
    shown = building(figures=1, repeats=1)
    assert "every later turn" in shown
    assert "encoding anew, each turn" in shown
    assert "times less CPU (goal 20)" in shown


def test_conversations_at_once_are_compared_with_one_alone() -> None:
    assert "2 " in together(2).splitlines()[3]
