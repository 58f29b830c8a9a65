"""A huge page of cells, each of which takes one small shape or sign; quick enough for a hundred megapixels."""

from __future__ import annotations

import math
from typing import TypeAlias

from pyvision.bench.synthetic.canvas import RGB, Box, Canvas, shape_sprite, text_sprite
from pyvision.bench.synthetic.colours import BLACK, INKS
from pyvision.bench.synthetic.geometry import shape_corners
from pyvision.bench.synthetic.scene import Dice

Cell: TypeAlias = tuple[int, int]  # column, row

CELL_PX = 96
_PALE: tuple[RGB, ...] = ((214, 222, 206), (226, 220, 204), (206, 214, 222), (222, 212, 216), (232, 230, 222))
_FIELDS = 60
_TURNS = 16  # shapes are turned by sixteenths of a full turn, so that each of their masks is drawn once


class Ground:
    """An empty page of 4 (difficulty 0) to 100 (1) megapixels, four to three, with fields of pale colours."""

    def __init__(self, dice: Dice) -> None:
        pixels = 4e6 * 25**dice.difficulty
        self.columns = round(math.sqrt(pixels * 4 / 3) / CELL_PX)
        self.rows = round(math.sqrt(pixels * 3 / 4) / CELL_PX)
        self.page = Canvas(self.columns * CELL_PX, self.rows * CELL_PX, _PALE[0], fine=1)
        self._chance, self._side, self._letters = dice.chance, dice.whole(36, 26), dice.whole(17, 14)
        self._draw_fields()

    def cells(self) -> list[Cell]:
        """All cells in random order."""
        every = [(column, row) for row in range(self.rows) for column in range(self.columns)]
        return self._chance.sample(every, len(every))

    def shape(self, cell: Cell, shape: str, colour: str) -> Box:
        """Draw a shape somewhere in a cell; its box."""
        turn = 2 * math.pi * self._chance.randrange(_TURNS) / _TURNS
        middle = self._side / 2
        sprite = shape_sprite(shape_corners(shape, (middle, middle), middle - 1, turn), self._side)
        box = self._place(cell, (self._side, self._side))
        self.page.stamp(sprite, box[:2], INKS[colour])
        return box

    def sign(self, cell: Cell, word: str, board: RGB) -> Box:
        """Draw a board with a word somewhere in a cell; its box."""
        sprite = text_sprite(word, self._letters)
        box = self._place(cell, (sprite.width + 12, sprite.height + 12))
        self.page.rectangle(box, fill=board, line=BLACK)
        self.page.stamp(sprite, (box[0] + 6, box[1] + 6), BLACK)
        return box

    def _place(self, cell: Cell, size: tuple[int, int]) -> Box:
        left, top = (
            at * CELL_PX + self._chance.randint(2, CELL_PX - side - 2)
            for at, side in zip(cell, size, strict=True)
        )
        return left, top, left + size[0], top + size[1]

    def _draw_fields(self) -> None:
        chance, width, height = self._chance, self.page.width, self.page.height
        for _ in range(_FIELDS):
            left, top = chance.uniform(-0.1, 1) * width, chance.uniform(-0.1, 1) * height
            right, bottom = left + chance.uniform(0.05, 0.3) * width, top + chance.uniform(0.05, 0.3) * height
            self.page.rectangle((left, top, right, bottom), fill=chance.choice(_PALE))
