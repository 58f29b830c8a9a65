"""The table: aligned, and never wider than a terminal."""

from __future__ import annotations

from pyvision.doctor.probe_client import ProbeFinding, table

LONG = "m at http://127.0.0.1:8000/v1: the request was refused (400): " + "at most five images " * 12


def test_no_line_is_wider_than_80_columns() -> None:
    sections = [
        (
            "a title " * 30,
            [ProbeFinding("log probabilities", "not applicable", LONG), ProbeFinding("disk", "yes")],
        )
    ]
    assert max(len(line) for line in table(sections).splitlines()) <= 80


def test_a_long_detail_is_indented_below_itself() -> None:
    first, second = table([("model", [ProbeFinding("box coordinates", "no", "word " * 12)])]).splitlines()[
        1:3
    ]
    assert first.index("word") == second.index("word")


def test_sections_stand_apart() -> None:
    lines = table(
        [("one", [ProbeFinding("disk", "yes")]), ("two", [ProbeFinding("stop", "no")])]
    ).splitlines()
    assert lines == ["one", "  disk                    yes", "", "two", "  stop                    no"]
