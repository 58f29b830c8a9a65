"""The benchmark of requests runs, and prints what it compares."""

from __future__ import annotations

from benchmarks.requests import measure_building, measure_throughput


def test_measure_building_compares_both_ways_in_one_table() -> None:
    text = measure_building(figures=1, repeats=1)
    assert "every later turn" in text
    assert "encoding anew, each turn" in text
    assert "times less CPU (goal 20)" in text


def test_conversations_at_once_are_compared_with_one_alone() -> None:
    assert "2 " in measure_throughput(2).splitlines()[3]
