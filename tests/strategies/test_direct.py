from __future__ import annotations

import pytest

from pyvision.strategies.direct import Direct
from pyvision.types import Picture, Question, Reply
from tests.doubles import EpisodeHarness, picture


def test_the_model_is_asked_once_with_the_bare_images() -> None:
    question = Question("Which?", (picture(), picture(50, 40)))
    scripted = EpisodeHarness(["It is \\boxed{B}."], question=question)
    assert scripted.solve(Direct()).text == "B"
    (request,) = scripted.model.requests
    (message,) = request
    assert [isinstance(part, Picture) for part in message.parts] == [True, True, False]
    assert "Which?" in message.text
    assert "<code>" not in message.text


def test_a_plain_final_answer_is_found_as_in_every_strategy() -> None:
    answer = EpisodeHarness(["I see a car.\n\n**Final Answer:** B"]).solve(Direct())
    assert (answer.text, answer.is_last_resort) == ("B", False)


def test_a_reply_without_an_answer_is_taken_as_it_stands_as_a_last_resort() -> None:
    answer = EpisodeHarness(["A red car.\n"]).solve(Direct())
    assert (answer.text, answer.end_reason, answer.is_last_resort) == ("A red car.", "answered", True)


def test_code_in_the_reply_is_not_run() -> None:
    scripted = EpisodeHarness(["<code>\n```python\nprint(1)\n```\n</code> \\boxed{4}"])
    assert scripted.solve(Direct()).text == "4"
    assert scripted.sandbox.opened == 0


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("No.", finish="refusal"), "refused"),
        (Reply("Let me think about", finish="length"), "truncated"),
        (Reply(" "), "no_answer"),
    ],
)
def test_a_reply_that_is_no_answer_says_why(reply: Reply, reason: str) -> None:
    answer = EpisodeHarness([reply]).solve(Direct())
    assert (answer.text, answer.end_reason) == (None, reason)
