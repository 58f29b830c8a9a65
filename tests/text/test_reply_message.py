"""What goes back to the model of its own reply."""

from __future__ import annotations

import pytest

from pyvision.text.python_source import MOST_SOURCE_CHARS
from pyvision.text.replies import (
    reply_message,
)
from pyvision.types import Message, Opaque, Reply, Text, ToolCall
from tests.text.test_replies import block


@pytest.mark.parametrize(
    "text",
    [
        "  Look.\n" + block("print(1)"),
        "<think>hm</think>Look.\r\n" + block("print(1)"),
        "I run it.\n<interpreter>\n9\n</interpreter>\nSo it is 9. ",
        "<code>\nno code at all\n</code>",
    ],
)
def test_a_reply_goes_back_to_the_model_unchanged(text: str) -> None:
    assert reply_message(Reply(text)) == Message("assistant", (Text(text),))


@pytest.mark.parametrize("end", ["```\n", "", "```"])
def test_a_reply_goes_back_with_the_tag_that_ended_it(end: str) -> None:
    cut = Reply("Look.\n<code>\n```python\nprint(1)\n" + end, finish="stop")
    assert reply_message(cut).text == cut.text + "</code>"


def test_nothing_behind_the_tag_that_ends_a_reply_goes_back() -> None:
    reply = Reply("<think>hm</think> Look.\n" + block("print(1)") + "\n<interpreter>\n1\n</interpreter>\n")
    assert reply_message(reply).text == "<think>hm</think> Look.\n" + block("print(1)")


def test_a_reply_that_another_string_ended_goes_back_unchanged() -> None:
    assert reply_message(Reply("So it is 9.\n", finish="stop")).text == "So it is 9.\n"


def test_an_empty_reply_goes_back_with_words_in_its_place() -> None:
    assert reply_message(Reply(" ")).text == "(empty)"


def test_a_cell_that_is_too_long_to_run_is_not_sent_back_whole() -> None:
    reply = Reply("Look.\n" + block("x = 1\n" * MOST_SOURCE_CHARS))
    assert len(reply_message(reply).text) < MOST_SOURCE_CHARS
    assert "characters left out" in reply_message(reply).text


def test_the_calls_of_a_reply_go_back_after_its_text() -> None:
    call, sealed = ToolCall("1", "run_python", "{}"), Opaque("anthropic:m", "[]")
    message = reply_message(Reply("I look.", calls=(call,), opaque=sealed))
    assert message == Message("assistant", (Text("I look."), call), opaque=sealed)
