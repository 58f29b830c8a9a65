"""The long run in small: its table, and a run with two kills."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.long_run import Outcome, main, table

GOOD = Outcome(100, 2, 0, 0, 0, True, True, answers=103, on_their_way=48, seconds=9.0)


@pytest.mark.parametrize(
    "bad",
    [
        replace(GOOD, lost=1),
        replace(GOOD, doubled=1),
        replace(GOOD, differing=1),
        replace(GOOD, is_report_equal=False),
        replace(GOOD, is_disk_error_one_line=False),
    ],
)
def test_each_difference_makes_the_long_run_fail(bad: Outcome) -> None:
    assert GOOD.is_right
    assert not bad.is_right


def test_the_table_says_what_was_redone() -> None:
    assert "answers given more than once: 3, 1.0 per interruption" in table(GOOD)


@pytest.mark.slow
def test_a_run_that_was_disturbed_equals_one_that_was_not() -> None:
    assert main(["--samples", "200", "--kills", "2", "--workers", "8"]) == 0
