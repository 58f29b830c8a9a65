"""Models in roles perceive: what they are asked, and what becomes of what they say."""

from __future__ import annotations

import pytest

from pyvision.errors import ModelError, ToolError
from pyvision.tools.perception import model
from pyvision.types import Message, Picture, Reply, Tool, ToolRequest
from tests.tools.perception.pictures import Answering, drawn, two_circles_and_a_square

PICTURE = two_circles_and_a_square()


def image_sent_in(messages: tuple[Message, ...]) -> Picture:
    (message,) = messages
    (picture,) = (part for part in message.parts if isinstance(part, Picture))
    return picture


def test_the_image_comes_before_the_question() -> None:
    ask = Answering({"vqa": "red"})
    model.vqa("")(ToolRequest("What colour is it?", PICTURE), ask)
    ((role, (message,)),) = ask.asked
    assert role == "vqa"
    assert message.parts[0] == PICTURE
    assert "What colour is it?" in message.text


def test_boxes_of_an_image_that_was_scaled_down_are_those_of_the_original() -> None:
    large = drawn(lambda page: page.rectangle((1000, 500, 1999, 999), fill="red"), 4096, 2048)
    ask = Answering({"detect": '[{"box": [500, 250, 1000, 500], "label": "square"}]'})
    found = model.detect("pixels")(ToolRequest("square", large), ask)
    assert image_sent_in(ask.asked[0][1]).width == 2048
    assert "2048 wide and 1024 high" in ask.prompt
    (box,) = found.data["boxes"]
    assert [box[edge] for edge in ("left", "top", "right", "bottom")] == [1000, 500, 2000, 1000]


def test_the_boxes_of_an_enlarged_image_stay_inside_the_original() -> None:
    thin = drawn(lambda page: page.rectangle((0, 0, 3, 1), fill="red"), 4, 2)
    ask = Answering({"detect": '[{"box": [0, 0, 1000, 1000]}]'})
    (box,) = model.detect("")(ToolRequest("", thin), ask).data["boxes"]
    assert (box["right"], box["bottom"]) == (4, 2)


@pytest.mark.parametrize("text", ["", "object", "objects"])
def test_every_object_is_asked_for_without_a_name(text: str) -> None:
    ask = Answering({"detect": "[]"})
    found = model.detect("")(ToolRequest(text, PICTURE), ask)
    assert "separate objects" in ask.prompt
    assert found.data == {"boxes": []}
    assert found.text == "Found no objects."


def test_the_boxes_of_a_model_are_listed_by_falling_score() -> None:
    box = '"box": [0, 0, 500, 500]'
    reply = f'[{{{box}, "label": "a", "score": 0.4}}, {{{box}, "label": "b", "score": 0.9}}]'
    found = model.detect("1000")(ToolRequest("x", PICTURE), Answering({"detect": reply}))
    assert [line.partition(" ")[0] for line in found.text.splitlines()] == ["b", "a"]
    assert found.text.startswith("b (score=90.0) at left 0, top 0, right 120, bottom 80")


def ask_where(**options: object) -> tuple[object, str]:
    """The answer of the model to a question with a context, and the prompt that it got."""
    ask = Answering({"llm": "Paris"})
    request = ToolRequest("Where?", options={"context": "It is in Paris.", **options})
    return model.llm_qa("")(request, ask).data, ask.prompt


def test_the_reply_to_a_question_is_the_answer() -> None:
    assert ask_where()[0] == {"answer": "Paris"}


def test_a_context_is_fenced_off() -> None:
    assert "<text>\nIt is in Paris.\n</text>" in ask_where()[1]


def test_a_long_answer_is_asked_for_by_another_prompt() -> None:
    assert ask_where()[1] != ask_where(long=True)[1]


def test_a_dollar_in_a_question_stays_one() -> None:
    ask = Answering({"vqa": "$5"})
    assert model.vqa("")(ToolRequest("Is it $5 or $name?", PICTURE), ask).text == "$5"
    assert "Is it $5 or $name?" in ask.prompt


def test_what_a_model_thought_is_no_part_of_its_answer() -> None:
    reply = Answering({"caption": "<think>a lake [1, 2]</think>\nA drawing."})
    assert model.caption("")(ToolRequest(picture=PICTURE), reply).data == {"caption": "A drawing."}


@pytest.mark.parametrize(
    ("tool", "role", "reply"),
    [
        (model.caption(""), "caption", ""),
        (model.vqa(""), "vqa", "<think>hm"),
        (model.detect(""), "detect", "I see nothing of the kind"),
        (model.detect("unit"), "detect", '[{"box": [5, 5, 90, 90]}]'),
        (model.match(""), "match", "[1]"),
        (model.vqa(""), "vqa", Reply("", finish="refusal")),
    ],
)
def test_a_reply_that_is_of_no_use_is_a_tool_error(tool: Tool, role: str, reply: str | Reply) -> None:
    request = ToolRequest("x", PICTURE, {"texts": ["a", "b"]})
    with pytest.raises(ToolError):
        tool(request, Answering({role: reply}))


def test_a_failing_endpoint_is_not_the_fault_of_the_tool() -> None:
    def fails(role: str, messages: object) -> Reply:
        raise ModelError("the endpoint is down")

    with pytest.raises(ModelError, match="is down"):
        model.caption("")(ToolRequest(picture=PICTURE), fails)


def test_a_small_crop_is_enlarged_before_it_is_queried() -> None:
    small = drawn(lambda page: page.rectangle((2, 2, 9, 9), fill="red"), 30, 20)
    ask = Answering({"vqa": "red"})
    model.vqa("")(ToolRequest("What colour?", small), ask)
    sent = image_sent_in(ask.asked[0][1])
    assert (sent.width, sent.height) == (240, 160)


def test_the_boxes_in_an_enlarged_crop_are_those_of_the_crop() -> None:
    small = drawn(lambda page: page.rectangle((2, 2, 9, 9), fill="red"), 30, 20)
    ask = Answering({"detect": '[{"box": [80, 80, 160, 160], "label": "square"}]'})
    (box,) = model.detect("pixels")(ToolRequest("square", small), ask).data["boxes"]
    assert [box[edge] for edge in ("left", "top", "right", "bottom")] == [10, 10, 20, 20]


@pytest.mark.parametrize(
    "reply", ["red", "**red**.", "The answer is red.", "I see it.\n\n\\boxed{red}", "Answer: red"]
)
def test_the_form_of_a_short_answer_does_not_reach_the_program(reply: str) -> None:
    found = model.vqa("")(ToolRequest("What colour is it?", PICTURE), Answering({"vqa": reply}))
    assert found.data == {"answer": "red"}


def test_a_longer_answer_keeps_its_words() -> None:
    reply = "A dog.\nBehind it stands a tree."
    found = model.vqa("")(ToolRequest("What is it?", PICTURE), Answering({"vqa": reply}))
    assert found.data == {"answer": reply}
