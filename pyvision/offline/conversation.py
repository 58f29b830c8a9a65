"""Read a conversation back: what was asked of how many images, and what every cell so far has printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.types import Message, Picture, Text

_QUESTION = re.compile(r"<question>\s*(.*)\s*</question>", re.DOTALL)
_TAG = re.compile(r"</?image_clue_\d+>")
_NUMBER = re.compile(r"<image_clue_(\d+)>\s*\Z")
_OUTPUT = re.compile(r"<interpreter>(.*)</interpreter>", re.DOTALL)
_LAST = re.compile(r"\blast (?:reply|turn|answer)\b[^.]*no (?:more )?code|\banswer now\b", re.IGNORECASE)
_LONGEST_BARE_QUESTION = 600  # without tags a longer text is a prompt of its own, not a question


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """What a rule-based reader needs of a conversation: its last question, and what has followed it.

    numbers: the k of each `image_clue_k` that the question is about. outputs: one text for each cell that was asked
    for.
    """

    question: str
    numbers: tuple[int, ...]
    can_run: bool
    outputs: tuple[str, ...] = ()
    last_turn: bool = False

    @property
    def images(self) -> int:
        return len(self.numbers)


def parse_conversation(messages: Sequence[Message]) -> ParsedConversation:
    """Everything from the text of the messages; pictures are counted, their pixels are not touched."""
    asked = _questions(messages)
    opening = messages[asked[-1]] if asked else Message("user", ())
    since = messages[asked[-1] :] if asked else messages
    instructions = "".join(message.text for message in messages if message.role != "assistant")
    outputs = tuple(
        _output_of(since[index + 1]) if index + 1 < len(since) else ""
        for index, message in enumerate(since)
        if message.role == "assistant" and "<code>" in message.text
    )
    return ParsedConversation(
        question=_question_in(opening.text),
        numbers=next((found for at in reversed(asked) if (found := _numbers(messages[at]))), ()),
        can_run="<code>" in instructions,
        outputs=outputs,
        last_turn=bool(messages) and _is_last(messages[-1]),
    )


def _questions(messages: Sequence[Message]) -> list[int]:
    """Where questions stand: in every user turn that has one between tags, else in the first."""
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    return [at for at in users if _QUESTION.search(_OUTPUT.sub("", messages[at].text))] or users[:1]


def _numbers(message: Message) -> tuple[int, ...]:
    """By the tag before each picture; those without one are counted."""
    numbers: list[int] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, Picture):
            before = message.parts[at - 1] if at else None
            tag = _NUMBER.search(before.text) if isinstance(before, Text) else None
            numbers.append(int(tag[1]) if tag else len(numbers))
    return tuple(numbers)


def _question_in(text: str) -> str:
    tagged = _QUESTION.search(text)
    if tagged:
        return tagged[1].strip()
    bare = _TAG.sub("", text).strip()
    return bare if len(bare) <= _LONGEST_BARE_QUESTION else ""


def _output_of(message: Message) -> str:
    found = _OUTPUT.search(message.text)
    return found[1] if found else message.text


def _is_last(message: Message) -> bool:
    return message.role == "user" and bool(_LAST.search(_OUTPUT.sub("", message.text)))
