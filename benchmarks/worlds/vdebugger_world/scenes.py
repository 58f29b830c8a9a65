"""Scenes: a few coloured shapes on a sheet of 100 by 100, known exactly; and what perception tells of a part of one."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

SIDE = 100
COLOURS = ("red", "blue", "green", "yellow", "black", "pink")
SHAPES = ("circle", "square", "star", "cross", "ring")
_KNOWN = {*COLOURS, *SHAPES, *(f"{shape}s" for shape in SHAPES), *(f"{shape}es" for shape in SHAPES)}
_CELL = 25
_QUESTION = re.compile(r"(what colou?r|what shape|how many|is this|is there)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape. Pixels from the bottom left corner of the sheet, as visual programs count."""

    colour: str
    shape: str
    left: int
    lower: int
    size: int

    @property
    def name(self) -> str:
        return f"{self.colour} {self.shape}"

    @property
    def box(self) -> tuple[int, int, int, int]:
        """left, lower, right, upper."""
        return self.left, self.lower, self.left + self.size, self.lower + self.size

    @property
    def x(self) -> float:
        return self.left + self.size / 2

    @property
    def y(self) -> float:
        return self.lower + self.size / 2

    def is_a(self, name: str) -> bool:
        """Whether a name fits: `object`, a shape or a colour, or both; as good as a detector takes it, plurals too."""
        words = re.findall(r"[a-z]+", name.lower())
        known = [word for word in words if word in _KNOWN]
        fits = {self.colour, self.shape, f"{self.shape}s", f"{self.shape}es"}
        return all(word in fits for word in known) if known else bool({"object", "objects"} & set(words))


@dataclass(frozen=True, slots=True)
class Scene:
    """All that is on one sheet. No two things touch: each has a cell of its own."""

    things: tuple[Shape, ...]


def make_scene(chance: random.Random) -> Scene:
    """From two to six things, some of them alike, so that counting is worth a question."""
    cells = chance.sample([(x, y) for x in range(4) for y in range(4)], chance.randint(2, 6))
    names = [(chance.choice(COLOURS), chance.choice(SHAPES)) for _ in range(3)]
    return Scene(tuple(_thing(cell, chance.choice(names), chance) for cell in cells))


def _thing(cell: tuple[int, int], name: tuple[str, str], chance: random.Random) -> Shape:
    size = chance.choice((10, 18))
    left, lower = (place * _CELL + chance.randint(1, _CELL - size - 1) for place in cell)
    return Shape(*name, left, lower, size)


class Part:
    """A rectangle of a scene in place of a picture: it has what visual programs use of one, and holds no pixels.

    Pictures are cut from the top left, so `crop` counts from there.
    """

    def __init__(
        self, scene: Scene, left: int = 0, top: int = 0, right: int = SIDE, bottom: int = SIDE
    ) -> None:
        self.scene, self._left, self._top = scene, left, top
        self.width, self.height = right - left, bottom - top

    def __repr__(self) -> str:
        return f"<image of {self.width} x {self.height}>"

    def crop(self, box: tuple[int, int, int, int]) -> Part:
        left, top, right, bottom = box
        return Part(self.scene, self._left + left, self._top + top, self._left + right, self._top + bottom)

    @property
    def boxed(self) -> list[tuple[Shape, list[float]]]:
        """The things whose centre is inside, each with its box from this part's own bottom left."""
        lower = SIDE - self._top - self.height
        found = []
        for thing in self.scene.things:
            if 0 <= thing.x - self._left < self.width and 0 <= thing.y - lower < self.height:
                left, low, right, high = thing.box
                sides = left - self._left, low - lower, right - self._left, high - lower
                found.append((thing, [float(side) for side in sides]))
        return found


class Perception:
    """The services of a visual program, answered from the scene. blindness: the share of things that are not found.

    What is not found is the same for every program about a scene.
    """

    def __init__(self, blindness: float = 0.0) -> None:
        self._blindness = blindness

    def find(self, part: Part, name: str) -> list[list[float]]:
        """Boxes by how sure a detector is of them, which is by no order that a program should rely on."""
        found = [
            (thing, box) for thing, box in part.boxed if thing.is_a(name) and self._sees(thing, part.scene)
        ]
        found.sort(key=lambda pair: random.Random(f"{pair[0]}").random())
        return [[*box, 0.9] for _, box in found]

    def simple_query(self, part: Part, question: str) -> str:
        asked = _QUESTION.match(question.strip())
        kind = asked[1].lower() if asked else "what shape"
        things = [thing for thing, _ in part.boxed if thing.is_a(f"{question} object")]
        match kind:
            case "how many":
                return str(len(things))
            case "is this" | "is there":
                return "yes" if things else "no"
            case "what shape":
                return things[0].shape if things else "unknown"
        return things[0].colour if things else "unknown"

    def match(self, part: Part, texts: list[str]) -> list[float]:
        things = [thing for thing, _ in part.boxed]
        return [float(sum(_fit(thing, text) for thing in things)) for text in texts]

    def _sees(self, thing: Shape, scene: Scene) -> bool:
        return random.Random(f"{thing} {scene}").random() >= self._blindness


def _fit(thing: Shape, text: str) -> int:
    words = set(re.findall(r"[a-z]+", text.lower()))
    return (thing.colour in words) + (thing.shape in words)
