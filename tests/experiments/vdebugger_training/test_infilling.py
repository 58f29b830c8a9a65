"""A model is asked to fill a mask, and its program is extracted from the reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.experiments.vdebugger_training.masking import (
    MASK,
    Masked,
    MaskedSpan,
    PromptedInfill,
    extract_program,
    render_infill_prompt,
)
from pyvision.models.scripted import Scripted

PROGRAM = "def f():\n    return 1"
MASKED = Masked(PROGRAM, MaskedSpan(20, 21, "value"))


def test_the_prompt_contains_the_masked_program_with_the_api() -> None:
    prompt = render_infill_prompt("How many $?", MASKED, "def find(): …")
    assert f"# How many $?\ndef f():\n    return {MASK}\n" in prompt
    assert "def find(): …" in prompt


def test_every_mask_is_filled_by_its_own_request() -> None:
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
def test_the_program_is_extracted_from_any_form_of_reply(reply: str) -> None:
    assert extract_program(reply) == PROGRAM


@given(st.text())
def test_any_reply_gives_a_text_without_fences(reply: str) -> None:
    assert "```" not in extract_program(reply)
