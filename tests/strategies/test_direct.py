from __future__ import annotations

import pytest

from pyvision.strategies.direct import Direct
from pyvision.types import Picture, Question, Reply
from tests.doubles import Rehearsal, picture


def test_the_model_is_asked_once_with_the_bare_images() -> None:
    question = Question("Which?", (picture(), picture(50, 40)))
    rehearsal = Rehearsal(["It is \\boxed{B}."], question=question)
    assert rehearsal.solve(Direct()).text == "B"
    (request,) = rehearsal.model.requests
    (message,) = request
    assert [isinstance(part, Picture) for part in message.parts] == [True, True, False]
    assert "Which?" in message.text
    assert "<code>" not in message.text


def test_a_reply_without_a_box_is_the_answer_as_it_stands() -> None:
    assert Rehearsal(["A red car.\n"]).solve(Direct()).text == "A red car."


def test_code_in_the_reply_is_not_run() -> None:
    rehearsal = Rehearsal(["<code>\n```python\nprint(1)\n```\n</code> \\boxed{4}"])
    assert rehearsal.solve(Direct()).text == "4"
    assert rehearsal.sandbox.opened == 0


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("No.", finish="refusal"), "refused"),
        (Reply("Let me think about", finish="length"), "truncated"),
        (Reply(" "), "no_answer"),
    ],
)
def test_a_reply_that_is_no_answer_says_why(reply: Reply, reason: str) -> None:
    answer = Rehearsal([reply]).solve(Direct())
    assert (answer.text, answer.end_reason) == (None, reason)
