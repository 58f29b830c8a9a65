"""What a generator works with: its random numbers, its colours, and the scene that it returns."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyvision.bench.synthetic.canvas import RGB, Canvas

WHITE: RGB = (255, 255, 255)
BLACK: RGB = (0, 0, 0)
INKS: Mapping[str, RGB] = {
    "red": (216, 36, 40),
    "blue": (34, 78, 205),
    "green": (36, 148, 60),
    "orange": (252, 130, 16),
    "purple": (122, 56, 176),
    "brown": (118, 70, 38),
    "cyan": (18, 186, 208),
    "magenta": (228, 40, 196),
}
"""The colours of generated images: far apart from each other, and each with one everyday name."""

_ALIKE = (("red", "orange"), ("blue", "cyan", "purple", "magenta"), ("green",))


@dataclass(frozen=True, slots=True)
class Dice:
    """The randomness and the difficulty of one sample.

    goal: decides the answer; the same in every attempt, so that discarding ambiguous images favours no answer.
    chance: decides everything else, again in every attempt. difficulty: from 0 to 1.
    """

    goal: random.Random
    chance: random.Random
    difficulty: float

    def between(self, easy: float, hard: float) -> float:
        """The value at this difficulty, interpolated between the easy and the hard one."""
        return easy + (hard - easy) * self.difficulty

    def whole(self, easy: float, hard: float) -> int:
        """`between`, rounded to a whole number."""
        return int(self.between(easy, hard) + 0.5)


@dataclass(frozen=True, slots=True)
class Scene:
    """A question with its images. `truth` and `more` hold plain JSON values.

    metric: compares an answer with the target. kind: the sub-task. jpeg: save as JPEG instead of PNG.
    more: further metadata of the sample, such as the box of the object to be found.
    """

    question: str
    target: Any
    pictures: tuple[Canvas, ...]
    metric: str
    kind: str
    truth: Mapping[str, Any]
    choices: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    jpeg: bool = False


Maker: TypeAlias = Callable[[Dice], Scene | None]
"""Draws a scene; None when this attempt is ambiguous or does not fit, and the next one should be made."""


def two_unlike_inks(chance: random.Random) -> list[str]:
    """The names of two inks that differ even in thin lines, where they blend with the paper."""
    return [chance.choice(family) for family in chance.sample(_ALIKE, 2)]


def some_inks(chance: random.Random, count: int) -> list[str]:
    """The names of `count` different inks, at most as many as there are."""
    return chance.sample(list(INKS), count)
