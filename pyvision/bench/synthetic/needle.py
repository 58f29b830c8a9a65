"""Questions about one small object in a huge scene, which has to be found and viewed up close.

Difficulty: from 4 megapixels (0) through 20 (0.5) to 100 (1), while all objects shrink a little. Hundreds to
thousands of other objects surround it; none of them fits the question. At the size at which a model receives the
image, the object is a few pixels wide, so that a crop is needed. `metadata["box"]` says where it is: [left, top,
right, bottom] in pixels from the top left; for a question about the position of two objects, the box around both.

The images are JPEGs, as photographs of this size usually are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyvision.bench.synthetic.canvas import RGB, Box, Canvas, shape_sprite, text_sprite
from pyvision.bench.synthetic.geometry import near, shape_corners
from pyvision.bench.synthetic.scene import BLACK, INKS, WHITE, Dice, Scene

_COMMON = ("circle", "triangle", "square", "pentagon")  # a star or a cross is a needle
_YELLOW: RGB = (250, 226, 60)  # of the sign that is a needle
_WORDS = (
    "amber", "basil", "cedar", "delta", "ember", "fjord", "glade", "hazel", "ivory", "koala", "lemon", "maple",
    "north", "ocean", "pearl", "quail", "river", "sugar", "tulip", "umber", "velvet", "willow", "zebra",
)  # fmt: skip
_FILLED = 0.55  # share of the cells that hold an object
_SIGNS = 0.12  # share of signs among the other objects
_APART = 0.1  # least distance of two objects whose position is asked for, as a share of the image
_CELL_PX = 96
_PALE: tuple[RGB, ...] = ((214, 222, 206), (226, 220, 204), (206, 214, 222), (222, 212, 216), (232, 230, 222))
_FIELDS = 60
_TURNS = 16  # shapes are rotated by sixteenths of a full turn, so that each of their masks is drawn once

_Cell: TypeAlias = tuple[int, int]  # column, row


@dataclass(frozen=True, slots=True)
class _Query:
    kind: str
    question: str
    target: str
    options: tuple[str, ...] = ()


def make_needle(dice: Dice) -> Scene | None:
    """One scene; None when the pixels at a needle are not as intended, or when two needles are too close."""
    return dice.goal.choice(_KINDS)(dice)


def _colour(dice: Dice) -> Scene | None:
    options = dice.goal.sample(list(INKS), 4)
    right = dice.goal.randrange(4)
    ground, cells = _fill(dice, list(INKS))
    box = ground.shape(cells[0], "star", options[right])
    if not _shows(ground, box, INKS[options[right]], 0.2):
        return None
    query = _Query("colour", "What is the colour of the star?", "ABCD"[right], tuple(options))
    return _scene(query, ground, box)


def _shape(dice: Dice) -> Scene | None:
    colour, options = dice.goal.choice(list(INKS)), dice.goal.sample(_COMMON, 4)
    right = dice.goal.randrange(4)
    ground, cells = _fill(dice, [other for other in INKS if other != colour])
    box = ground.shape(cells[0], options[right], colour)
    if not _shows(ground, box, INKS[colour], 0.2):
        return None
    question = f"What shape is the only {colour} thing?"
    return _scene(_Query("shape", question, "ABCD"[right], tuple(options)), ground, box)


def _word(dice: Dice) -> Scene | None:
    word = dice.goal.choice(_WORDS)
    ground, cells = _fill(dice, list(INKS))
    box = ground.sign(cells[0], word, _YELLOW)
    if not _shows(ground, box, _YELLOW, 0.4):
        return None
    question = "Which word stands on the yellow sign? Answer with the word alone."
    return _scene(_Query("word", question, word), ground, box)


def _position(dice: Dice) -> Scene | None:
    axis = dice.goal.randrange(2)
    options = (("left", "right"), ("above", "below"))[axis]
    right, colours = dice.goal.randrange(2), dice.chance.sample(list(INKS), 2)
    ground, cells = _fill(dice, list(INKS))
    first, second = sorted(cells[:2], key=lambda cell: cell[axis], reverse=right == 1)
    if abs(first[axis] - second[axis]) < _APART * (ground.columns, ground.rows)[axis]:
        return None
    boxes = ground.shape(first, "star", colours[0]), ground.shape(second, "cross", colours[1])
    if not all(_shows(ground, box, INKS[ink], 0.2) for box, ink in zip(boxes, colours, strict=True)):
        return None
    relation = ("to the left or to the right of", "above or below")[axis]
    query = _Query("position", f"Is the star {relation} the cross?", "AB"[right], options)
    return _scene(query, ground, _enclosing_box(boxes))


_KINDS: Sequence[Callable[[Dice], Scene | None]] = (_colour, _shape, _word, _position)


def _scene(query: _Query, ground: _Ground, box: Box) -> Scene:
    truth = {"needle": list(box), "size": [ground.page.width, ground.page.height]}
    return Scene(
        query.question, query.target, (ground.page,), "choice" if query.options else "text", query.kind, truth,
        choices=query.options, more={"box": list(box)}, jpeg=True,
    )  # fmt: skip


def _fill(dice: Dice, colours: Sequence[str]) -> tuple[_Ground, list[_Cell]]:
    """A page of other objects in these colours, and its empty cells."""
    ground, chance = _Ground(dice), dice.chance
    cells = ground.cells()
    filled = int(len(cells) * _FILLED)
    for cell in cells[:filled]:
        if chance.random() < _SIGNS:
            ground.sign(cell, chance.choice(_WORDS), WHITE)
        else:
            ground.shape(cell, chance.choice(_COMMON), chance.choice(colours))
    return ground, cells[filled:]


def _shows(ground: _Ground, box: Box, ink: RGB, share: float) -> bool:
    """Whether at least this share of the box is of that colour."""
    return bool(near(ground.page.pixels(box), ink, 30).mean() >= share)


def _enclosing_box(boxes: Sequence[Box]) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


class _Ground:
    """A 4:3 page of 4 (difficulty 0) to 100 (1) megapixels with pale fields, in cells of one shape or sign each.

    Shapes and signs are pasted as cached masks: drawing is quick enough for a hundred megapixels.
    """

    def __init__(self, dice: Dice) -> None:
        pixels = 4e6 * 25**dice.difficulty
        self.columns = round(math.sqrt(pixels * 4 / 3) / _CELL_PX)
        self.rows = round(math.sqrt(pixels * 3 / 4) / _CELL_PX)
        self.page = Canvas(self.columns * _CELL_PX, self.rows * _CELL_PX, _PALE[0], fine=1)
        self._chance, self._shape_px, self._letter_px = dice.chance, dice.whole(36, 26), dice.whole(17, 14)
        self._draw_fields()

    def cells(self) -> list[_Cell]:
        """All cells in random order."""
        every = [(column, row) for row in range(self.rows) for column in range(self.columns)]
        return self._chance.sample(every, len(every))

    def shape(self, cell: _Cell, shape: str, colour: str) -> Box:
        """Draw a shape somewhere in a cell; its box."""
        turn = 2 * math.pi * self._chance.randrange(_TURNS) / _TURNS
        middle = self._shape_px / 2
        sprite = shape_sprite(shape_corners(shape, (middle, middle), middle - 1, turn), self._shape_px)
        box = self._place(cell, (self._shape_px, self._shape_px))
        self.page.stamp(sprite, box[:2], INKS[colour])
        return box

    def sign(self, cell: _Cell, word: str, board: RGB) -> Box:
        """Draw a board with a word somewhere in a cell; its box."""
        sprite = text_sprite(word, self._letter_px)
        box = self._place(cell, (sprite.width + 12, sprite.height + 12))
        self.page.rectangle(box, fill=board, line=BLACK)
        self.page.stamp(sprite, (box[0] + 6, box[1] + 6), BLACK)
        return box

    def _place(self, cell: _Cell, size: tuple[int, int]) -> Box:
        left, top = (
            at * _CELL_PX + self._chance.randint(2, _CELL_PX - side - 2)
            for at, side in zip(cell, size, strict=True)
        )
        return left, top, left + size[0], top + size[1]

    def _draw_fields(self) -> None:
        chance, width, height = self._chance, self.page.width, self.page.height
        for _ in range(_FIELDS):
            left, top = chance.uniform(-0.1, 1) * width, chance.uniform(-0.1, 1) * height
            right, bottom = left + chance.uniform(0.05, 0.3) * width, top + chance.uniform(0.05, 0.3) * height
            self.page.rectangle((left, top, right, bottom), fill=chance.choice(_PALE))
