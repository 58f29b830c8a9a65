"""Native tool calls: the cell that a call asks for, and its text while it is written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.text.native_tool_calls import PartialCell, as_text, code_of, render_reply
from pyvision.text.replies import find_code
from pyvision.types import Message, Picture, Reply, Text, ToolCall
from tests.doubles import picture

CODE = "x = 1\nprint(x)"
PROPERTY = settings(derandomize=True, deadline=None, max_examples=150, database=None)


def call(arguments: str, name: str = "run_python", *, is_free_form: bool = False) -> ToolCall:
    return ToolCall("c1", name, arguments, is_free_form)


def streamed(arguments: str, size: int, *, is_free_form: bool = False) -> str:
    stream = PartialCell(is_free_form=is_free_form)
    pieces = [stream.feed(arguments[at : at + size]) for at in range(0, len(arguments), size)]
    return "".join([*pieces, stream.end()])


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"code": CODE}),
        json.dumps({"code": f"```python\n{CODE}\n```"}),
        json.dumps({"code": f"<code>\n```python\n{CODE}\n```\n</code>"}),
        json.dumps({"code": {"source": CODE}}),
        json.dumps({"code": CODE.split("\n")}),
        json.dumps({"python_code": CODE}),
        json.dumps(json.dumps({"code": CODE})),
        repr({"code": CODE}),
        json.dumps({"code": CODE})[:-1],
        CODE,
        f"```python\n{CODE}\n```",
    ],
)
def test_code_is_found_however_a_call_words_it(arguments: str) -> None:
    assert code_of(call(arguments)) == CODE


@pytest.mark.parametrize(
    ("arguments", "name", "fault"),
    [
        ("{}", "run_python", "holds no code"),
        ('{"code": ""}', "run_python", "holds no code"),
        ('{"code": 7}', "run_python", "holds no code"),
        ('{"code": {"code": {"code": {"code": "x"}}}}', "run_python", "holds no code"),
        ('{"code": "print(1', "run_python", "not valid JSON"),
        ('{"query": "cats"}', "web_search", "does not exist here"),
        ("", "run_python", "holds no code"),
    ],
)
def test_a_call_that_asks_for_no_cell_is_a_fault_that_says_why(arguments: str, name: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        code_of(call(arguments, name))


def test_a_set_of_python_is_code_in_a_free_form_call() -> None:
    assert code_of(call("{n for n in range(3)}", is_free_form=True)) == "{n for n in range(3)}"


def test_a_cell_that_is_too_long_is_not_run() -> None:
    with pytest.raises(FormatError, match="write shorter code"):
        code_of(call(json.dumps({"code": "x = 1\n" * 10_000})))


def test_a_zoom_call_of_another_harness_runs() -> None:
    code = code_of(call('{"bbox_2d": [1, 2, 30, 40]}', "image_zoom_in_tool"))
    assert "_zoom(" in code


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("is_free_form", [True, False])
def test_a_call_that_streams_is_shown_as_its_cell(size: int, *, is_free_form: bool) -> None:
    code = "print(\"é\\t😀 ‹\", '\\\\')\n# </code>"
    arguments = code if is_free_form else json.dumps({"code": code})
    assert (
        streamed(arguments, size, is_free_form=is_free_form) == f"\n<code>\n```python\n{code}\n```\n</code>\n"
    )


@PROPERTY
@given(st.text(), st.integers(1, 9), st.booleans())
def test_what_is_shown_of_a_call_is_its_code(code: str, size: int, is_ascii: bool) -> None:
    arguments = json.dumps({"code": code}, ensure_ascii=is_ascii)
    assert (
        streamed(arguments, size).removeprefix("\n<code>\n```python\n").removesuffix("\n```\n</code>\n")
        == code
    )


@PROPERTY
@given(st.text('{}":\\ucode 0', max_size=60), st.integers(1, 9))
def test_a_stream_of_anything_is_read_to_its_end(arguments: str, size: int) -> None:
    shown = streamed(arguments, size)
    assert shown.startswith("\n<code>") == shown.endswith("</code>\n")


def test_a_reply_is_displayed_with_the_cells_that_it_asks_for() -> None:
    calls = (call(json.dumps({"code": CODE})), call("{}", "look"))
    text = render_reply(Reply("I look.", calls=calls))
    assert text.startswith("I look.\n<code>")
    assert find_code(text) == CODE
    assert "a call of look" in text


def test_code_with_a_fence_in_it_is_displayed_in_a_longer_one() -> None:
    code = 'print("""\n```\n""")'
    assert find_code(render_reply(Reply("", calls=(call(json.dumps({"code": code})),)))) == code


def test_a_result_is_an_interpreter_turn_in_the_text_protocol() -> None:
    message = as_text(Message("tool", (Text("7"), picture()), "c1"))
    assert (message.role, message.text) == ("user", "<interpreter>\n7\n</interpreter>")
    assert sum(isinstance(part, Picture) for part in message.parts) == 1


def test_a_reply_with_calls_is_cells_in_the_text_protocol() -> None:
    message = as_text(Message("assistant", (Text("I look."), call(json.dumps({"code": CODE})))))
    assert (find_code(message.text), message.calls) == (CODE, ())
