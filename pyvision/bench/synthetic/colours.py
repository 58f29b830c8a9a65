"""The inks of generated pictures: far apart from each other, and each with one everyday name."""

from __future__ import annotations

import random
from collections.abc import Mapping

from pyvision.bench.synthetic.canvas import RGB

WHITE: RGB = (255, 255, 255)
BLACK: RGB = (0, 0, 0)
GREY: RGB = (150, 150, 150)
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


_ALIKE = (("red", "orange"), ("blue", "cyan", "purple", "magenta"), ("green",))


def two_unlike_inks(chance: random.Random) -> list[str]:
    """The names of two inks that stay apart even in thin lines, where they blend with the paper."""
    return [chance.choice(family) for family in chance.sample(_ALIKE, 2)]


def some_inks(chance: random.Random, count: int) -> list[str]:
    """The names of so many different inks, at most as many as there are."""
    return chance.sample(list(INKS), count)
