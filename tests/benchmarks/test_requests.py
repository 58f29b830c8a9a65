"""The benchmark of requests runs, and prints what it compares."""

from __future__ import annotations

from benchmarks.requests import measure_building, measure_throughput


def test_the_building_of_a_request_is_compared_with_a_baseline() -> None:
    text = measure_building(figures=1, repeats=1, side=(800, 600))
    assert "every later turn" in text
    assert "encoding again, each turn" in text
    assert "times less CPU (goal 20)" in text


def test_concurrent_conversations_are_compared_with_a_single_one() -> None:
    assert "2 " in measure_throughput(2, think_s=0.01).splitlines()[3]
