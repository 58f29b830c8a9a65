"""Ask a role for something and read it; ask again, with what was missing, if the reply cannot be used.

One rule for all roles: a reply that cannot be read is asked for once more, unless the model refused or the budget
allows only one more reply. Nothing is ever put in its place here: the caller sees `Missing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyvision.agent.episode import Episode
from pyvision.text.answers import Missing, answer_without_form, read_answer
from pyvision.text.prompts import render
from pyvision.text.replies import reply_message
from pyvision.types import Answer, Message, Reply, Text

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class RoleTurn:
    """A request to a role and its reply, which another request may follow."""

    role: str
    messages: tuple[Message, ...]
    reply: Reply


def send(episode: Episode, role: str, messages: Sequence[Message]) -> RoleTurn:
    """One reply. Raises LimitReached and ModelError, as Episode.ask does."""
    return RoleTurn(role, tuple(messages), episode.ask(role, messages))


def follow(episode: Episode, turn: RoleTurn, text: str) -> RoleTurn:
    """The reply of the same role to a text after its last reply, in the same conversation."""
    asked = Message("user", (Text(text),))
    return send(episode, turn.role, (*turn.messages, reply_message(turn.reply), asked))


def read_or_ask_again(
    episode: Episode, turn: RoleTurn, read: Callable[[Reply], Found | Missing], repair: Callable[[str], str]
) -> tuple[Found | Missing, RoleTurn]:
    """What `read` finds in the reply of a turn, or in a second one; and the turn in which it was found.

    repair: the text of the second request, from what was missing. Every reply that lacks something is noted as
    `malformed`.
    """
    found = read(turn.reply)
    if not isinstance(found, Missing):
        return found, turn
    episode.note("malformed", role=turn.role, why=found.why)
    if turn.reply.finish == "refusal" or episode.last_call():
        return found, turn
    turn = follow(episode, turn, repair(found.why))
    found = read(turn.reply)
    if isinstance(found, Missing):
        episode.note("malformed", role=turn.role, why=found.why)
    return found, turn


def settle(episode: Episode, turn: RoleTurn) -> tuple[Answer, RoleTurn]:
    """The answer of a reply that was asked for one; as a last resort, the whole of a second reply."""
    found, turn = read_or_ask_again(
        episode, turn, read_answer, lambda why: render("episode/no_answer.md", why=why)
    )
    return (answer_without_form(turn.reply) if isinstance(found, Missing) else found), turn
