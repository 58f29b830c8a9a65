"""The conversations of a run: each chain of requests that only ever grew, with the reply that ended it.

A strategy with one role and a conversation that is only appended to is one conversation. Every role has its own, and one begins anew
where a request does not continue the one before, as when old figures gave way to a limit of the endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pyvision.events import Event, ModelCall
from pyvision.text.replies import canonical_reply
from pyvision.types import Message, Picture, Text

INTERPRETER = "<interpreter>"
_WHOLE = ("end", "stop")  # a reply that ended so is one to learn from


@dataclass(frozen=True)
class TrainingConversation:
    """The requests of one chain, each a longer version of the one before."""

    asked: tuple[ModelCall, ...]

    @property
    def role(self) -> str:
        return self.asked[-1].role

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All that was said, the last reply at the end."""
        last = self.asked[-1]
        return (*last.messages, Message("assistant", (Text(_as_said(last)),)))

    @cached_property
    def pictures(self) -> tuple[Picture, ...]:
        """In the order in which they stand in the conversation; one that was sent twice is there twice."""
        return tuple(part for message in self.messages for part in message.parts if isinstance(part, Picture))

    def is_learned(self, at: int) -> bool:
        """Whether message number `at` is to be trained on: a whole reply that a model gave in this run."""
        replies = {len(asked.messages): asked.reply for asked in self.asked}
        return at in replies and replies[at].finish in _WHOLE


def is_interpreter(message: Message) -> bool:
    """Whether a user's message is what a cell printed and drew."""
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
    """The messages with neighbours of one role made one, and which of the given ones each consists of."""
    kept: Message | None = None
    numbers: tuple[int, ...] = ()
    for number, message in enumerate(messages):
        if kept is not None and kept.role == message.role:
            kept = Message(kept.role, (*kept.parts, Text("\n\n"), *message.parts))
            numbers = (*numbers, number)
            continue
        if kept is not None:
            yield kept, numbers
        kept, numbers = message, (number,)
    if kept is not None:
        yield kept, numbers


def _continues(asked: ModelCall, before: ModelCall) -> bool:
    length = len(before.messages)
    return (
        asked.role == before.role
        and len(asked.messages) > length
        and asked.messages[:length] == before.messages
        and asked.messages[length].role == "assistant"
    )


def _as_said(asked: ModelCall) -> str:
    return canonical_reply(asked.reply.text) or asked.reply.text.strip() or "(empty)"
