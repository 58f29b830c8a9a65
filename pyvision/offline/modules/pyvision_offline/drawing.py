"""A picture to be measured, and the line by which a cell reports what it measured."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .masks import Array
from .palette import background_of, is_simple, mask_of_ink

NOT_SIMPLE = "this is not a simple drawing, and rules cannot tell objects in a photograph apart"


class Drawable(Protocol):
    """Something found in a drawing, which can be drawn over it; lengths are in pixels of the picture."""

    def draw(self, axes: Any, number: int) -> None: ...


class Drawing:
    """A picture as an RGB array of at most `side` pixels a side; `scale` is pixels of the picture per array pixel."""

    def __init__(self, picture: Any, side: int = 1600) -> None:
        self.scale = max(1.0, max(picture.size) / side)
        if self.scale > 1:
            width, height = (max(1, round(length / self.scale)) for length in picture.size)
            picture = picture.resize((width, height), 4)  # 4: box filter
        self.array: Array = np.asarray(picture.convert("RGB"))

    @cached_property
    def background(self) -> Array:
        """Its RGB colour."""
        return background_of(self.array)

    @cached_property
    def is_simple(self) -> bool:
        """Whether a few colours cover nearly everything."""
        return is_simple(self.array)

    def mask_of_ink(self, min_difference: int = 36) -> Array:
        """Where it differs from its background by more than this many levels."""
        return mask_of_ink(self.array, self.background, min_difference)

    def show(self, found: Iterable[Drawable] = (), title: str = "") -> None:
        """Display it with what was found, numbered from 1."""
        from matplotlib import pyplot as plt

        _, axes = plt.subplots(figsize=(5, 5))
        height, width = self.array.shape[:2]
        left, right, bottom = -self.scale / 2, (width - 0.5) * self.scale, (height - 0.5) * self.scale
        axes.imshow(self.array, extent=(left, right, bottom, left))
        for number, each in enumerate(found, 1):
            each.draw(axes, number)
        axes.set_title(title, fontsize=9)
        axes.axis("off")
        plt.show()


def report(doubts: str = "", **found: Any) -> None:
    """Print what was found as one line of JSON, which the offline model reads; it trusts a result without doubts."""
    values = {**found, "confident": not doubts, "why": doubts}
    print("RESULT " + json.dumps(values, default=lambda value: value.item()))  # noqa: T201 - this is its purpose
