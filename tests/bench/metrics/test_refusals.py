"""What is left of a reply without the clauses that decline to answer."""

from __future__ import annotations

import pytest

from pyvision.bench.metrics.refusals import clauses_of


@pytest.mark.parametrize(
    ("reply", "clauses"),
    [
        ("I cannot tell, but B is likely", ["B is likely"]),
        ("A. clear answer is not possible", []),
        ("The sign is red. I don't know the rest.", ["The sign is red."]),
    ],
)
def test_a_clause_that_declines_is_removed(reply: str, clauses: list[str]) -> None:
    assert clauses_of(reply) == clauses


@pytest.mark.parametrize("piece", [" ", ", ", ".\t", "but "])
def test_the_time_for_a_long_reply_grows_with_its_length_only(piece: str) -> None:
    """A search that is quadratic takes hours here, and ends at the time limit of the suite."""
    assert len(clauses_of(piece * 500_000 + "B")) <= 500_001
