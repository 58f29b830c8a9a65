"""A program is cut into blocks that cover it, and judged by them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.strategies.vdebugger.programs import canonical
from pyvision.strategies.vdebugger.trace_format import blocks_of
from pyvision.strategies.vdebugger.verdicts import marks_of_blocks
from tests.strategies.vdebugger.worked import Worked, worked_programs

PROGRAM = """def execute_command(image) -> str:
    patch = ImagePatch(image)
    count = 0
    for cup in patch.find('cup'):
        if cup.verify_property('cup', 'red'):
            count += 1
        else:
            count += 0
    try:
        half = count / 2
    except ValueError:
        half = 0
    return str(half)"""


def test_every_decision_divides_a_row_of_simple_statements() -> None:
    assert [(block.first, block.last) for block in blocks_of(PROGRAM)] == [
        (2, 3), (4, 4), (5, 5), (6, 6), (8, 8), (9, 9), (10, 10), (12, 12), (13, 13),
    ]  # fmt: skip


@pytest.mark.parametrize("worked", worked_programs(), ids=lambda each: each.question)
def test_no_block_crosses_the_next(worked: Worked) -> None:
    blocks = blocks_of(canonical(worked.program, worked.program.splitlines()[0]).text)
    assert blocks
    assert all(one.last < other.first for one, other in pairwise(blocks))


JUDGEMENTS = {
    "BLOCK 1: right\nBLOCK 2: wrong, all cups": (["for cup in patch.find('cup'):"], False),
    "**Block 1** - wrong": (["patch = ImagePatch(image)\n    count = 0"], False),
    "BLOCK 1: right\nBLOCK 2: right": ([], True),
    "1. BLOCK 1: right\n2. BLOCK 2: wrong": (["for cup in patch.find('cup'):"], False),
    "BLOCK 1 is right.\nBLOCK 2 is wrong.": (["for cup in patch.find('cup'):"], False),
    "1. right\n2. wrong": (["for cup in patch.find('cup'):"], False),
    "BLOCK 99: wrong": ([], False),
    "All is well.": ([], False),
    "": ([], False),
}


@pytest.mark.parametrize("reply", JUDGEMENTS)
def test_the_first_wrong_block_is_marked(reply: str) -> None:
    marks, accepted = marks_of_blocks(reply, PROGRAM)
    assert ([PROGRAM[span.start : span.end] for span in marks.spans], accepted) == JUDGEMENTS[reply]


@given(st.text(alphabet="BLOCK 12: rightwrong\n", max_size=80))
def test_any_reply_about_blocks_is_read(reply: str) -> None:
    marks, accepted = marks_of_blocks(reply, PROGRAM)
    assert not (marks.spans and accepted)
