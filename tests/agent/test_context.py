"""What goes out: append-only until a limit is met, then many figures give way at once."""

from __future__ import annotations

import pytest

from pyvision.agent.context import ContextWindow
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import LimitReached, ModelError
from pyvision.types import Message, Picture, Text
from tests.config.test_endpoints import figure_parts
from tests.doubles import picture

SIX = EndpointLimits(pictures=6)


def opening(images: int = 1) -> Message:
    """The user's first turn, with the images of the question."""
    parts = tuple(part for number in range(images) for part in figure_parts(number, picture(50 + number)))
    return Message("user", (*parts, Text("?")))


def turn(*numbers: int) -> Message:
    return Message("user", tuple(part for n in numbers for part in figure_parts(n, picture(60 + n))))


def names(context_window: ContextWindow, messages: tuple[Message, ...]) -> list[str | None]:
    return [sent.name for sent in context_window.pack(messages).sent]


def handles(*numbers: int) -> list[str]:
    return [f"image_clue_{number}" for number in numbers]


def test_the_oldest_figures_are_evicted_in_batches() -> None:
    context_window = ContextWindow(SIX, originals={0})
    messages = (opening(), *(turn(n) for n in range(1, 11)))
    for length in range(1, 12):
        found = names(context_window, messages[:length])
    assert found == handles(0, 9, 10)


def test_the_prefix_of_a_conversation_changes_only_with_a_batch() -> None:
    context_window = ContextWindow(SIX, originals={0})
    conversation = (opening(), *(turn(n) for n in range(1, 11)))
    broken = 0
    before = context_window.pack(conversation[:1]).messages
    for length in range(2, 12):
        messages = context_window.pack(conversation[:length]).messages
        broken += messages[: len(before)] != before
        before = messages
    assert broken == 2


def window_for_two() -> tuple[ContextWindow, tuple[Message, ...]]:
    """A window for two images, and a conversation of three."""
    return ContextWindow(EndpointLimits(pictures=2), originals={0}), (opening(), turn(1), turn(2))


def test_an_evicted_figure_is_not_sent() -> None:
    context_window, messages = window_for_two()
    request = context_window.pack(messages)
    assert request.evicted == ("image_clue_1",)
    assert not any(isinstance(part, Picture) for part in request.messages[1].parts)


def test_an_evicted_figure_leaves_its_size() -> None:
    context_window, messages = window_for_two()
    assert "image_clue_1, 61 x 30 pixels" in context_window.pack(messages).messages[1].text


def test_an_evicted_figure_leaves_the_call_that_shows_it_again() -> None:
    context_window, messages = window_for_two()
    assert "display(image_clue_1)" in context_window.pack(messages).messages[1].text


def test_an_eviction_is_reported_once() -> None:
    context_window, messages = window_for_two()
    assert context_window.pack(messages).evicted
    assert context_window.pack(messages).evicted == ()


def test_an_evicted_figure_stays_out() -> None:
    context_window, messages = window_for_two()
    context_window.pack(messages)
    assert names(context_window, messages) == handles(0, 2)


def test_a_figure_comes_back_when_it_is_shown_again() -> None:
    context_window, messages = (
        ContextWindow(EndpointLimits(pictures=2), originals={0}),
        (opening(), turn(1), turn(2)),
    )
    context_window.pack(messages)
    shown_again = Message("user", figure_parts(3, picture(61)))  # the picture of image_clue_1
    assert "image_clue_3" in names(context_window, (*messages, shown_again))


def test_figures_of_the_last_turn_stay_as_long_as_they_can() -> None:
    context_window = ContextWindow(SIX, originals={0})
    assert names(context_window, (opening(), turn(1), turn(2, 3, 4, 5, 6))) == handles(0, 2, 3, 4, 5, 6)


def test_the_images_of_the_question_go_last() -> None:
    context_window = ContextWindow(EndpointLimits(pictures=3), originals={0, 1})
    assert names(context_window, (opening(2), turn(2), turn(3, 4, 5))) == handles(0, 1, 5)
    assert names(ContextWindow(EndpointLimits(pictures=1), originals={0, 1}), (opening(2),)) == handles(1)


def test_images_without_a_handle_cannot_be_evicted() -> None:
    bare = Message("user", (picture(), picture(41), Text("?")))
    with pytest.raises(LimitReached, match="2 images") as caught:
        ContextWindow(EndpointLimits(pictures=1), originals={0, 1}).pack((bare,))
    assert caught.value.end_reason == "picture_limit"


def test_text_that_is_too_long_for_a_request_is_an_error() -> None:
    with pytest.raises(LimitReached) as caught:
        ContextWindow(EndpointLimits(request_bytes=1000), originals=()).pack(
            (Message("user", (Text("x" * 2000),)),)
        )
    assert caught.value.end_reason == "byte_limit"


@pytest.mark.parametrize(
    "expected",
    [
        "At most 2 image(s) may be provided in one prompt.",
        "You set image=2 (or defaulted to 1) in `--limit-mm-per-prompt`, but passed 3 image items",
    ],
)
def test_the_image_limit_that_the_server_gave_is_respected(expected: str) -> None:
    context_window, messages = ContextWindow(EndpointLimits(), originals={0}), (opening(), turn(1), turn(2))
    assert len(context_window.pack(messages).sent) == 3
    assert context_window.evict(ModelError(expected), messages)
    assert names(context_window, messages) == handles(0, 2)
    assert not context_window.evict(ModelError(expected), messages)


def too_long() -> ModelError:
    return ModelError("the conversation is too long for the model", kind="context")


def test_a_conversation_too_long_for_the_model_loses_the_figures_of_earlier_turns_first() -> None:
    context_window, messages = (
        ContextWindow(EndpointLimits(), originals={0}),
        (opening(), turn(1), turn(2), turn(3)),
    )
    assert context_window.evict(too_long(), messages)
    assert names(context_window, messages) == handles(0, 3)
    assert context_window.evict(too_long(), messages)
    assert names(context_window, messages) == handles(0)
    assert context_window.evict(too_long(), messages)
    assert names(context_window, messages) == []
    assert not context_window.evict(too_long(), messages)


def test_other_failures_leave_everything_as_it_is() -> None:
    assert not ContextWindow(EndpointLimits(), originals={0}).evict(
        ModelError("no route"), (opening(), turn(1))
    )


def test_each_image_is_recorded_with_its_transform_to_the_original() -> None:
    (sent,) = (
        ContextWindow(EndpointLimits(), originals={0}).pack((Message("user", (picture(4096, 1024),)),)).sent
    )
    assert (sent.width, sent.height, sent.name) == (2048, 512, None)
    assert sent.to_original(1024, 256) == (2048, 512)


def test_an_image_that_is_sent_again_is_the_same_object() -> None:
    context_window, messages = (
        ContextWindow(EndpointLimits(), originals={0}),
        (Message("user", (picture(4096, 1024),)),),
    )
    first, second = context_window.pack(messages), context_window.pack(messages)
    assert first.messages[0].parts[0] is second.messages[0].parts[0]
