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


def test_a_reply_that_is_nothing_but_its_answer_is_read_without_its_full_stop() -> None:
    answer = EpisodeHarness(["A red car.\n"]).solve(Direct())
    assert (answer.text, answer.end_reason, answer.is_last_resort) == ("A red car", "answered", False)


def test_a_reply_without_an_answer_is_asked_for_it_again() -> None:
    scripted = EpisodeHarness(["I look at the car, and it seems red to me.", r"\boxed{red}"])
    assert scripted.solve(Direct()).text == "red"
    assert "states no answer" in scripted.request_text(1)


def test_a_second_reply_without_an_answer_is_taken_whole_as_a_last_resort() -> None:
    prose = "I look at the car, and it seems red to me."
    answer = EpisodeHarness(["I see it.", prose]).solve(Direct())
    assert (answer.text, answer.end_reason, answer.is_last_resort) == (prose, "answered", True)


def test_a_reply_that_was_cut_is_asked_for_its_answer() -> None:
    assert EpisodeHarness([Reply("Let me think", finish="length"), "4"]).solve(Direct()).text == "4"


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
        (Reply("I'm sorry, but I can't help with that."), "refused"),
    ],
)
def test_a_reply_that_is_twice_no_answer_says_why(reply: Reply, reason: str) -> None:
    answer = EpisodeHarness([reply, reply]).solve(Direct())
    assert (answer.text, answer.end_reason) == (None, reason)
