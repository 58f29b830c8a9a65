"""A model is asked to fill a mask, and its program is found in what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.experiments.vdebugger_training.masking import (
    MASK,
    Masked,
    PromptedInfill,
    Span,
    program_in,
    refill_prompt,
)
from pyvision.models.scripted import Scripted

PROGRAM = "def f():\n    return 1"
MASKED = Masked(PROGRAM, Span(20, 21, "value"))


def test_the_question_shows_the_gap_the_task_and_the_functions() -> None:
    asked = refill_prompt("How many $?", MASKED, "def find(): …")
    assert f"# How many $?\ndef f():\n    return {MASK}\n" in asked
    assert "def find(): …" in asked


def test_every_mask_is_asked_about_at_temperature_zero() -> None:
    model = Scripted([f"```python\n{PROGRAM}2\n```", "no"])
    assert PromptedInfill(model, "")([("a", MASKED), ("b", MASKED)]) == [PROGRAM + "2", "no"]
    assert [MASK in messages[-1].text for messages in model.requests] == [True, True]


@pytest.mark.parametrize(
    "reply",
    [
        PROGRAM,
        f"Here it is:\n```python\n{PROGRAM}\n```\nDone.",
        f"```\n{PROGRAM}\n```",
        f"```python\n{PROGRAM}\n```\n```python\nother\n```",
        f"```python\n{PROGRAM}",
    ],
)
def test_the_program_is_found_with_and_without_a_fence(reply: str) -> None:
    assert program_in(reply) == PROGRAM


@given(st.text())
def test_whatever_is_said_there_is_a_text(reply: str) -> None:
    assert "```" not in program_in(reply)
