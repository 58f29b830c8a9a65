"""A decision of a perceiving model is read, asked for again, or refused; it is never guessed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pyvision.errors import FormatError, ToolError
from pyvision.tools.perception import model
from pyvision.tools.perception.model import parse_yes_or_no
from pyvision.types import Message, Observation, Reply, Tool, ToolRequest
from tests.tools.perception.pictures import two_circles_and_a_square

PICTURE = two_circles_and_a_square()
GREEN = ToolRequest("triangle", PICTURE, {"property": "green"})


class InTurn:
    """A model that gives its replies in turn, and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.asked: list[tuple[str, tuple[Message, ...]]] = []
        self._replies = list(replies)

    def __call__(self, role: str, messages: Sequence[Message]) -> Reply:
        self.asked.append((role, tuple(messages)))
        return Reply(self._replies[len(self.asked) - 1])


def use(tool: Tool, request: ToolRequest, *replies: str) -> tuple[Observation, InTurn]:
    ask = InTurn(*replies)
    return tool(request, ask), ask


def test_a_property_is_one_question_with_object_property_image() -> None:
    _, ask = use(model.verify(""), GREEN, "yes")
    ((role, (message,)),) = ask.asked
    assert role == "vqa"
    assert "triangle" in message.text
    assert "green" in message.text
    assert message.parts[0] == PICTURE


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("yes", True),
        ("No.", False),
        ("**Yes**, it is green.", True),
        ("No, it is not green; a yes would be wrong.", False),
        ("The answer is no.", False),
        ("<think>yes</think>no", False),
    ],
)
def test_yes_or_no_is_found_in_a_reply(reply: str, *, holds: bool) -> None:
    found, _ = use(model.verify(""), GREEN, reply)
    assert found.data == {"holds": holds}


@pytest.mark.parametrize("reply", ["", "maybe", "It could be yes or no.", "I know nothing."])
def test_what_says_neither_is_a_format_error(reply: str) -> None:
    with pytest.raises(FormatError):
        parse_yes_or_no(reply)


def test_an_unclear_decision_is_asked_for_again_with_the_reason() -> None:
    found, ask = use(model.verify(""), GREEN, "It depends.", "no")
    assert found.data == {"holds": False}
    assert "says neither yes nor no" in ask.asked[1][1][-1].text
    assert len(ask.asked[1][1]) == 3


def test_a_decision_that_stays_unclear_is_an_error() -> None:
    with pytest.raises(ToolError, match="says neither yes nor no"):
        use(model.verify(""), GREEN, "It depends.", "It still does.")


@pytest.mark.parametrize("wanted", [None, "", 3])
def test_a_property_must_be_a_text(wanted: object) -> None:
    with pytest.raises(ToolError, match="option property must be a text"):
        use(model.verify(""), ToolRequest("cup", PICTURE, {"property": wanted}), "yes")


def test_boxes_that_cannot_be_read_are_asked_for_again() -> None:
    found, ask = use(model.detect(""), ToolRequest("cup", PICTURE), "There are two.", "[]")
    assert found.data == {"boxes": []}
    assert "contains no boxes" in ask.asked[1][1][-1].text


def test_scores_that_cannot_be_read_are_asked_for_again() -> None:
    request = ToolRequest(picture=PICTURE, options={"texts": ["a", "b"]})
    found, _ = use(model.match(""), request, "[90]", "[90, 10]")
    assert found.data == {"scores": [0.9, 0.1]}


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, I cannot identify people.",
        "Sorry, but I can't say.",
        "I cannot assist with this request.",
        "As an AI, I have no opinion.",
    ],
)
@pytest.mark.parametrize("tool", ["vqa", "llm_qa", "verify"])
def test_a_refusal_in_words_is_no_value(tool: str, reply: str) -> None:
    request = ToolRequest("Who is it?", PICTURE, {"property": "tall"})
    with pytest.raises(ToolError, match="the model declined to answer"):
        use(getattr(model, tool)(""), request, reply)


@pytest.mark.parametrize(
    ("tool", "reply", "value"),
    [
        ("vqa", "I'm sorry, but there are only 3.", "3"),
        ("vqa", "I'm sorry for the confusion, but the sign says 42", "42"),
        ("verify", "I cannot identify the breed, but yes, it is brown.", "yes"),
        ("verify", "I cannot see a dog; the answer is no", "no"),
    ],
)
def test_what_answers_after_a_refusal_is_a_value(tool: str, reply: str, value: str) -> None:
    request = ToolRequest("What is it?", PICTURE, {"property": "brown"})
    observation, _ = use(getattr(model, tool)(""), request, reply)
    assert value in observation.text
