"""What a generator makes: a scene with its question and truth, and the dice that it throws for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyvision.bench.synthetic.canvas import Canvas


@dataclass(frozen=True, slots=True)
class Dice:
    """The randomness and the difficulty of one sample.

    goal: what the answer shall be. It falls the same in every attempt, so that throwing an ambiguous picture away
    favours no answer. chance: everything else, new in every attempt. difficulty: from 0 to 1.
    """

    goal: random.Random
    chance: random.Random
    difficulty: float

    def between(self, easy: float, hard: float) -> float:
        """The value at this difficulty on the way from the easy one to the hard one."""
        return easy + (hard - easy) * self.difficulty

    def whole(self, easy: float, hard: float) -> int:
        """The same, rounded to a whole number."""
        return int(self.between(easy, hard) + 0.5)


@dataclass(frozen=True, slots=True)
class Scene:
    """A drawn question. `truth` and `more` hold plain JSON values.

    metric: what compares an answer with the target. kind: the sub-task. jpeg: save as JPEG, not as PNG.
    more: what else the sample's metadata say, such as the box of what must be found.
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
"""Draws a scene; None when this attempt is ambiguous or would not fit, so that the next one is made."""
