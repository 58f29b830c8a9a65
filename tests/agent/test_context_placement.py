"""Where the picture of a tool's result goes, by what the endpoint takes."""

from __future__ import annotations

from pyvision.agent.context import ContextWindow
from pyvision.config.endpoints import EndpointLimits
from pyvision.types import Message, Picture, Text, ToolCall
from tests.doubles import picture

CALLS = Message("assistant", (ToolCall("a", "run_python", "{}"), ToolCall("b", "run_python", "{}")))
HELLO = Message("user", (Text("hello"),))


def result(call_id: str, number: int) -> Message:
    tagged = (Text(f"<image_clue_{number}>\n"), picture(), Text(f"\n</image_clue_{number}>\n"))
    return Message("tool", tagged, call_id)


CONVERSATION = (HELLO, CALLS, result("a", 1), result("b", 2), Message("user", (Text("last turn"),)))


def kinds(message: Message) -> list[str]:
    return ["picture" if isinstance(part, Picture) else part.text.strip() for part in message.parts]  # type: ignore[union-attr]


def test_images_move_behind_all_results_of_the_turn() -> None:
    packed = ContextWindow(EndpointLimits(image_placement="after_result"), ()).pack(CONVERSATION)
    assert [message.role for message in packed.messages] == ["user", "assistant", "tool", "tool", "user"]
    assert kinds(packed.messages[-1]) == [
        "<image_clue_1>",
        "picture",
        "</image_clue_1>",
        "<image_clue_2>",
        "picture",
        "</image_clue_2>",
        "last turn",
    ]
    assert "after the results" in packed.messages[2].text


def test_images_stay_in_a_result_where_the_endpoint_takes_them() -> None:
    packed = ContextWindow(EndpointLimits(), ()).pack(CONVERSATION)
    assert packed.messages == CONVERSATION


def test_the_record_says_where_each_image_was_sent() -> None:
    opening = Message("user", (Text("<image_clue_0>"), picture()))
    places = [
        [
            sent.place
            for sent in ContextWindow(EndpointLimits(image_placement=where), ())
            .pack((opening, *CONVERSATION))
            .sent
        ]
        for where in ("in_result", "after_result")
    ]
    assert places == [["turn", "in_result", "in_result"], ["turn", "after_result", "after_result"]]


def test_a_request_with_moved_images_begins_with_the_one_before() -> None:
    window = ContextWindow(EndpointLimits(image_placement="after_result"), ())
    first = window.pack(CONVERSATION).messages
    answer = Message("assistant", (Text("fine"),))
    assert window.pack((*CONVERSATION, answer, HELLO)).messages[: len(first)] == first


def test_all_figures_of_the_last_turn_stay_longer_than_those_before() -> None:
    window = ContextWindow(EndpointLimits(pictures=2), ())
    packed = window.pack((HELLO, CALLS, result("a", 1), *CONVERSATION[1:4]))
    assert packed.evicted == ("image_clue_1",)
