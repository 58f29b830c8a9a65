"""What counts as a success in an emulated place."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.places import PLACES, Outcome, format_table, visit

GOOD = Outcome("here", "bwrap", "bwrap", "7", 8, 8)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("a weaker tier", "bwrap", "landlock", "7", 8, 8),
        Outcome("an escape", "bwrap", "bwrap", "7", 7, 8),
        Outcome("a wrong answer", "bwrap", "bwrap", "6", 8, 8),
        Outcome("nothing tried", "bwrap", "bwrap", "7", 0, 0),
        Outcome("isolation where it should be refused", "refused", "landlock", "7", 8, 8),
    ],
    ids=lambda outcome: outcome.place,
)
def test_it_is_no_success(outcome: Outcome) -> None:
    assert not outcome.is_good


@pytest.mark.parametrize("outcome", [GOOD, Outcome("nowhere", "refused", "refused", "", 0, 0, "why")])
def test_what_was_expected_is_a_success(outcome: Outcome) -> None:
    assert outcome.is_good


def test_the_table_has_a_row_for_each_place() -> None:
    table = format_table([GOOD, Outcome("nowhere", "refused", "refused", "", 0, 0, "why")])
    assert table.splitlines()[2:] == [
        "| here | bwrap | answered | 8 of 8 |",
        "| nowhere | refused | why | – |",
    ]


@pytest.mark.slow
def test_a_place_without_any_isolation_refuses_in_one_line(tmp_path: Path) -> None:
    place = next(each for each in PLACES if each.expected == "refused")
    outcome = visit(place, ("environment",), tmp_path)
    if outcome.tier == "left out":
        pytest.skip(outcome.note)
    assert outcome.tier == "refused"
    assert "offers no Landlock" in outcome.note
