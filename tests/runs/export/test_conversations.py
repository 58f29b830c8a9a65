from __future__ import annotations

from dataclasses import replace

from pyvision.events import Event, ModelCall
from pyvision.runs.export.conversations import (
    alternating,
    conversations_of,
    is_interpreter,
    main_conversation,
)
from pyvision.types import Message, Text
from tests.runs.runs import assistant, eventful_events, simple_events, user


def replies(events: tuple[Event, ...]) -> list[ModelCall]:
    return [event for event in events if isinstance(event, ModelCall)]


def test_a_conversation_that_only_grows_is_one_with_the_last_reply_at_its_end() -> None:
    (conversation,) = conversations_of(simple_events())
    assert [message.role for message in conversation.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert conversation.messages[-1].text.startswith("It is grey.")
    assert len(conversation.pictures) == 2


def test_each_role_has_its_own_conversation() -> None:
    assert {conversation.role for conversation in conversations_of(eventful_events())} == {"solver", "critic"}


def test_a_request_that_changes_what_was_sent_begins_a_conversation() -> None:
    first, second = replies(simple_events())
    changed = replace(second, messages=(user(Text("other")), *second.messages[1:]))
    assert len(conversations_of([first, changed])) == 2


def test_replies_that_were_cut_are_not_to_be_learned() -> None:
    first, second = replies(simple_events())
    cut = replace(second, reply=replace(second.reply, finish="length"))
    (conversation,) = conversations_of([first, cut])
    assert [at for at in range(5) if conversation.is_learned(at)] == [2]


def test_an_assistants_message_that_no_model_of_the_run_gave_is_not_to_be_learned() -> None:
    first = replies(simple_events())[0]
    shot = (user(Text("1 + 1?")), assistant("2"))
    (conversation,) = conversations_of([replace(first, messages=(*shot, *first.messages[1:]))])
    assert [at for at in range(len(conversation.messages)) if conversation.is_learned(at)] == [3]


def test_what_a_cell_printed_is_an_interpreter_turn() -> None:
    assert is_interpreter(user(Text("<interpreter>\n1\n</interpreter>")))
    assert not is_interpreter(user(Text("Say what <interpreter> is")))
    assert not is_interpreter(assistant("<interpreter>made up</interpreter>"))


def test_neighbours_of_one_role_become_one() -> None:
    merged = list(alternating([user(Text("a")), user(Text("b")), assistant("c")]))
    assert [(message.text, numbers) for message, numbers in merged] == [("a\n\nb", (0, 1)), ("c", (2,))]


def test_the_main_conversation_is_the_longest() -> None:
    conversation = main_conversation(eventful_events())
    assert conversation is not None
    assert conversation.role == "solver" or len(conversation.messages) == 3
    assert main_conversation([]) is None


def test_an_empty_reply_is_labelled_as_empty() -> None:
    first = replies(simple_events())[0]
    (conversation,) = conversations_of([replace(first, reply=replace(first.reply, text=""))])
    assert conversation.messages[-1] == Message("assistant", (Text("(empty)"),))
