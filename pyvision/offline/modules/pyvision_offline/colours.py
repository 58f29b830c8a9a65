"""Answer questions about colours. Each function returns colour names, and its doubts."""

from __future__ import annotations

import numpy as np

from .drawing import Drawing
from .masks import Array
from .objects import drop_specks, separate_objects
from .palette import SIMILAR_COLOURS, encode, name_of, palette_of

_VISIBLE = 0.004  # share of the pixels


def find_dominant_colour(drawing: Drawing) -> tuple[list[str], str]:
    """The name that most pixels have."""
    shares = _shares_of_names(drawing.array)
    first, *others = shares
    if others and shares[first] - shares[others[0]] < 0.02:
        return [first], f"{first} and {others[0]} cover almost the same area"
    return [first], ""


def find_background_colour(drawing: Drawing) -> tuple[list[str], str]:
    """The name of the colour of the background."""
    array = drawing.array
    border = np.concatenate([array[0], array[-1], array[:, 0], array[:, -1]])
    share = (np.abs(border - drawing.background).max(axis=1) < 40).mean()
    return [name_of(drawing.background)], "" if share > 0.5 else "no colour fills the border"


def find_colours(drawing: Drawing) -> tuple[list[str], str]:
    """The names of the colours that fill areas, the most frequent first."""
    palette, shares = palette_of(drawing.array)
    is_blended = drawing.array[::7, ::7].size and shares.sum() < 0.6
    doubts = "the colours run into one another, as in a photograph" if is_blended else ""
    return list(dict.fromkeys(name_of(colour) for colour in palette)), doubts


def find_colour(drawing: Drawing, name: str) -> tuple[list[str], str]:
    """[name] if there is something of this colour, else an empty list."""
    if name in find_colours(drawing)[0]:
        return [name], ""
    shares = _shares_of_names(drawing.array)
    if shares.get(name, 0) > _VISIBLE:
        return [name], ""
    if any(shares.get(other, 0) > _VISIBLE for other in SIMILAR_COLOURS.get(name, ())):
        return [], f"there is something close to {name}, and people disagree on what to call it"
    return [], ""


def find_colour_at(drawing: Drawing, x: int, y: int) -> tuple[list[str], str]:
    """The name of the colour of this pixel of the picture."""
    return _find_colour_around(drawing, x / drawing.scale, y / drawing.scale, 0)


def find_colour_near(drawing: Drawing, x: float, y: float) -> tuple[list[str], str]:
    """The name of the colour around a place, given as a share of the width and a share of the height."""
    height, width = drawing.array.shape[:2]
    return _find_colour_around(drawing, x * (width - 1), y * (height - 1), max(1, min(width, height) // 100))


def _find_colour_around(drawing: Drawing, x: float, y: float, reach: int) -> tuple[list[str], str]:
    column, row = round(x), round(y)
    rows = slice(max(0, row - reach), row + reach + 1)
    pixels = drawing.array[rows, max(0, column - reach) : column + reach + 1].reshape(-1, 3)
    if not pixels.size:
        return [], "that place is outside the picture"
    return [name_of(np.median(pixels, axis=0))], ""


def find_colours_of_objects(drawing: Drawing, shape: str) -> tuple[list[str], str]:
    """The colour names of the objects of a shape (`any` for all of them), each once."""
    objects = drop_specks(separate_objects(drawing.array))
    names = sorted({each.colour_name for each in objects if shape in ("any", each.shape)})
    return names, "" if names and len(objects) <= 100 else f"no {shape} with a clear outline was found"


def _shares_of_names(array: Array) -> dict[str, float]:
    """The share of the pixels that each colour name has, the largest first."""
    codes, counts = np.unique(encode(array.reshape(-1, 3), 3), return_counts=True)
    shares: dict[str, float] = {}
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        name = name_of(np.array([code >> 10, code >> 5 & 31, code & 31]) * 255 / 31)
        shares[name] = shares.get(name, 0) + count / counts.sum()
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
