"""Invented things and the people who recorded them, from a seed: facts, articles, and near-duplicates."""

from __future__ import annotations

import io
import math
import random
from dataclasses import dataclass
from functools import cache, lru_cache

from pyvision.bench.synthetic import colours
from pyvision.bench.synthetic.canvas import Canvas, Point
from pyvision.types import Picture

KINDS = ("emblem", "flag", "creature", "building")
SHAPES = ("disc", "ring", "star", "square", "triangle", "cross")
INKS = ("red", "blue", "green", "orange", "purple", "brown", "cyan", "magenta")
_STARTS = (
    "Ar",
    "Bel",
    "Cor",
    "Dru",
    "El",
    "Fen",
    "Gal",
    "Hes",
    "Il",
    "Jor",
    "Kal",
    "Lun",
    "Mor",
    "Nel",
    "Or",
    "Pel",
)
_MIDDLES = ("a", "e", "i", "o", "u", "ani", "eri", "olu", "are", "isu")
_ENDS = (
    "bran",
    "dor",
    "fell",
    "gor",
    "heim",
    "kest",
    "lin",
    "mar",
    "nath",
    "quil",
    "rond",
    "sten",
    "thal",
    "vex",
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who records things."""

    name: str
    town: str
    born: int
    books: int

    def article(self) -> str:
        return f"{self.name} was born in {self.town} in {self.born}. {self.name} wrote {self.books} books."


@dataclass(frozen=True, slots=True)
class Look:
    """How a thing is drawn: two layers of shapes, inks by name."""

    ground: str
    inks: tuple[str, str, str]
    shapes: tuple[str, str]
    count: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the encyclopaedia. twin: the name of the near-duplicate it was made from."""

    name: str
    kind: str
    year: int
    size: int  # millimetres
    person: Person
    look: Look
    twin: str | None = None

    @property
    def title(self) -> str:
        return f"{self.name}, {self.kind}"

    def article(self) -> str:
        return (
            f"{self.name} is {'an' if self.kind == 'emblem' else 'a'} {self.kind}. {self.name} was first recorded "
            f"in {self.year} by {self.person.name}. {self.name} measures {self.size} mm across."
        )


@dataclass(frozen=True, slots=True)
class World:
    """All of it."""

    things: tuple[Entry, ...]
    people: tuple[Person, ...]


@cache
def world(count: int = 240, people: int = 60, seed: int = 0) -> World:
    """So many things, a fifth of them near-duplicates of the one before; the same for the same numbers."""
    chance = random.Random(f"encyclopaedia {seed}")
    names = _names(chance)
    recorders = tuple(
        Person(f"{next(names)} {next(names)}", next(names), chance.randint(1500, 1899), chance.randint(2, 90))
        for _ in range(people)
    )
    things: list[Entry] = []
    for number in range(count):
        twin = things[-1] if number % 5 == 4 else None
        things.append(_twin(twin, recorders, chance) if twin else _thing(next(names), recorders, chance))
    return World(tuple(things), recorders)


def _thing(name: str, people: tuple[Person, ...], chance: random.Random) -> Entry:
    ground, *inks = chance.sample(INKS, 4)
    look = Look(
        ground,
        (inks[0], inks[1], inks[2]),
        (chance.choice(SHAPES), chance.choice(SHAPES)),
        chance.randint(3, 7),
    )
    person = chance.choice(people)
    return Entry(
        name, chance.choice(KINDS), chance.randint(1500, 1999), chance.randint(20, 90_000), person, look
    )


def _twin(thing: Entry, people: tuple[Person, ...], chance: random.Random) -> Entry:
    """Nearly the same name and picture, another entry: one ink differs."""
    look = thing.look
    ink = chance.choice([ink for ink in INKS if ink not in (look.ground, *look.inks)])
    near = Look(look.ground, (look.inks[0], look.inks[1], ink), look.shapes, look.count)
    fresh = _thing("", people, chance)
    name = f"{chance.choice(('New', 'Upper', 'Lesser'))} {thing.name}"
    return Entry(name, thing.kind, fresh.year, fresh.size, fresh.person, near, thing.name)


class _names:  # noqa: N801 - an iterator
    """Names that do not repeat."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._used = chance, set[str]()

    def __next__(self) -> str:
        while True:
            name = "".join(self._chance.choice(part) for part in (_STARTS, _MIDDLES, _ENDS))
            if name not in self._used:
                self._used.add(name)
                return name


# ---- Pictures of invented things: the one in the collection, and the views of it that questions show.


SIDE = 160  # pixels of a picture in the collection
GAP = 12  # pixels between the things of a row


@lru_cache(maxsize=512)
def drawing(thing: Entry) -> Picture:
    """The thing alone, as the collection holds it."""
    canvas = Canvas(SIDE, SIDE, fine=2)
    middle = SIDE / 2
    look = thing.look
    canvas.rectangle((6, 6, SIDE - 6, SIDE - 6), fill=colours.INKS[look.ground])
    if thing.kind == "flag":
        canvas.rectangle((6, 60, SIDE - 6, 100), fill=colours.INKS[look.inks[0]])
    elif thing.kind == "building":
        canvas.rectangle((36, 50, SIDE - 36, SIDE - 6), fill=colours.INKS[look.inks[0]])
    else:
        canvas.disc((middle, middle), 58 if thing.kind == "emblem" else 44, fill=colours.INKS[look.inks[0]])
    _around(canvas, look)
    _shape(canvas, look.shapes[1], (middle, middle), 20, colours.INKS[look.inks[2]])
    return Picture(canvas.png(), "image/png", SIDE, SIDE)


def view(thing: Entry, seed: str) -> Picture:
    """What a question shows of it: cut, scaled, recoloured a little, and noisy."""
    import numpy as np
    from PIL import Image

    chance = random.Random(f"view {thing.name} {seed}")
    image = Image.open(io.BytesIO(drawing(thing).data))
    cut = [chance.randint(0, SIDE // 20) for _ in range(4)]
    side = round(SIDE * chance.uniform(0.6, 1.6))
    part = image.crop((cut[0], cut[1], SIDE - cut[2], SIDE - cut[3])).resize((side, side))
    tint = np.array([chance.uniform(0.92, 1.08) for _ in range(3)])
    noise = np.random.default_rng(chance.randint(0, 2**32)).normal(0, chance.uniform(2, 8), (side, side, 3))
    return _encode(Image.fromarray(np.clip(np.asarray(part) * tint + noise, 0, 255).astype("uint8")))


def row(views: list[Picture]) -> tuple[Picture, list[tuple[int, int, int, int]]]:
    """Several views side by side on white, and the box of each: left, top, right, bottom in pixels."""
    from PIL import Image

    images = [Image.open(io.BytesIO(view.data)) for view in views]
    width = sum(image.width for image in images) + GAP * (len(images) + 1)
    page = Image.new("RGB", (width, max(image.height for image in images) + 2 * GAP), "white")
    boxes, left = [], GAP
    for image in images:
        page.paste(image, (left, GAP))
        boxes.append((left, GAP, left + image.width, GAP + image.height))
        left += image.width + GAP
    return _encode(page), boxes


def _around(canvas: Canvas, look: Look) -> None:
    for number in range(look.count):
        angle = 2 * math.pi * number / look.count
        at = (SIDE / 2 + 52 * math.sin(angle), SIDE / 2 - 52 * math.cos(angle))
        _shape(canvas, look.shapes[0], at, 12, colours.INKS[look.inks[1]])


def _shape(canvas: Canvas, shape: str, at: Point, radius: float, ink: tuple[int, int, int]) -> None:
    x, y = at
    match shape:
        case "disc":
            canvas.disc(at, radius, fill=ink)
        case "ring":
            canvas.disc(at, radius, line=ink, width=radius / 3)
        case "square":
            canvas.rectangle((x - radius, y - radius, x + radius, y + radius), fill=ink)
        case "cross":
            canvas.rectangle((x - radius, y - radius / 3, x + radius, y + radius / 3), fill=ink)
            canvas.rectangle((x - radius / 3, y - radius, x + radius / 3, y + radius), fill=ink)
        case _:
            corners = 10 if shape == "star" else 3
            radii = (radius, radius / 2.5) if shape == "star" else (radius, radius)
            turns = [2 * math.pi * k / corners for k in range(corners)]
            points = [
                (x + radii[k % 2] * math.sin(a), y - radii[k % 2] * math.cos(a)) for k, a in enumerate(turns)
            ]
            canvas.polygon(points, fill=ink)


def _encode(image: object) -> Picture:
    from PIL.Image import Image

    if not isinstance(image, Image):
        raise TypeError(f"{type(image).__name__} is no image")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85)
    return Picture(file.getvalue(), "image/jpeg", image.width, image.height)
