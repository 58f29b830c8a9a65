"""The colours of a picture: names for them, the background, the ink on it, the palette."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import numpy as np

from .masks import Array

SIMILAR_COLOURS = {  # colours that people call by each other's names
    "pink": ("pink", "magenta"),
    "magenta": ("magenta", "pink", "purple"),
    "purple": ("purple", "magenta"),
    "yellow": ("yellow", "olive"),
    "green": ("green", "olive"),
    "orange": ("orange", "brown"),
}


def name_of(colour: Array) -> str:
    """The everyday English name of an RGB colour."""
    red, green, blue = (float(part) / 255 for part in colour)
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    hue *= 360
    if value < 0.2 or (saturation < 0.25 and value < 0.25):
        return "black"
    if saturation < 0.12 or (saturation < 0.2 and value < 0.5):
        return "white" if value > 0.9 else "grey"
    if 8 <= hue < 45 and (value < 0.68 or (saturation < 0.5 and value < 0.8)) and saturation > 0.3:
        return "brown"
    if hue >= 345 or hue < 14:
        return "pink" if saturation < 0.5 and value > 0.75 else "red"
    if hue < 42:
        return "orange" if saturation > 0.4 else "beige"
    if hue < 70:
        return "yellow" if value > 0.6 else "olive"
    for limit, name in ((164, "green"), (196, "cyan"), (254, "blue"), (290, "purple")):
        if hue < limit:
            return name
    return "pink" if saturation < 0.6 or hue > 322 else "magenta"


def match_name(name: str, names: Sequence[str]) -> list[int]:
    """Which of the names mean this colour: those that are equal to it, else those of a similar colour."""
    exact = [index for index, other in enumerate(names) if other == name]
    return exact or [
        index for index, other in enumerate(names) if other in SIMILAR_COLOURS.get(name, (name,))
    ]


def is_simple(array: Array) -> bool:
    """Whether a few colours cover nearly everything, unlike in a photograph."""
    counts = np.sort(np.bincount(encode(array.reshape(-1, 3), 4)))[::-1]
    return bool(counts[:10].sum() > 0.8 * counts.sum())


def background_of(array: Array) -> Array:
    """The most frequent colour of the border if that fills half of it, else of the whole picture."""
    border = np.concatenate([array[0], array[-1], array[:, 0], array[:, -1]])
    colour, share = most_frequent(border)
    return colour if share > 0.5 else most_frequent(array.reshape(-1, 3))[0]


def most_frequent(colours: Array) -> tuple[Array, float]:
    """The mean of the fullest cell of a coarse colour histogram, and the share of colours near that mean."""
    codes = encode(colours, 4)
    top = np.bincount(codes, minlength=4096).argmax()
    mean = colours[codes == top].mean(axis=0)
    return mean, (np.abs(colours - mean).max(axis=1) < 24).mean()


def mask_of_ink(array: Array, background: Array, min_difference: int = 36) -> Array:
    """Where the picture differs from its background by more than this many levels in some channel."""
    return np.abs(array - background).max(axis=2) > min_difference


def masks_of_inks(array: Array, background: Array, palette: Array) -> list[Array]:
    """One mask for each colour of the palette: pixels that are at least half that colour, half background."""
    off = array.astype(np.float32) - background.astype(np.float32)
    best, least = np.full(array.shape[:2], -1), np.full(array.shape[:2], 70.0, np.float32)
    for index, colour in enumerate(palette):
        away = (colour - background).astype(np.float32)
        mix = (off @ away / (away @ away)).clip(0, 1)
        rest = np.linalg.norm(off - mix[..., None] * away, axis=2)
        closer = (rest < least) & (mix >= 0.45)
        best[closer], least[closer] = index, rest[closer]
    return [best == index for index in range(len(palette))]


def palette_of(
    array: Array, min_share: float = 0.0004, min_distance: int = 44, max_colours: int = 12
) -> tuple[Array, Array]:
    """The colours that fill areas, the most frequent first: rows of RGB, and the share of the pixels of each.

    Only pixels that resemble their neighbours count, so that blends along edges are not taken for colours.
    """
    colours = array[_find_flat(array)]
    codes = encode(colours, 3)
    counts = np.bincount(codes, minlength=32768)
    found: list[Array] = []
    shares: list[int] = []
    for code in np.argsort(-counts, kind="stable")[:256]:
        if counts[code] < max(6, min_share * len(codes)) / 2:
            break
        colour = np.array([code >> 10, code >> 5 & 31, code & 31]) * 8 + 4
        if found:
            distance = np.abs(np.array(found) - colour).max(axis=1)
            if distance.min() < min_distance:
                shares[distance.argmin()] += counts[code]
                continue
        found.append(colours[codes == code].mean(axis=0))
        shares.append(counts[code])
    frequent = [i for i in np.argsort(-np.array(shares)) if shares[i] >= max(6, min_share * len(codes))]
    selected = frequent[:max_colours]
    return np.array(found).reshape(-1, 3)[selected], np.array(shares)[selected] / max(1, len(codes))


def nearest_in_palette(array: Array, palette: Array) -> Array:
    """For each pixel the index of the nearest colour of the palette."""
    best = np.zeros(array.shape[:2], np.int16)
    least = np.full(array.shape[:2], np.inf, np.float32)
    for index, colour in enumerate(palette):
        distance = ((array.astype(np.float32) - colour.astype(np.float32)) ** 2).sum(axis=2)
        closer = distance < least
        best[closer], least[closer] = index, distance[closer]
    return best


def _find_flat(array: Array) -> Array:
    """Where a pixel is like the ones to its left and above it; nearly everywhere in a drawing."""
    wide = array.astype(np.int16)
    flat = np.ones(array.shape[:2], bool)
    flat[:, 1:] &= np.abs(wide[:, 1:] - wide[:, :-1]).max(axis=2) < 14
    flat[1:] &= np.abs(wide[1:] - wide[:-1]).max(axis=2) < 14
    return flat


def encode(colours: Array, shift: int) -> Array:
    """One number for each colour: its three channels without their `shift` lowest bits."""
    levels = 256 >> shift
    return (colours.astype(np.int32) >> shift) @ np.array([levels * levels, levels, 1])
