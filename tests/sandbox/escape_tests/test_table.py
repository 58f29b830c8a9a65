from __future__ import annotations

import pytest

from sandbox import Layer
from sandbox.escape_tests import Attack, AttackResult, attacks
from sandbox.escape_tests.command import layer_lines, summary_lines, verdict_line

TRY = Attack("files", "try", "Try it.", "", layer="environment", plain="fails")
GOOD = AttackResult(TRY, contained=True, evidence="", seconds=1.0)
BAD = AttackResult(TRY, contained=False, evidence="it printed its marker " * 9, seconds=1.0)


def test_every_line_fits_a_terminal() -> None:
    lines = [verdict_line(AttackResult(each, True, "", 1.0), coloured=False) for each in attacks()]
    lines += verdict_line(BAD, coloured=False).splitlines()
    lines += layer_lines([Layer("cgroups", is_present=False, detail="none for this user " * 9)])
    assert max(len(line) for text in lines for line in text.splitlines()) <= 80


def test_what_got_out_is_named_with_its_evidence() -> None:
    assert "GOT OUT" in verdict_line(BAD, coloured=False)
    assert "files/try: it printed" in verdict_line(BAD, coloured=False)
    assert list(summary_lines((900, 40), [GOOD, BAD], 1.2))[-1] == "1 of 2 attacks got out: files/try"


def test_the_summary_counts_contained_attacks() -> None:
    assert list(summary_lines((900, 40), [GOOD, GOOD], 1.2))[-1] == "all 2 attacks were contained, in 1 s"


@pytest.mark.parametrize(("verdict", "colour"), [(GOOD, "\x1b[32m"), (BAD, "\x1b[31m")])
def test_colours_are_there_when_they_are_asked_for(verdict: AttackResult, colour: str) -> None:
    assert colour in verdict_line(verdict, coloured=True)
    assert "\x1b" not in verdict_line(verdict, coloured=False)
