"""A masked span is filled, and the error is located where the mask was."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.experiments.vdebugger_training.masking import (
    MASK,
    Masked,
    MaskedSpan,
    candidates,
    canonical,
    mask_somewhere,
    parse_infill,
)

PROGRAM = canonical("""
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    pears = image_patch.find('pear')
    count = len(pears)
    return str(count)
""")
STATEMENTS = PROGRAM.index("pears ="), PROGRAM.index("\n    return")
MASKED = Masked(PROGRAM, MaskedSpan(*STATEMENTS))


def test_several_lines_collapse_to_the_mask() -> None:
    assert MASKED.text.splitlines()[2:] == [f"    {MASK}", "    return str(count)"]


def test_the_same_seed_masks_the_same_span() -> None:
    first, second = (mask_somewhere(PROGRAM, random.Random(7)) for _ in range(2))
    assert first == second
    assert first.span in candidates(PROGRAM)


def test_the_error_is_located_where_the_mask_was() -> None:
    new = PROGRAM.replace("find('pear')", "find('apple')").replace("len(pears)", "len(pears) + 1")
    program, span = parse_infill(MASKED, new)
    assert program == new
    assert span.of(program) == "pears = image_patch.find('apple')\n    count = len(pears) + 1"


def test_an_infill_in_another_style_is_recognised() -> None:
    answer = PROGRAM.replace("'pear'", '"plum"').replace("return", "# the answer\n    return")
    program, span = parse_infill(MASKED, answer)
    assert span.of(program).startswith("pears = image_patch.find('plum')")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (PROGRAM, "equals the masked code"),
        (PROGRAM.replace("str(count)", "count"), "more than the mask"),
        (PROGRAM.replace("'pear'", "'plum").replace("count", "n"), "does not parse"),
        ("", "more than the mask"),
    ],
)
def test_an_infill_that_does_not_only_change_the_mask_is_refused(answer: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        parse_infill(MASKED, answer)


def test_an_empty_infill_is_refused() -> None:
    masked = Masked("a = 1\nb = 2\nb = 2", MaskedSpan(6, 12))
    with pytest.raises(FormatError, match="empty"):
        parse_infill(masked, "a = 1\nb = 2")


@pytest.mark.parametrize("program", ["import os", f"def f():\n    return '{MASK}'"])
def test_a_program_without_a_candidate_is_refused(program: str) -> None:
    with pytest.raises(FormatError):
        mask_somewhere(program, random.Random(0))


@given(st.integers(0, 10_000), st.text(max_size=40))
def test_any_accepted_infill_leaves_the_rest_of_the_program_unchanged(seed: int, answer: str) -> None:
    masked = mask_somewhere(PROGRAM, random.Random(seed))
    try:
        program, span = parse_infill(masked, masked.before + answer + masked.after)
    except FormatError:
        return
    assert program[: span.start] == masked.before
    assert program[span.end :] == masked.after
