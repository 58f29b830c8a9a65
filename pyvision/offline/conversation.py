"""Parse a conversation: what was asked about how many images, and what each cell so far has reported.

Cells run untrusted code: what they printed is checked, and stripped of what could be taken for markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyvision.types import Message, Picture, Text

_QUESTION = re.compile(r"<question>\s*(.*)\s*</question>", re.DOTALL)
_TAG = re.compile(r"</?image_clue_\d+>")
_NUMBER = re.compile(r"<image_clue_(\d+)>\s*\Z")
_OUTPUT = re.compile(r"<interpreter>(.*)</interpreter>", re.DOTALL)
_LAST = re.compile(r"\blast (?:reply|turn|answer)\b[^.]*no (?:more )?code|\banswer now\b", re.IGNORECASE)
_RESULT = re.compile(r"^\s*RESULT (\{.*\})\s*$", re.MULTILINE)
_UNSAFE = re.compile(r"[\\{}<>$`\x00-\x1f\x7f]")
_MAX_TEXT_CHARS = 300
_MAX_QUESTION_CHARS = 600  # without tags a longer text is a prompt, not a question


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """The last question of a conversation, and what has followed it.

    numbers: the k of each `image_clue_k` that the question is about. outputs: one text for each cell.
    """

    question: str
    numbers: tuple[int, ...]
    can_run: bool
    outputs: tuple[str, ...] = ()
    last_turn: bool = False

    @property
    def images(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class Finding:
    """The findings of one cell; each accessor gives None if the value is missing or of another type."""

    values: Mapping[str, Any]

    @property
    def confident(self) -> bool:
        return self.values.get("confident") is True

    @property
    def why(self) -> str:
        """Why the cell is not confident; empty if it does not say."""
        return self.text("why") or ""

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if _is_whole(value) else None

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        return value if isinstance(value, bool) else None

    def text(self, key: str) -> str | None:
        """One line without braces, tags and the like, so that it can stand in an answer."""
        value = self.values.get(key)
        return _UNSAFE.sub(" ", value)[:_MAX_TEXT_CHARS].strip() if isinstance(value, str) else None

    def texts(self, key: str) -> tuple[str, ...] | None:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return None
        return tuple(_UNSAFE.sub(" ", item)[:40].strip() for item in value[:20])

    def boxes(self, key: str) -> tuple[tuple[int, ...], ...] | None:
        """Rows of four whole numbers: left, top, right, bottom in pixels."""
        rows = self.values.get(key)
        if not isinstance(rows, list):
            return None
        whole = all(isinstance(row, list) and len(row) == 4 and all(map(_is_whole, row)) for row in rows)
        return tuple(tuple(row) for row in rows[:20]) if whole else None


def parse_conversation(messages: Sequence[Message]) -> ParsedConversation:
    """Parse the text of the messages. Images are counted, their pixels are not used."""
    questions = _find_questions(messages)
    opening = messages[questions[-1]] if questions else Message("user", ())
    since = messages[questions[-1] :] if questions else messages
    instructions = "".join(message.text for message in messages if message.role != "assistant")
    outputs = tuple(
        _parse_output(since[index + 1]) if index + 1 < len(since) else ""
        for index, message in enumerate(since)
        if message.role == "assistant" and "<code>" in message.text
    )
    return ParsedConversation(
        question=_parse_question(opening.text),
        numbers=next((found for at in reversed(questions) if (found := _parse_numbers(messages[at]))), ()),
        can_run="<code>" in instructions,
        outputs=outputs,
        last_turn=bool(messages) and _is_last_turn(messages[-1]),
    )


def parse_finding(output: str) -> Finding | None:
    """The last RESULT line of an output, or None if there is none or it is invalid."""
    lines = _RESULT.findall(output)
    try:
        values = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return None
    return Finding(values) if isinstance(values, dict) else None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _find_questions(messages: Sequence[Message]) -> list[int]:
    """The indexes of the user messages with a question between tags; if there is none, of the first user message."""
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    return [at for at in users if _QUESTION.search(_OUTPUT.sub("", messages[at].text))] or users[:1]


def _parse_numbers(message: Message) -> tuple[int, ...]:
    """The k of each image, from the tag before it; images without a tag are numbered in order."""
    numbers: list[int] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, Picture):
            before = message.parts[at - 1] if at else None
            tag = _NUMBER.search(before.text) if isinstance(before, Text) else None
            numbers.append(int(tag[1]) if tag else len(numbers))
    return tuple(numbers)


def _parse_question(text: str) -> str:
    tagged = _QUESTION.search(text)
    if tagged:
        return tagged[1].strip()
    bare = _TAG.sub("", text).strip()
    return bare if len(bare) <= _MAX_QUESTION_CHARS else ""


def _parse_output(message: Message) -> str:
    found = _OUTPUT.search(message.text)
    return found[1] if found else message.text


def _is_last_turn(message: Message) -> bool:
    return message.role == "user" and bool(_LAST.search(_OUTPUT.sub("", message.text)))
