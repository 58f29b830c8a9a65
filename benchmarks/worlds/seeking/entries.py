"""Invented things and the people who recorded them, from a seed: facts, articles, and near-duplicates."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

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
