"""Questions about scenes with their answers, and right programs for each in several shapes, some of them held out."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.worlds.vdebugger_world.scenes import COLOURS, SHAPES, Scene, Shape, make_scene
from pyvision.experiments.vdebugger_training.masking import canonical
from pyvision.strategies.vdebugger.task_types import FORMS, FormName

Words: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WorldQuestion:
    """A question about a scene. words: what fills the shapes of its programs."""

    text: str
    answer: str
    words: Words


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question. shapes: bodies of right programs; the last one is held out of every training."""

    ask: Callable[[Scene, random.Random], WorldQuestion | None]
    shapes: tuple[str, ...]
    form: FormName = "vqa"


@dataclass(frozen=True, slots=True)
class Case:
    """One question of the world."""

    id: str
    kind: str
    form: FormName
    scene: Scene
    task: str
    answer: str
    words: Words

    def program(self, shape: int) -> str:
        """A right program, in canonical form; shapes count from 0, -1 is the held-out one."""
        body = KINDS[self.kind].shapes[shape].format(**self.words)
        lines = [
            FORMS[self.form].signature,
            "    image_patch = ImagePatch(image)",
            *(f"    {x}" for x in body.splitlines()),
        ]
        return canonical("\n".join(lines))


def make_case(name: str) -> Case:
    """The question of that name, always the same."""
    chance = random.Random(name)
    while True:
        scene, kind = make_scene(chance), chance.choice(list(KINDS))
        asked = KINDS[kind].ask(scene, chance)
        if asked is not None:
            form = KINDS[kind].form
            task = FORMS[form].opening.format(asked.text)
            return Case(name, kind, form, scene, task, asked.answer, asked.words)


def some_shape(case: Case, chance: random.Random) -> str:
    """A right program in one of the shapes that may be trained on."""
    return case.program(chance.randrange(len(KINDS[case.kind].shapes) - 1))


def _name(scene: Scene, chance: random.Random) -> tuple[str, str]:
    """Mostly what is there, else something by chance."""
    if chance.random() < 0.7:
        thing = chance.choice(scene.things)
        return thing.colour, thing.shape
    return chance.choice(COLOURS), chance.choice(SHAPES)


def _named(scene: Scene, name: str) -> list[Shape]:
    return [thing for thing in scene.things if thing.is_a(name)]


def _yes(truth: bool) -> str:  # noqa: FBT001
    return "yes" if truth else "no"


def _count(scene: Scene, chance: random.Random) -> WorldQuestion:
    colour, shape = _name(scene, chance)
    name = f"{colour} {shape}"
    words = {"a": name, "c": colour, "s": shape}
    return WorldQuestion(f"How many {name} things are there?", str(len(_named(scene, name))), words)


def _exist(scene: Scene, chance: random.Random) -> WorldQuestion:
    colour, shape = _name(scene, chance)
    name = f"{colour} {shape}"
    return WorldQuestion(
        f"Is there a {name}?", _yes(bool(_named(scene, name))), {"a": name, "c": colour, "s": shape}
    )


def _colour(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    thing = chance.choice(scene.things)
    if len(_named(scene, thing.shape)) > 1:
        return None
    return WorldQuestion(
        f"What colour is the {thing.shape}?", thing.colour, {"s": thing.shape, "all": repr([*COLOURS])}
    )


def _two(scene: Scene, chance: random.Random) -> tuple[str, str] | None:
    first, second = (" ".join(_name(scene, chance)) for _ in range(2))
    return (first, second) if first != second else None


def _more(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    two = _two(scene, chance)
    if two is None:
        return None
    first, second = two
    truth = len(_named(scene, first)) > len(_named(scene, second))
    return WorldQuestion(
        f"Are there more {first} things than {second} things?", _yes(truth), {"a": first, "b": second}
    )


def _both(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    two = _two(scene, chance)
    if two is None:
        return None
    first, second = two
    truth = bool(_named(scene, first)) and bool(_named(scene, second))
    return WorldQuestion(f"Are there both a {first} and a {second}?", _yes(truth), {"a": first, "b": second})


_SIDES = {
    "left of": ("horizontal_center", "<"),
    "right of": ("horizontal_center", ">"),
    "above": ("vertical_center", ">"),
    "below": ("vertical_center", "<"),
}
_ENDS = {
    "leftmost": ("horizontal_center", "min", "0"),
    "rightmost": ("horizontal_center", "max", "-1"),
    "topmost": ("vertical_center", "max", "-1"),
    "lowest": ("vertical_center", "min", "0"),
}


def _side(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    two = _two(scene, chance)
    if two is None:
        return None
    first, second = (_named(scene, name) for name in two)
    if len(first) != 1 or len(second) != 1:
        return None
    side = chance.choice(list(_SIDES))
    attribute, sign = _SIDES[side]
    a, b = (each[0].x if attribute == "horizontal_center" else each[0].y for each in (first, second))
    if a == b:
        return None
    words = {"a": two[0], "b": two[1], "at": attribute, "sign": sign}
    return WorldQuestion(
        f"Is the {two[0]} {side} the {two[1]}?", _yes(a < b if sign == "<" else a > b), words
    )


def _at_the_end(scene: Scene, chance: random.Random) -> tuple[str, Shape, Words] | None:
    """A shape of which there are several, one of them at an end."""
    shape, end = chance.choice(scene.things).shape, chance.choice(list(_ENDS))
    attribute, least, place = _ENDS[end]
    things = sorted(
        _named(scene, shape), key=lambda each: each.x if attribute == "horizontal_center" else each.y
    )
    values = [each.x if attribute == "horizontal_center" else each.y for each in things]
    if len(things) < 2 or len(set(values)) < len(values):
        return None
    words = {
        "s": shape,
        "at": attribute,
        "least": least,
        "place": place,
        "sign": "<" if least == "min" else ">",
    }
    return end, things[int(place)], words


def _end(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    found = _at_the_end(scene, chance)
    if found is None:
        return None
    end, thing, words = found
    return WorldQuestion(f"What colour is the {end} {thing.shape}?", thing.colour, words)


def _box_end(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    found = _at_the_end(scene, chance)
    if found is None:
        return None
    end, thing, words = found
    return WorldQuestion(f"the {end} {thing.shape}", str(list(thing.box)), words)


def _box(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    thing = chance.choice(scene.things)
    if len(_named(scene, thing.name)) > 1:
        return None
    return WorldQuestion(
        f"the {thing.name}", str(list(thing.box)), {"a": thing.name, "c": thing.colour, "s": thing.shape}
    )


_ASK = "simple_query('What colour is this?')"
_CHOSEN_BY = (
    "patches = image_patch.find('{s}')\nfor patch in patches:\n    if patch." + _ASK + " == '{c}':\n        "
)

KINDS: Mapping[str, Kind] = {
    "count": Kind(
        _count,
        (
            "patches = image_patch.find('{a}')\nreturn str(len(patches))",
            "count = 0\nfor patch in image_patch.find('{a}'):\n    count += 1\nreturn str(count)",
            "patches = image_patch.find('{a}')\ncount = len(patches)\nreturn str(count)",
            "patches = image_patch.find('{s}')\n"
            f"wanted = [patch for patch in patches if patch.{_ASK} == '{{c}}']\nreturn str(len(wanted))",
        ),
    ),
    "exist": Kind(
        _exist,
        (
            "return bool_to_yesno(image_patch.exists('{a}'))",
            "patches = image_patch.find('{a}')\nif len(patches) > 0:\n    return 'yes'\nreturn 'no'",
            "patches = image_patch.find('{a}')\nfound = len(patches) > 0\nreturn bool_to_yesno(found)",
            _CHOSEN_BY + "return 'yes'\nreturn 'no'",
        ),
    ),
    "colour": Kind(
        _colour,
        (
            f"patches = image_patch.find('{{s}}')\nreturn patches[0].{_ASK}",
            "return image_patch.simple_query('What colour is the {s}?')",
            "patch = image_patch.find('{s}')[0]\ncolours = {all}\nreturn patch.best_text_match(colours)",
            f"patch = image_patch.find('{{s}}')[0]\ncolour = patch.{_ASK}\nreturn colour",
        ),
    ),
    "more": Kind(
        _more,
        (
            "first = len(image_patch.find('{a}'))\nsecond = len(image_patch.find('{b}'))\n"
            "return bool_to_yesno(first > second)",
            "first = image_patch.find('{a}')\nsecond = image_patch.find('{b}')\n"
            "if len(first) > len(second):\n    return 'yes'\nreturn 'no'",
            "difference = len(image_patch.find('{a}')) - len(image_patch.find('{b}'))\n"
            "return bool_to_yesno(difference > 0)",
        ),
    ),
    "both": Kind(
        _both,
        (
            "first = image_patch.exists('{a}')\nsecond = image_patch.exists('{b}')\n"
            "return bool_to_yesno(first and second)",
            "if image_patch.exists('{a}') and image_patch.exists('{b}'):\n    return 'yes'\nreturn 'no'",
            "if len(image_patch.find('{a}')) == 0:\n    return 'no'\n"
            "return bool_to_yesno(image_patch.exists('{b}'))",
        ),
    ),
    "side": Kind(
        _side,
        (
            "first = image_patch.find('{a}')[0]\nsecond = image_patch.find('{b}')[0]\n"
            "return bool_to_yesno(first.{at} {sign} second.{at})",
            "first = image_patch.find('{a}')[0]\nsecond = image_patch.find('{b}')[0]\n"
            "if first.{at} {sign} second.{at}:\n    return 'yes'\nreturn 'no'",
            "first = image_patch.find('{a}')[0]\nsecond = image_patch.find('{b}')[0]\n"
            "gap = first.{at} - second.{at}\nreturn bool_to_yesno(gap {sign} 0)",
        ),
    ),
    "end": Kind(
        _end,
        (
            "patches = image_patch.find('{s}')\npatches.sort(key=lambda patch: patch.{at})\n"
            f"return patches[{{place}}].{_ASK}",
            f"patch = {{least}}(image_patch.find('{{s}}'), key=lambda patch: patch.{{at}})\nreturn patch.{_ASK}",
            "best = image_patch.find('{s}')[0]\nfor patch in image_patch.find('{s}'):\n"
            f"    if patch.{{at}} {{sign}} best.{{at}}:\n        best = patch\nreturn best.{_ASK}",
        ),
    ),
    "box": Kind(
        _box,
        (
            "return image_patch.find('{a}')[0]",
            "patches = image_patch.find('{a}')\nreturn patches[0]",
            _CHOSEN_BY + "return patch\nreturn patches[0]",
        ),
        "box",
    ),
    "box at the end": Kind(
        _box_end,
        (
            "patches = image_patch.find('{s}')\npatches.sort(key=lambda patch: patch.{at})\n"
            "return patches[{place}]",
            "patch = {least}(image_patch.find('{s}'), key=lambda patch: patch.{at})\nreturn patch",
            "patches = image_patch.find('{s}')\nbest = patches[0]\nfor patch in patches:\n"
            "    if patch.{at} {sign} best.{at}:\n        best = patch\nreturn best",
        ),
        "box",
    ),
}


def make_cases(name: str, count: int) -> Sequence[Case]:
    """So many questions under a common name; another name gives others, about other scenes."""
    return [make_case(f"{name} {number}") for number in range(count)]
