"""The conversations of a run: each chain of requests that only grew, with its last reply.

A strategy with one role that only appends to its messages has one conversation. Each role has its own conversations,
and a new one begins where a request does not continue the one before, as when old figures were evicted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pyvision.events import Event, ModelCall
from pyvision.strategies.code_loop.protocol import without_tools
from pyvision.text.replies import reply_message
from pyvision.types import Message, Picture, Text

INTERPRETER = "<interpreter>"
_COMPLETE = ("end", "stop")  # the finish of a reply that may be trained on


@dataclass(frozen=True)
class TrainingConversation:
    """The model calls of one chain; each request extends the one before."""

    asked: tuple[ModelCall, ...]

    @property
    def role(self) -> str:
        return self.asked[-1].role

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All messages, with the last reply at the end."""
        last = self.asked[-1]
        return (*last.messages, reply_message(last.reply))

    @cached_property
    def as_text(self) -> tuple[Message, ...]:
        """All messages in the text protocol, which models are trained on; message for message."""
        return tuple(map(without_tools, self.messages))

    @cached_property
    def pictures(self) -> tuple[Picture, ...]:
        """In the order of the conversation; an image that was sent twice appears twice."""
        return tuple(part for message in self.messages for part in message.parts if isinstance(part, Picture))

    def is_learned(self, at: int) -> bool:
        """Whether message number `at` may be trained on: a complete reply that a model gave in this run."""
        replies = {len(asked.messages): asked.reply for asked in self.asked}
        return at in replies and replies[at].finish in _COMPLETE


def is_interpreter(message: Message) -> bool:
    """Whether a user message is the output of a cell."""
    return message.role == "user" and message.text.lstrip().startswith(INTERPRETER)


def conversations_of(events: Iterable[Event]) -> tuple[TrainingConversation, ...]:
    """Every conversation of a run, in the order in which they ended."""
    chains: list[list[ModelCall]] = []
    for event in events:
        if isinstance(event, ModelCall):
            chain = next((chain for chain in chains if _continues(event, chain[-1])), None)
            if chain is None:
                chains.append([event])
            else:
                chain.append(event)
    return tuple(TrainingConversation(tuple(chain)) for chain in chains)


def main_conversation(events: Iterable[Event]) -> TrainingConversation | None:
    """The longest conversation; the last of several."""
    return max(conversations_of(events), key=lambda conversation: len(conversation.messages), default=None)


def alternating(messages: Iterable[Message]) -> Iterator[tuple[Message, tuple[int, ...]]]:
    """Merges neighbouring messages of one role; each result comes with the numbers of the messages in it."""
    merged: Message | None = None
    numbers: tuple[int, ...] = ()
    for number, message in enumerate(messages):
        if merged is not None and merged.role == message.role:
            merged = Message(merged.role, (*merged.parts, Text("\n\n"), *message.parts))
            numbers = (*numbers, number)
            continue
        if merged is not None:
            yield merged, numbers
        merged, numbers = message, (number,)
    if merged is not None:
        yield merged, numbers


def _continues(asked: ModelCall, before: ModelCall) -> bool:
    length = len(before.messages)
    return (
        asked.role == before.role
        and len(asked.messages) > length
        and asked.messages[:length] == before.messages
        and asked.messages[length].role == "assistant"
    )
