"""Which colour and which shape a few English words ask for, and which of their words mean neither."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyvision.offline.perception.rules import Region
from pyvision.offline.wording import COLOURS, shape_of

_ANYTHING = {"object", "thing", "shape", "item", "figure", "form", "blob", "region", "area", "element"}
_EMPTY = {
    "a", "an", "the", "this", "that", "these", "those", "of", "in", "on", "and", "is", "are", "it", "there", "any",
    "every", "each", "all", "one", "some", "with", "image", "picture", "photo", "photograph", "drawing", "filled",
    "coloured", "colored", "colour", "color", "drawn", "geometric", "single", "separate", "has", "have",
}  # fmt: skip
_OWN_SHAPES = {"line": "line", "stroke": "line", "segment": "line", "other": "other"}
_SAME = {"ellipse": ("ellipse", "circle"), "rectangle": ("rectangle", "square"), "circle": ("circle",)}
_ALIKE = {"magenta": ("magenta", "pink", "purple"), "cyan": ("cyan",), "pink": ("pink", "magenta")}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for; None is any. unknown: words that name no colour and no shape."""

    colour: str | None = None
    shape: str | None = None
    is_ring: bool = False
    says_anything: bool = False
    unknown: tuple[str, ...] = ()

    @property
    def is_understood(self) -> bool:
        return not self.unknown and bool(self.colour or self.shape or self.says_anything)

    def among(self, regions: Iterable[Region]) -> tuple[Region, ...]:
        """Those of the things that are meant; where no colour is exact, those of one that people mix up with it."""
        formed = [region for region in regions if self._has_form(region)]
        if self.colour is None:
            return tuple(formed)
        exact = tuple(region for region in formed if region.colour == self.colour)
        alike = _ALIKE.get(self.colour, (self.colour,))
        return exact or tuple(region for region in formed if region.colour in alike)

    def _has_form(self, region: Region) -> bool:
        if self.is_ring and not region.is_ring:
            return False
        return self.shape is None or region.shape in _SAME.get(self.shape, (self.shape,))


def parse_wanted(text: str) -> Wanted:
    """The colour, the shape and the unknown words of a text, `red circles` say."""
    colour = shape = None
    is_ring = says_anything = False
    unknown: list[str] = []
    for word in re.findall(r"[^\W_]+", text.lower()):
        single = word.removesuffix("s")
        named = shape_of(word) or _OWN_SHAPES.get(word) or _OWN_SHAPES.get(single)
        if word in COLOURS:
            colour = COLOURS[word]
        elif named is not None:
            shape, is_ring = named, single == "ring"
        elif single in _ANYTHING:
            says_anything = True
        elif word not in _EMPTY:
            unknown.append(word)
    return Wanted(colour, shape, is_ring, says_anything, tuple(unknown))
