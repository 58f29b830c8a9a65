"""Read a talk back: what was asked of how many images, and what every cell so far has printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.types import Message, Picture

_QUESTION = re.compile(r"<question>\s*(.*)\s*</question>", re.DOTALL)
_TAG = re.compile(r"</?image_clue_\d+>")
_OUTPUT = re.compile(r"<interpreter>(.*)</interpreter>", re.DOTALL)
_LAST = re.compile(r"\blast (?:reply|turn|answer)\b[^.]*no (?:more )?code|\banswer now\b", re.IGNORECASE)
_LONGEST_BARE_QUESTION = 600  # without tags a longer text is a prompt of its own, not a question


@dataclass(frozen=True, slots=True)
class Talk:
    """What a rule-based reader needs of a talk; `outputs` holds one text for each cell that was asked for."""

    question: str
    images: int
    can_run: bool
    outputs: tuple[str, ...] = ()
    last_turn: bool = False


def read_talk(messages: Sequence[Message]) -> Talk:
    """Everything from the text of the messages; pictures are counted, their pixels are not touched."""
    opening = next((message for message in messages if message.role == "user"), Message("user", ()))
    instructions = "".join(message.text for message in messages if message.role != "assistant")
    outputs = tuple(
        _output_of(messages[index + 1]) if index + 1 < len(messages) else ""
        for index, message in enumerate(messages)
        if message.role == "assistant" and "<code>" in message.text
    )
    return Talk(
        question=_question_in(opening.text),
        images=sum(isinstance(part, Picture) for part in opening.parts),
        can_run="<code>" in instructions,
        outputs=outputs,
        last_turn=bool(messages) and _is_last(messages[-1]),
    )


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
