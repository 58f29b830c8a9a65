"""Questions about invented things, in InfoSeek's three answer types, half of them needing two articles."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from benchmarks.worlds.seeking.drawings import row, view
from benchmarks.worlds.seeking.entries import Entry, World
from pyvision.bench.samples import Sample
from pyvision.types import Picture


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of question. text: {} stands for the thing. kind: InfoSeek's answer type. articles: how many it takes."""

    text: str
    kind: str
    articles: int
    truth: Callable[[Entry], str | int]


FORMS: Mapping[str, Form] = {
    "recorder": Form("Who first recorded {}?", "String", 1, lambda t: t.person.name),
    "year": Form("In which year was {} first recorded?", "Time", 1, lambda t: t.year),
    "size": Form("How many mm does {} measure across?", "Numerical", 1, lambda t: t.size),
    "town": Form("In which town was the recorder of {} born?", "String", 2, lambda t: t.person.town),
    "born": Form("In which year was the recorder of {} born?", "Time", 2, lambda t: t.person.born),
    "books": Form("How many books did the recorder of {} write?", "Numerical", 2, lambda t: t.person.books),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its picture. boxes: label and box of each thing in the picture, the true ones."""

    id: str
    form: str
    thing: Entry
    text: str
    picture: Picture
    boxes: tuple[tuple[str, tuple[int, int, int, int]], ...]

    @property
    def is_crowded(self) -> bool:
        return len(self.boxes) > 1

    def sample(self) -> Sample:
        """With its target as InfoSeek's metric takes it: a quantity counts within ten percent."""
        form = FORMS[self.form]
        truth = form.truth(self.thing)
        target = truth if form.kind == "Numerical" else [str(truth)]
        return Sample(self.id, self.text, (), target, metadata={"question_type": form.kind})


@cache
def cases(made: World, count: int) -> tuple[Case, ...]:
    """So many cases, the forms in turn; in every second round of forms the thing stands among two others."""
    chance = random.Random(f"cases {len(made.things)}")
    return tuple(_case(number, made, chance) for number in range(count))


def _case(number: int, made: World, chance: random.Random) -> Case:
    form = list(FORMS)[number % len(FORMS)]
    thing = chance.choice(made.things)
    text = FORMS[form].text.format(f"this {thing.kind}")
    crowd = [thing]
    if number // len(FORMS) % 2:
        others = [other for other in made.things if other.kind != thing.kind]
        crowd += chance.sample(others, 2)
        chance.shuffle(crowd)
    picture, boxes = row([view(each, str(number)) for each in crowd])
    labelled = tuple((each.kind, box) for each, box in zip(crowd, boxes, strict=True))
    return Case(f"{number}", form, thing, text, picture, labelled)
