"""Where a program is at fault is read from whatever a critic writes, and changes are kept to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.strategies.vdebugger.verdicts import Span, line_span, mark_program, marks_in, restore_unmarked

PROGRAM = """def execute_command(image) -> str:
    patch = ImagePatch(image)
    cups = patch.find('cup')
    plates = patch.find('cup')
    return str(len(cups) + len(plates))"""
TEXTS = st.text(alphabet="<>BUG/ \ndef execute_command(image):xy", max_size=200)


def located(reply: str) -> list[str]:
    return [PROGRAM[span.start : span.end] for span in marks_in(reply, PROGRAM).spans]


@pytest.mark.parametrize(
    "part",
    [
        "plates = patch.find('cup')",
        "len(cups) + len(plates)",
        "cups = patch.find('cup')\n    plates",
        PROGRAM,
    ],
)
def test_a_span_in_the_program_written_out_again_is_found(part: str) -> None:
    copy = PROGRAM.replace(part, f"<<<BUG>>>{part}<<<BUG/>>>", 1)
    assert located(f"wrong\n{copy}") == [part]


def test_the_place_of_a_mark_decides_instead_of_its_text() -> None:
    copy = PROGRAM.replace("plates = patch.find('cup')", "plates = patch.find(<<<BUG>>>'cup'<<<BUG/>>>)")
    (span,) = marks_in(copy, PROGRAM).spans
    assert span.start == PROGRAM.rindex("'cup'")


def test_white_space_of_the_copy_does_not_matter() -> None:
    copy = PROGRAM.replace("len(cups) + len(plates)", "<<<BUG>>>len(cups)+len(plates)<<<BUG/>>>").replace(
        "    ", "\t"
    )
    assert located(f"```python\n{copy}\n```") == ["len(cups) + len(plates)"]


@pytest.mark.parametrize("quote", ['"', "’", "`"])
def test_other_quotation_marks_in_the_copy_do_not_matter(quote: str) -> None:
    part = "plates = patch.find('cup')"
    copy = PROGRAM.replace(part, f"<<<BUG>>>{part}<<<BUG/>>>").replace("'", quote)
    assert located(f"wrong\n{copy}") == [part]
    assert located(f"wrong <<<BUG>>>{part.replace(chr(39), quote)}<<<BUG/>>>") == [part]


@pytest.mark.parametrize("close", ["<<<BUG/>>>", "<<</BUG>>>", "<<< bug / >>>", "<<<END BUG>>>"])
def test_any_way_of_closing_a_mark_is_read(close: str) -> None:
    assert located(f"wrong <<<BUG>>>len(plates){close}") == ["len(plates)"]


@pytest.mark.parametrize(
    "reply", ["wrong", "<<<BUG>>>'cup'<<<BUG/>>>", "<<<BUG>>><<<BUG/>>>", "<<<BUG>>>dogs<<<BUG/>>>"]
)
def test_what_is_no_one_place_is_no_span(reply: str) -> None:
    marks = marks_in(reply, PROGRAM)
    assert marks.spans == ()
    assert marks.fault


@given(st.integers(0, len(PROGRAM) - 1), st.integers(1, 40))
def test_any_span_that_is_marked_is_read_back(start: int, length: int) -> None:
    text = PROGRAM[start : start + length]
    inside = Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
    if inside.start < inside.end:
        assert marks_in(mark_program(PROGRAM, (inside,)), PROGRAM).spans == (inside,)


@given(TEXTS, TEXTS)
def test_no_reply_is_too_odd_to_be_read(reply: str, program: str) -> None:
    for span in marks_in(reply, program).spans:
        assert 0 <= span.start < span.end <= len(program)


SECOND_CUPS = line_span(PROGRAM, 4, 4)


def test_lines_that_are_not_marked_stay_as_they_were() -> None:
    new = PROGRAM.replace("plates = patch.find('cup')", "plates = patch.find('plate')").replace("+", "-")
    assert restore_unmarked(PROGRAM, new, (SECOND_CUPS,)) == PROGRAM.replace(
        "plates = patch.find('cup')", "plates = patch.find('plate')"
    )


def test_a_marked_line_may_become_any_number_of_lines() -> None:
    line = "    plates = patch.find('cup')\n"
    for instead in ("    plates = []\n    plates += cups\n", ""):
        new = PROGRAM.replace(line, instead)
        assert restore_unmarked(PROGRAM, new, (SECOND_CUPS,)) == new


@given(st.lists(st.sampled_from(PROGRAM.splitlines()), max_size=8))
def test_an_insertion_never_removes_a_line_without_a_mark(lines: list[str]) -> None:
    result = restore_unmarked(PROGRAM, "\n".join(lines), (SECOND_CUPS,)).splitlines()
    unmarked = [line for at, line in enumerate(PROGRAM.splitlines()) if at != 3]
    rest = iter(result)
    assert all(line in rest for line in unmarked)


@pytest.mark.parametrize("piece", ["<<<BUG>>>x", "<<<BUG/>>>x", "<<<BUG>>>\n", "<<< BUG"])
def test_marks_without_an_end_take_time_in_proportion_to_their_number(piece: str) -> None:
    """A quadratic search takes hours here, and ends at the time limit of the suite."""
    assert marks_in(f"wrong\n{piece * 100_000}", "def execute_command(image):\n    return 1").spans == ()
