"""Questions about scenes with their answers, and correct programs for each in several variants, some held out."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.worlds.vdebugger_world.scenes import COLOURS, SHAPES, Scene, Shape, make_scene
from pyvision.experiments.vdebugger_training.masking import canonical
from pyvision.strategies.vdebugger.programs import FORMS, FormName

Slots: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WorldQuestion:
    """A question about a scene. slots: the values for the templates of its programs."""

    text: str
    answer: str
    slots: Slots


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question. variants: bodies of correct programs; the last one is held out of every training."""

    ask: Callable[[Scene, random.Random], WorldQuestion | None]
    variants: tuple[str, ...]
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
    slots: Slots

    def program(self, variant: int) -> str:
        """A correct program in canonical form; variants count from 0, -1 is held out."""
        body = KINDS[self.kind].variants[variant].format(**self.slots)
        lines = [
            FORMS[self.form].signature,
            "    image_patch = ImagePatch(image)",
            *(f"    {x}" for x in body.splitlines()),
        ]
        return canonical("\n".join(lines))


def make_case(name: str) -> Case:
    """The question with this name, always the same."""
    chance = random.Random(name)
    while True:
        scene, kind = make_scene(chance), chance.choice(list(KINDS))
        question = KINDS[kind].ask(scene, chance)
        if question is not None:
            form = KINDS[kind].form
            task = FORMS[form].opening.format(question.text)
            return Case(name, kind, form, scene, task, question.answer, question.slots)


def some_variant(case: Case, chance: random.Random) -> str:
    """A correct program in one of the variants for training."""
    return case.program(chance.randrange(len(KINDS[case.kind].variants) - 1))


def _name(scene: Scene, chance: random.Random) -> tuple[str, str]:
    """Mostly the name of a shape in the scene, else a random one."""
    if chance.random() < 0.7:
        target = chance.choice(scene.shapes)
        return target.colour, target.shape
    return chance.choice(COLOURS), chance.choice(SHAPES)


def _find_all(scene: Scene, name: str) -> list[Shape]:
    return [each for each in scene.shapes if each.is_a(name)]


def _yes(truth: bool) -> str:  # noqa: FBT001
    return "yes" if truth else "no"


def _count(scene: Scene, chance: random.Random) -> WorldQuestion:
    colour, shape = _name(scene, chance)
    name = f"{colour} {shape}"
    slots = {"a": name, "c": colour, "s": shape}
    return WorldQuestion(f"How many {name} things are there?", str(len(_find_all(scene, name))), slots)


def _exist(scene: Scene, chance: random.Random) -> WorldQuestion:
    colour, shape = _name(scene, chance)
    name = f"{colour} {shape}"
    return WorldQuestion(
        f"Is there a {name}?", _yes(bool(_find_all(scene, name))), {"a": name, "c": colour, "s": shape}
    )


def _colour(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    target = chance.choice(scene.shapes)
    if len(_find_all(scene, target.shape)) > 1:
        return None
    return WorldQuestion(
        f"What colour is the {target.shape}?", target.colour, {"s": target.shape, "all": repr([*COLOURS])}
    )


def _two(scene: Scene, chance: random.Random) -> tuple[str, str] | None:
    first, second = (" ".join(_name(scene, chance)) for _ in range(2))
    return (first, second) if first != second else None


def _more(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    two = _two(scene, chance)
    if two is None:
        return None
    first, second = two
    truth = len(_find_all(scene, first)) > len(_find_all(scene, second))
    return WorldQuestion(
        f"Are there more {first} things than {second} things?", _yes(truth), {"a": first, "b": second}
    )


def _both(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    two = _two(scene, chance)
    if two is None:
        return None
    first, second = two
    truth = bool(_find_all(scene, first)) and bool(_find_all(scene, second))
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
    first, second = (_find_all(scene, name) for name in two)
    if len(first) != 1 or len(second) != 1:
        return None
    side = chance.choice(list(_SIDES))
    attribute, sign = _SIDES[side]
    a, b = (each[0].x if attribute == "horizontal_center" else each[0].y for each in (first, second))
    if a == b:
        return None
    slots = {"a": two[0], "b": two[1], "at": attribute, "sign": sign}
    return WorldQuestion(
        f"Is the {two[0]} {side} the {two[1]}?", _yes(a < b if sign == "<" else a > b), slots
    )


def _at_the_end(scene: Scene, chance: random.Random) -> tuple[str, Shape, Slots] | None:
    """One of several similar shapes, at an end of the scene."""
    shape, end = chance.choice(scene.shapes).shape, chance.choice(list(_ENDS))
    attribute, least, place = _ENDS[end]
    matching = sorted(
        _find_all(scene, shape), key=lambda each: each.x if attribute == "horizontal_center" else each.y
    )
    values = [each.x if attribute == "horizontal_center" else each.y for each in matching]
    if len(matching) < 2 or len(set(values)) < len(values):
        return None
    slots = {
        "s": shape,
        "at": attribute,
        "least": least,
        "place": place,
        "sign": "<" if least == "min" else ">",
    }
    return end, matching[int(place)], slots


def _end(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    found = _at_the_end(scene, chance)
    if found is None:
        return None
    end, target, slots = found
    return WorldQuestion(f"What colour is the {end} {target.shape}?", target.colour, slots)


def _box_end(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    found = _at_the_end(scene, chance)
    if found is None:
        return None
    end, target, slots = found
    return WorldQuestion(f"the {end} {target.shape}", str(list(target.box)), slots)


def _box(scene: Scene, chance: random.Random) -> WorldQuestion | None:
    target = chance.choice(scene.shapes)
    if len(_find_all(scene, target.name)) > 1:
        return None
    return WorldQuestion(
        f"the {target.name}", str(list(target.box)), {"a": target.name, "c": target.colour, "s": target.shape}
    )


_ASK = "simple_query('What colour is this?')"
_FIND_BY_COLOUR = (
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
            _FIND_BY_COLOUR + "return 'yes'\nreturn 'no'",
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
            _FIND_BY_COLOUR + "return patch\nreturn patches[0]",
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
    """`count` questions under a common name; another name gives other questions and scenes."""
    return [make_case(f"{name} {number}") for number in range(count)]
