"""A huge scene in which one small thing decides the answer: to be found, and looked at closely.

Difficulty: from 4 megapixels (0) over 20 (0.5) to 100 (1), while all things shrink a little. Hundreds to thousands of
other things stand around; none of them fits the question. Scaled down to what a model is sent, the thing is a few
pixels wide, so that it takes a crop. `metadata["box"]` is where it is: [left, top, right, bottom] in pixels from the
top left; where the position of two things is asked for, the box around both.

The pictures are JPEGs, as photographs of this size are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyvision.bench.synthetic.canvas import RGB, Box
from pyvision.bench.synthetic.colours import INKS, WHITE
from pyvision.bench.synthetic.components import near
from pyvision.bench.synthetic.ground import Cell, Ground
from pyvision.bench.synthetic.scene import Dice, Scene

_COMMON = ("circle", "triangle", "square", "pentagon")  # a star or a cross is a needle
_YELLOW: RGB = (250, 226, 60)  # of the sign that is a needle
_WORDS = (
    "amber", "basil", "cedar", "delta", "ember", "fjord", "glade", "hazel", "ivory", "koala", "lemon", "maple",
    "north", "ocean", "pearl", "quail", "river", "sugar", "tulip", "umber", "velvet", "willow", "zebra",
)  # fmt: skip
_TAKEN = 0.55  # share of the cells that hold something
_SIGNS = 0.12  # share of signs among the other things
_APART = 0.1  # least distance of two things whose position is asked for, as a share of the picture


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: str
    question: str
    target: str
    options: tuple[str, ...] = ()


def make(dice: Dice) -> Scene | None:
    """One scene; None when the pixels at a needle are not as meant, or two stand nearly beside each other."""
    return dice.goal.choice(_KINDS)(dice)


def _colour(dice: Dice) -> Scene | None:
    options = dice.goal.sample(list(INKS), 4)
    right = dice.goal.randrange(4)
    ground, cells = _fill(dice, list(INKS))
    box = ground.shape(cells[0], "star", options[right])
    if not _shows(ground, box, INKS[options[right]], 0.2):
        return None
    asked = _Asked("colour", "What is the colour of the star?", "ABCD"[right], tuple(options))
    return _scene(asked, ground, box)


def _shape(dice: Dice) -> Scene | None:
    colour, options = dice.goal.choice(list(INKS)), dice.goal.sample(_COMMON, 4)
    right = dice.goal.randrange(4)
    ground, cells = _fill(dice, [other for other in INKS if other != colour])
    box = ground.shape(cells[0], options[right], colour)
    if not _shows(ground, box, INKS[colour], 0.2):
        return None
    question = f"What shape is the only {colour} thing?"
    return _scene(_Asked("shape", question, "ABCD"[right], tuple(options)), ground, box)


def _word(dice: Dice) -> Scene | None:
    word = dice.goal.choice(_WORDS)
    ground, cells = _fill(dice, list(INKS))
    box = ground.sign(cells[0], word, _YELLOW)
    if not _shows(ground, box, _YELLOW, 0.4):
        return None
    question = "Which word stands on the yellow sign? Answer with the word alone."
    return _scene(_Asked("word", question, word), ground, box)


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
    words = ("to the left or to the right of", "above or below")[axis]
    asked = _Asked("position", f"Is the star {words} the cross?", "AB"[right], options)
    return _scene(asked, ground, _around(boxes))


_KINDS: Sequence[Callable[[Dice], Scene | None]] = (_colour, _shape, _word, _position)


def _scene(asked: _Asked, ground: Ground, box: Box) -> Scene:
    truth = {"needle": list(box), "size": [ground.page.width, ground.page.height]}
    return Scene(
        asked.question, asked.target, (ground.page,), "choice" if asked.options else "text", asked.kind, truth,
        choices=asked.options, more={"box": list(box)}, jpeg=True,
    )  # fmt: skip


def _fill(dice: Dice, colours: Sequence[str]) -> tuple[Ground, list[Cell]]:
    """A ground full of things that are no needles, of these colours, and its empty cells."""
    ground, chance = Ground(dice), dice.chance
    cells = ground.cells()
    taken = int(len(cells) * _TAKEN)
    for cell in cells[:taken]:
        if chance.random() < _SIGNS:
            ground.sign(cell, chance.choice(_WORDS), WHITE)
        else:
            ground.shape(cell, chance.choice(_COMMON), chance.choice(colours))
    return ground, cells[taken:]


def _shows(ground: Ground, box: Box, ink: RGB, share: float) -> bool:
    """Whether at least this share of the box is of that colour."""
    return bool(near(ground.page.pixels(box), ink, 30).mean() >= share)


def _around(boxes: Sequence[Box]) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)
