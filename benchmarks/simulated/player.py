"""The simulated model: looks where its question is answered, and answers only what it was really shown."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from benchmarks.simulated.habits import (
    ENHANCED,
    Aim,
    Manner,
    write_answer,
    write_count,
    write_enhancement,
    write_look,
)
from benchmarks.simulated.questions import Task
from pyvision.images.pixels import pixels
from pyvision.models.streaming import truncate_at_stop
from pyvision.types import Message, Picture, Reply, Restart, Sampling, Text, Usage

_MARGIN = 0.6  # around the object, in its size: models aim at what they saw in a smaller copy
_LEAST_MARGIN_PX = 60
_SEEN_PX = 220  # pixels of the colour, so that shape or letters can be recognised
_MOSTLY = 0.15  # least share of two boxes that is common to them
_FIGURE_SIDE = 300  # least side of a chart that can be read
_TAG = re.compile(r"<(image_clue_\d+)>\s*\Z")
_SHOWN = re.compile(r"shown at (\d+) x (\d+)")
_ROW = re.compile(r"^[ \t]*(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]*$", re.MULTILINE)
_CHARS_PER_TOKEN, _PATCH_PX = 4, 28


@dataclass(frozen=True, slots=True)
class SimulatedModel:
    """Plays one task; the same conversation always gets the same reply."""

    task: Task
    seed: int = 0
    name: str = "simulated"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        reply = truncate_at_stop(Reply(self._reply(messages)), sampling.stop)
        spent = Usage(sum(map(_tokens, messages)), ceil(len(reply.text) / _CHARS_PER_TOKEN))
        return replace(reply, usage=spent)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        yield self.complete(messages, sampling)

    def is_useful(self, message: Message) -> bool:
        """Whether a turn brought what was asked for."""
        if not is_output(message):
            return False
        if self.task.kind == "count":
            return self._count(message.text) is not None
        return any(self._sees(picture) for _, picture in figures_of(message))

    def _reply(self, messages: Sequence[Message]) -> str:
        step = sum(message.role == "assistant" for message in messages)
        chance = random.Random(f"{self.seed}/{self.task.sample.id}/{step}")
        after_trouble = step > 0 and not self.is_useful(messages[-1])
        manner = Manner(chance, after_trouble, "zoom(" in messages[0].text)
        if (answer := self._answer(messages)) is None:
            return self._look(manner, messages)
        if step == 1 and self.task.kind == "needle" and manner.happens(ENHANCED):
            return write_enhancement(manner, figures_of(messages[-1])[-1][0])
        return write_answer(manner, answer)

    def _look(self, manner: Manner, messages: Sequence[Message]) -> str:
        if self.task.kind == "count":
            return write_count(manner, self.task.ink)
        first = next(message for message in messages if message.role == "user")
        name, picture = figures_of(first)[0]
        size = _original_size(first.text) or (picture.width, picture.height)
        found = _SHOWN.search(first.text)
        shown = (int(found[1]), int(found[2])) if found else (picture.width, picture.height)
        return write_look(manner, Aim(name, self._box(size), size, shown))

    def _box(self, size: tuple[int, int]) -> tuple[float, ...]:
        """The box around the object with a margin, within the image."""
        left, top, right, bottom = self.task.box
        x = max(_LEAST_MARGIN_PX, _MARGIN * (right - left), size[0] * 0.01)
        y = max(_LEAST_MARGIN_PX, _MARGIN * (bottom - top), size[1] * 0.01)
        return max(0, left - x), max(0, top - y), min(size[0], right + x), min(size[1], bottom + y)

    def _answer(self, messages: Sequence[Message]) -> str | None:
        """The answer, if anything that came back after a cell shows it."""
        turns = [message for message in messages[1:] if message.role == "user" and is_output(message)]
        if self.task.kind == "count":
            counts = [self._count(message.text) for message in turns]
            return next((str(count) for count in reversed(counts) if count is not None), None)
        seen = any(self._sees(picture) for turn in turns for _, picture in figures_of(turn))
        return str(self.task.sample.target) if seen else None

    def _sees(self, picture: Picture) -> bool:
        """Whether a figure shows the object large enough."""
        if self.task.kind == "chart":
            return min(picture.width, picture.height) >= _FIGURE_SIDE
        near = abs(pixels(picture).astype(int) - self.task.ink).max(axis=2) < 40
        return int(near.sum()) >= _SEEN_PX

    def _count(self, text: str) -> int | None:
        """How many of the printed boxes are those of the objects; None if none was printed."""
        rows = [tuple(map(int, row)) for row in _ROW.findall(text)]
        if not rows:
            return None
        return sum(any(_is_at(box, row) for row in rows) for box in self.task.boxes)


def is_output(message: Message) -> bool:
    """Whether a user turn is what a cell showed, not the question or a complaint."""
    return "<interpreter>" in message.text


def figures_of(message: Message) -> list[tuple[str, Picture]]:
    """The images of a message with their names."""
    found: list[tuple[str, Picture]] = []
    for before, part in zip(message.parts, message.parts[1:], strict=False):
        if isinstance(part, Picture) and isinstance(before, Text) and (tag := _TAG.search(before.text)):
            found.append((tag[1], part))
    return found


def _original_size(text: str) -> tuple[int, int] | None:
    found = re.search(
        r"image_clue_0: (\d+) x (\d+) pixels|width of image_clue_0: (\d+), height[^:]*: (\d+)", text
    )
    if not found:
        return None
    width, height = (int(each) for each in found.groups() if each)
    return width, height


def _is_at(box: Sequence[int], row: Sequence[int]) -> bool:
    """Whether a printed box is that of the object, or of a part of it: thin lines cross some objects."""
    left, top, right, bottom = (
        max(box[0], row[0]),
        max(box[1], row[1]),
        min(box[2], row[2]),
        min(box[3], row[3]),
    )
    common = max(0, right - left) * max(0, bottom - top)
    both = sum((each[2] - each[0]) * (each[3] - each[1]) for each in (box, row)) - common
    return common / both > _MOSTLY


def _tokens(message: Message) -> int:
    """An estimate: four characters of text, or 28 x 28 pixels of an image, for a token."""
    text = ceil(len(message.text) / _CHARS_PER_TOKEN)
    images = [part for part in message.parts if isinstance(part, Picture)]
    return text + sum(ceil(each.width / _PATCH_PX) * ceil(each.height / _PATCH_PX) for each in images)
