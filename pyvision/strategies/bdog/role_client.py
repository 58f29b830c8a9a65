"""Ask the roles of a debate: every request is a conversation of its own, the images first, the prompt after them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyvision.agent.episode import Episode
from pyvision.strategies.bdog.choices import ChoiceQuestion
from pyvision.text.prompts import render
from pyvision.types import Message, Picture, Reply, Text


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply, which a further request may follow."""

    role: str
    messages: tuple[Message, ...]
    reply: Reply


@dataclass(frozen=True, slots=True)
class RoleClient:
    """The question as the roles are asked it. personalities: role -> the name of its personality, or `none`."""

    question: ChoiceQuestion
    images: tuple[Picture, ...]
    episode: Episode
    personalities: Mapping[str, str]

    def ask(self, role: str, prompt: str, **variables: object) -> Exchange:
        """Put a prompt of prompts/bdog to a role. Raises LimitReached and ModelError, as Episode.ask does."""
        turn = Message("user", (*self.images, Text(render(f"bdog/{prompt}.md", **variables))))
        return self._put(role, (*self._personality(role), turn))

    def follow(self, exchange: Exchange, prompt: str, **variables: object) -> Exchange:
        """Ask the same role once more, with what was said so far."""
        said = Message("assistant", (Text(exchange.reply.text.strip() or "(empty)"),))
        turn = Message("user", (Text(render(f"bdog/{prompt}.md", **variables)),))
        return self._put(exchange.role, (*exchange.messages, said, turn))

    def _put(self, role: str, messages: tuple[Message, ...]) -> Exchange:
        return Exchange(role, messages, self.episode.ask(role, messages))

    def _personality(self, role: str) -> tuple[Message, ...]:
        name = self.personalities.get(role, "none")
        return (
            () if name == "none" else (Message("system", (Text(render(f"bdog/personalities/{name}.md")),)),)
        )
