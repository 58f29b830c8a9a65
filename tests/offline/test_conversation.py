"""A conversation is read back from its text alone."""

from __future__ import annotations

from pyvision.offline.conversation import parse_conversation
from pyvision.types import Message, Text
from tests.offline.loop import opening


def said(role: str, text: str) -> Message:
    assert role in ("user", "assistant")
    return Message("user" if role == "user" else "assistant", (Text(text),))


def test_question_and_images_come_from_the_opening() -> None:
    conversation = parse_conversation(opening("How many rows\nare there?", [(10, 20), (30, 40)]))
    assert conversation.question == "How many rows\nare there?"
    assert conversation.images == 2
    assert conversation.can_run


def test_a_question_without_tags_is_found() -> None:
    assert (
        parse_conversation([said("user", "<image_clue_0></image_clue_0> How wide is it?")]).question
        == "How wide is it?"
    )


def test_a_long_prompt_without_tags_is_no_question() -> None:
    assert parse_conversation([said("user", "many words " * 100)]).question == ""


def test_each_cell_is_paired_with_the_turn_after_it() -> None:
    conversation = parse_conversation(
        [
            *opening("q", [(1, 1)]),
            said("assistant", "<code>a</code>"),
            said("user", "note <interpreter>\none\n</interpreter> note"),
            said("assistant", "only conversation"),
            said("user", "That reply could not be used."),
            said("assistant", "<code>b</code>"),
            said("user", "timeout"),
        ]
    )
    assert [output.strip() for output in conversation.outputs] == ["one", "timeout"]


def test_a_cell_in_words_of_the_assistant_does_not_mean_that_code_can_run() -> None:
    assert not parse_conversation(
        [said("user", "How wide is it?"), said("assistant", "<code>x</code>")]
    ).can_run
