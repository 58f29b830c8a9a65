"""Ask the roles of AVIS: every request is a conversation of its own, once more where a reply cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pyvision.agent.episode import Episode
from pyvision.text.prompts import render
from pyvision.text.sanitize import sanitize
from pyvision.types import Message, Picture, Reply, Text

Found = TypeVar("Found")
_OURS = re.compile(
    r"<[\s/]*(?:query|context|actions|objects|known|observation|sources|seen)\b[^<>]{0,100}>", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt of prompts/avis for a role. repair: the prompt that follows a reply that cannot be read."""

    role: str
    prompt: str
    variables: Mapping[str, object]
    repair: str
    repair_variables: Mapping[str, object]
    pictures: tuple[Picture, ...] = ()


def sanitize_quote(text: str, limit: int = 6000) -> str:
    """What a tool gave, fit to stand between our tags: none of them can be forged in it."""
    return _OURS.sub(lambda tag: tag[0].replace("<", "‹").replace(">", "›"), sanitize(text, limit))


def send(episode: Episode, request: Request) -> tuple[Reply, tuple[Message, ...]]:
    """One reply, and the conversation that it belongs to."""
    prompt = render(f"avis/{request.prompt}.md", **request.variables)
    messages = (Message("user", (*request.pictures, Text(prompt))),)
    return episode.ask(request.role, messages), messages


def parse_or_retry(
    episode: Episode, request: Request, read: Callable[[str], Found | str]
) -> tuple[Found | None, bool]:
    """What `read` makes of the reply, and whether the role had to be asked again; None where that failed too.

    read: gives a text, why a reply cannot be used, in place of what was looked for. A refusal, and a budget that holds
    one reply only, leave no second try.
    """
    reply, messages = send(episode, request)
    found = read(reply.text)
    if not isinstance(found, str):
        return found, False
    episode.note("malformed", role=request.role, why=found)
    if reply.finish == "refusal" or episode.last_call():
        return None, False
    told = render(f"avis/{request.repair}.md", why=found, **request.repair_variables)
    said = Message("assistant", (Text(reply.text.strip() or "(empty)"),))
    again = read(episode.ask(request.role, (*messages, said, Message("user", (Text(told),)))).text)
    if isinstance(again, str):
        episode.note("malformed", role=request.role, why=again)
        return None, True
    return again, True
