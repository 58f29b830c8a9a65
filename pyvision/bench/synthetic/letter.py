"""Questions about a word in which one letter is circled: which one?

Difficulty: from words of four letters (0) to fourteen (1), set smaller and closer together. From 0.5 on, half of the
words are random letters, which cannot be guessed from their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyvision.bench.synthetic.canvas import Box, Canvas, text_width
from pyvision.bench.synthetic.geometry import near
from pyvision.bench.synthetic.scene import BLACK, INKS, Dice, Scene

if TYPE_CHECKING:
    from pyvision.bench.synthetic.geometry import Mask

_WORDS = (
    "door", "kite", "lamp", "bread", "chair", "stone", "bridge", "garden", "planet", "blanket", "compass", "harvest",
    "backpack", "midnight", "umbrella", "adventure", "crocodile", "telephone", "basketball", "friendship",
    "toothbrush", "electricity", "grasshopper", "temperature", "championship", "neighbourhood", "thunderstorm",
    "photographers", "understanding", "constellation", "comprehensive", "encyclopaedias", "transportation",
    "characteristic", "congratulation",
)  # fmt: skip
_LETTERS = "abcdefghkmnopqrstuvwxyz"  # without i, j and l, which look alike in small print
_OVAL = INKS["red"]


def make_letter(dice: Dice) -> Scene | None:
    """One word; None when the oval covers too much of a neighbour, or too little of its letter."""
    size, word = round(dice.between(60, 30)), _word(dice)
    place = dice.chance.choice([k for k, letter in enumerate(word) if letter in _LETTERS])
    gap = size * dice.between(0.5, 0.22)
    width = round(sum(text_width(letter, size) + gap for letter in word) + 4 * size)
    page = Canvas(width, 4 * size)
    boxes = _draw_word(page, word, size, gap)
    left, top, right, bottom = oval = _oval(boxes[place], gap)
    page.ellipse(oval, line=_OVAL, width=dice.between(4, 2.5))
    if not _is_clear(near(page.pixels(), BLACK, 150), boxes, place, oval):
        return None
    truth = {"word": word, "place": place, "oval": [round(side, 1) for side in (left, top, right, bottom)]}
    question = "Which letter of the word is circled? Answer with the letter alone."
    kind = "word" if word in _WORDS else "letters"
    return Scene(question, word[place], (page,), "blind", kind, truth)


def _word(dice: Dice) -> str:
    length = dice.whole(4, 14)
    if dice.difficulty >= 0.5 and dice.chance.random() < 0.5:
        return "".join(dice.chance.choices(_LETTERS, k=length))
    near_by = sorted(_WORDS, key=lambda word: (abs(len(word) - length), word))
    return dice.chance.choice(near_by[:8])


def _draw_word(page: Canvas, word: str, size: int, gap: float) -> list[Box]:
    """Draw the word letter by letter; the boxes of their ink."""
    x, boxes = 2.0 * size, []
    for letter in word:
        boxes.append(page.text((x, 2.3 * size), letter, size, anchor="ls"))
        x += text_width(letter, size) + gap
    return boxes


def _oval(box: Box, gap: float) -> tuple[float, float, float, float]:
    """The ellipse through the corners of the letter's box, a little larger; never narrower than half its height."""
    middle_x, middle_y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    high = (box[3] - box[1]) / 2 * 1.4 + 5
    wide = max((box[2] - box[0]) / 2 * 1.3 + 0.3 * gap, high * 0.55)
    return middle_x - wide, middle_y - high, middle_x + wide, middle_y + high


def _is_clear(ink: Mask, boxes: Sequence[Box], place: int, oval: tuple[float, ...]) -> bool:
    """Whether, by the pixels, nearly all of the letter lies inside the oval, and hardly any of another."""
    import numpy as np

    left, top, right, bottom = oval
    y, x = np.ogrid[: ink.shape[0], : ink.shape[1]]
    across = (x + 0.5 - (left + right) / 2) / ((right - left) / 2)
    inside = across**2 + ((y + 0.5 - (top + bottom) / 2) / ((bottom - top) / 2)) ** 2 <= 1
    shares = [ink[:, a:b][inside[:, a:b]].sum() / ink[:, a:b].sum() for a, _, b, _ in boxes]
    others = max(share for k, share in enumerate(shares) if k != place)
    return bool(shares[place] > 0.97 and others < 0.2)
