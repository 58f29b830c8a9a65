"""Invented objects and the people who recorded them: facts, articles, near-duplicates, and images."""

from __future__ import annotations

import io
import math
import random
from dataclasses import dataclass
from functools import cache, lru_cache

from pyvision.bench.synthetic import scene
from pyvision.bench.synthetic.canvas import Canvas, Point
from pyvision.types import Picture

SIDE = 160  # pixels of an image in the collection
GAP = 12  # pixels between the images in a row
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
    """A person who records objects."""

    name: str
    town: str
    born: int
    books: int

    def article(self) -> str:
        return f"{self.name} was born in {self.town} in {self.born}. {self.name} wrote {self.books} books."


@dataclass(frozen=True, slots=True)
class Look:
    """The look of an object: two layers of shapes, inks by name."""

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
    """The encyclopaedia."""

    entries: tuple[Entry, ...]
    people: tuple[Person, ...]


@cache
def world(count: int = 240, people: int = 60, seed: int = 0) -> World:
    """A reproducible world of `count` entries, a fifth of them near-duplicates of the one before."""
    chance = random.Random(f"encyclopaedia {seed}")
    names = _Names(chance)
    recorders = tuple(
        Person(f"{next(names)} {next(names)}", next(names), chance.randint(1500, 1899), chance.randint(2, 90))
        for _ in range(people)
    )
    entries: list[Entry] = []
    for number in range(count):
        twin = entries[-1] if number % 5 == 4 else None
        entries.append(_twin(twin, recorders, chance) if twin else _entry(next(names), recorders, chance))
    return World(tuple(entries), recorders)


def _entry(name: str, people: tuple[Person, ...], chance: random.Random) -> Entry:
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


def _twin(entry: Entry, people: tuple[Person, ...], chance: random.Random) -> Entry:
    """Another entry with a similar name and image: one ink differs."""
    look = entry.look
    ink = chance.choice([ink for ink in INKS if ink not in (look.ground, *look.inks)])
    near = Look(look.ground, (look.inks[0], look.inks[1], ink), look.shapes, look.count)
    fresh = _entry("", people, chance)
    name = f"{chance.choice(('New', 'Upper', 'Lesser'))} {entry.name}"
    return Entry(name, entry.kind, fresh.year, fresh.size, fresh.person, near, entry.name)


class _Names:
    """An iterator of distinct names."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._used = chance, set[str]()

    def __next__(self) -> str:
        while True:
            name = "".join(self._chance.choice(part) for part in (_STARTS, _MIDDLES, _ENDS))
            if name not in self._used:
                self._used.add(name)
                return name


@lru_cache(maxsize=512)
def drawing(entry: Entry) -> Picture:
    """The image of the entry in the collection."""
    canvas = Canvas(SIDE, SIDE, fine=2)
    middle = SIDE / 2
    look = entry.look
    canvas.rectangle((6, 6, SIDE - 6, SIDE - 6), fill=scene.INKS[look.ground])
    if entry.kind == "flag":
        canvas.rectangle((6, 60, SIDE - 6, 100), fill=scene.INKS[look.inks[0]])
    elif entry.kind == "building":
        canvas.rectangle((36, 50, SIDE - 36, SIDE - 6), fill=scene.INKS[look.inks[0]])
    else:
        canvas.disc((middle, middle), 58 if entry.kind == "emblem" else 44, fill=scene.INKS[look.inks[0]])
    _draw_border(canvas, look)
    _shape(canvas, look.shapes[1], (middle, middle), 20, scene.INKS[look.inks[2]])
    return Picture(canvas.png(), "image/png", SIDE, SIDE)


def view(entry: Entry, seed: str) -> Picture:
    """The image for a question: cropped, scaled, slightly recoloured, and noisy."""
    import numpy as np
    from PIL import Image

    chance = random.Random(f"view {entry.name} {seed}")
    image = Image.open(io.BytesIO(drawing(entry).data))
    cut = [chance.randint(0, SIDE // 20) for _ in range(4)]
    side = round(SIDE * chance.uniform(0.6, 1.6))
    part = image.crop((cut[0], cut[1], SIDE - cut[2], SIDE - cut[3])).resize((side, side))
    tint = np.array([chance.uniform(0.92, 1.08) for _ in range(3)])
    noise = np.random.default_rng(chance.randint(0, 2**32)).normal(0, chance.uniform(2, 8), (side, side, 3))
    return _encode(Image.fromarray(np.clip(np.asarray(part) * tint + noise, 0, 255).astype("uint8")))


def row(views: list[Picture]) -> tuple[Picture, list[tuple[int, int, int, int]]]:
    """Several views side by side on white, with their boxes: left, top, right, bottom in pixels."""
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


def _draw_border(canvas: Canvas, look: Look) -> None:
    for number in range(look.count):
        angle = 2 * math.pi * number / look.count
        at = (SIDE / 2 + 52 * math.sin(angle), SIDE / 2 - 52 * math.cos(angle))
        _shape(canvas, look.shapes[0], at, 12, scene.INKS[look.inks[1]])


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
        raise TypeError(f"{type(image).__name__} is not an image")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85)
    return Picture(file.getvalue(), "image/jpeg", image.width, image.height)
