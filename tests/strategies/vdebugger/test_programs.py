"""Programs are found in replies of every kind, and written in one form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.programs import FORMS, canonical, program_in

SIGNATURE = FORMS["vqa"].signature
BODY = "    patch = ImagePatch(image)\n    return patch.simple_query('What is it?')"
PROGRAM = f"{SIGNATURE}\n{BODY}"
REPLIES = {
    "bare": PROGRAM,
    "fenced": f"Here it is:\n```python\n{PROGRAM}\n```\nIt asks.",
    "fenced and never closed": f"```\n{PROGRAM}",
    "indented in a list": f"1. So:\n   ```py\n{PROGRAM}\n   ```",
    "the second fence": f"```\npip install x\n```\n```python\n{PROGRAM}\n```",
    "bare with prose around it": f"Sure!\n\n{PROGRAM}\n\nThis asks what it is.",
    "with a thought before it": f"<think>```python\ndef execute_command(x): return 1\n```</think>\n{PROGRAM}",
    "the body alone": BODY,
    "the body alone, not indented": "patch = ImagePatch(image)\nreturn patch.simple_query('What is it?')",
    "with marks": PROGRAM.replace("patch.simple_query", "<<<BUG>>>patch.simple_query<<<BUG/>>>"),
    "with an echo of the prompt": f"{PROGRAM}\n\n# Program is\nright",
    "in JSON": json.dumps({"program": PROGRAM}),
    "in fenced JSON": f"```json\n{json.dumps({'code': PROGRAM})}\n```",
    "with a call behind it": f"{PROGRAM}\n\nprint(execute_command(image))",
    "with comments": PROGRAM.replace("\n    return", "\n    # ask\n    return"),
    "Windows lines": PROGRAM.replace("\n", "\r\n"),
    "without annotations": PROGRAM.replace(" -> str", ""),
}


@pytest.mark.parametrize("kind", REPLIES)
def test_every_form_of_reply_gives_the_same_program(kind: str) -> None:
    assert canonical(program_in(REPLIES[kind], SIGNATURE), SIGNATURE).text == PROGRAM


@pytest.mark.parametrize(
    "reply", ["", "right", "I would return the number.", "```\nlen(x)\n```", "```json\n{}\n```"]
)
def test_a_reply_without_a_program_is_refused(reply: str) -> None:
    with pytest.raises(FormatError, match="no function execute_command"):
        program_in(reply, SIGNATURE)


def test_a_program_without_end_is_refused() -> None:
    with pytest.raises(FormatError, match="the limit is 20,000"):
        program_in(f"{SIGNATURE}\n" + "    x = 1\n" * 5_000, SIGNATURE)


def test_what_is_beside_the_program_is_kept() -> None:
    text = f"import math\n\ndef half(x):\n    return x / 2\n\n{PROGRAM}"
    checked = canonical(program_in(f"```\n{text}\n```", SIGNATURE), SIGNATURE)
    assert checked.text.startswith("import math\n\ndef half(x):")


@pytest.mark.parametrize("text", ["def execute_command(image:\n  return", "x = (", "\0", "(" * 1000, "x = 1"])
def test_an_invalid_program_is_kept_with_its_error(text: str) -> None:
    checked = canonical(text, SIGNATURE)
    assert checked.error
    assert "\n" not in checked.error
    assert checked.text == text


@given(st.text(alphabet="defxcut_oman (image)->str:\n`~#=<>BUG/ returnéß'\"", max_size=300))
def test_any_reply_is_a_program_or_a_format_error(reply: str) -> None:
    try:
        code = program_in(reply, SIGNATURE)
    except FormatError:
        return
    assert canonical(code, SIGNATURE).error or canonical(code, SIGNATURE).text


@given(st.sampled_from(sorted(REPLIES.values())))
def test_the_one_form_stays_as_it_is(reply: str) -> None:
    once = canonical(program_in(reply, SIGNATURE), SIGNATURE).text
    assert canonical(once, SIGNATURE).text == once
