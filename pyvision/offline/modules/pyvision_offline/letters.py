"""Read capital letters in a drawing, inside of the kernel: compare its components with rendered letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .masks import Array, boxes, label

_FONTS = (  # that come with matplotlib
    "DejaVuSans-Bold",
    "DejaVuSans",
    "DejaVuSerif-Bold",
    "DejaVuSerif",
    "DejaVuSansMono-Bold",
    "STIXGeneralBol",
)
_Glyph: TypeAlias = tuple[Array, float]  # a softened mask of one size; its width over its height
_MAX_CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class Letter:
    """A component that looks like a letter. box: left, top, right, bottom, both ends inside. mask: its index."""

    name: str
    score: float
    box: tuple[int, int, int, int]
    mask: int


def match_letters(masks: Sequence[Array], min_score: float = 0.82) -> list[Letter]:
    """The components of the masks that look like capital letters, in coordinates of the array."""
    found = []
    for index, mask in enumerate(masks):
        labels, n = label(mask)
        box = boxes(labels, n)
        height, width = box[:, 3] - box[:, 1] + 1, box[:, 2] - box[:, 0] + 1
        likely = (height >= 7) & (height < 0.2 * len(mask)) & (width < 0.2 * mask.shape[1]) & (width > 2)
        for number in np.nonzero(likely)[0][:_MAX_CANDIDATES]:
            left, top, right, bottom = (int(edge) for edge in box[number][:4])
            name, score = _read_letter(labels[top : bottom + 1, left : right + 1] == number + 1)
            if score >= min_score:
                found.append(Letter(name, score, (left, top, right, bottom), index))
    return found


def _read_letter(mask: Array) -> tuple[str, float]:
    """The letter that a mask looks most like, and how much (1 is the same)."""
    best, score = "?", 0.0
    soft, proportion = _soften(mask)
    for letter, other, usual in _render_alphabet():
        if not 0.7 < proportion / usual < 1.43:
            continue
        similarity = (soft * other).sum() / np.sqrt((soft**2).sum() * (other**2).sum() + 1e-9)
        if similarity > score:
            best, score = letter, float(similarity)
    return best, score


@cache
def _render_alphabet() -> tuple[tuple[str, Array, float], ...]:
    import matplotlib

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    rendered = []
    for name in _FONTS:
        path = folder / f"{name}.ttf"
        if not path.exists():
            continue
        font = ImageFont.truetype(str(path), 72)
        for letter in ascii_uppercase:
            page = Image.new("L", (160, 160))
            ImageDraw.Draw(page).text((30, 30), letter, font=font, fill=255)
            rendered.append((letter, *_soften(np.asarray(page) > 127)))
    return tuple(rendered)


def _soften(mask: Array) -> _Glyph:
    """The mask cropped to its ink, at one common size, softened; its proportion."""
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    cut = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    small = Image.fromarray((cut * 255).astype(np.uint8)).resize((20, 24), 4)
    soft = np.pad(np.asarray(small, float), 1)
    soft = (soft[:-2] + 2 * soft[1:-1] + soft[2:])[:, 1:-1] / 4
    return soft - soft.mean(), cut.shape[1] / cut.shape[0]
