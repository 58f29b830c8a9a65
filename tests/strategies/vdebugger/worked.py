"""The worked programs of the prompts: what each is asked about, and what it has to answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyvision.strategies.vdebugger.programs import FORMS, FormName
from pyvision.text.prompts import load
from tests.strategies.vdebugger.scenes import Scene, SceneObject

LEFT, MIDDLE, RIGHT = (20, 120, 60, 160), (110, 120, 150, 160), (200, 120, 240, 160)
KNOWLEDGE = {"In which country is Old Tower? Answer with the country.": "Italy"}


@dataclass(frozen=True, slots=True)
class Worked:
    """One program of a form; its question is the first line without the words of the form."""

    form: FormName
    question: str
    program: str


def row_of(*names: str, tags: str = "") -> Scene:
    """One object after the other, from left to right."""
    return Scene(
        tuple(SceneObject(name, (20 + 60 * at, 100, 50 + 60 * at, 140)) for at, name in enumerate(names)),
        {},
        tags,
    )


def plate(left: int, answer: str) -> SceneObject:
    return SceneObject("plate", (left, 100, left + 40, 140), answers={"Is there food on this plate?": answer})


def cart(left: int, wheels: str) -> SceneObject:
    return SceneObject(
        "cart", (left, 90, left + 60, 150), answers={"How many wheels does this cart have?": wheels}
    )


KETTLE, STOVE = "What colour is the kettle?", SceneObject("stove", (180, 150, 250, 250))
NUMBER = "What number is written in the image (in digits)?"
EXPECTED: dict[str, tuple[list[Scene], str]] = {
    "How many umbrellas are open?": (
        [
            Scene(
                (
                    SceneObject("umbrella", LEFT, "open"),
                    SceneObject("umbrella", MIDDLE, "closed"),
                    SceneObject("umbrella", RIGHT, "open"),
                )
            )
        ],
        "2",
    ),
    "What colour is the kettle on the stove?": (
        [
            Scene(
                (
                    SceneObject("kettle", (10, 20, 40, 60), answers={KETTLE: "red"}),
                    SceneObject("kettle", (190, 110, 220, 145), answers={KETTLE: "green"}),
                    STOVE,
                )
            )
        ],
        "green",
    ),
    "Is there a ladder to the left of the door?": ([row_of("ladder", "door")], "yes"),
    "Are there more spoons than forks?": ([row_of("fork", "spoon", "fork")], "no"),
    "Is the suitcase made of leather or of metal?": ([Scene((SceneObject("suitcase", MIDDLE, "metal"),))], "metal"),
    "What hangs above the fireplace?": (
        [
            Scene(
                (
                    SceneObject("fireplace", (100, 160, 160, 250)),
                    SceneObject("mirror", (105, 20, 155, 100), answers={"What hangs here?": "mirror"}),
                )
            )
        ],
        "mirror",
    ),
    "Which is nearer to the camera, the tractor or the barn?": (
        [Scene((SceneObject("barn", (20, 40, 120, 140), depth=7), SceneObject("tractor", (150, 120, 230, 180),
        depth=2)))], "tractor",
    ),
    "Do all of the plates have food on them?": ([Scene((plate(20, "yes"), plate(100, "no"), plate(180, "yes")))], "no"),
    "How many wheels do the carts have in total?": ([Scene((cart(10, "two"), cart(120, "4")))], "6"),
    "Is the boat at the top larger than the boat at the bottom?": (
        [Scene((SceneObject("boat", (20, 20, 120, 90)), SceneObject("boat", (60, 180, 100, 220))))],
        "yes",
    ),
    "Does the bus show the number 42?": ([Scene((SceneObject("bus", MIDDLE, answers={NUMBER: "forty-two"}),))], "yes"),
    "In which country was the landmark in the picture built?": (
        [Scene((), {"What is the name of this landmark?": "Old Tower"})],
        "Italy",
    ),
    "Which animal touches the fence?": (
        [
            Scene(
                (
                    SceneObject("animal", (20, 20, 60, 60), answers={"What animal is this?": "cow"}),
                    SceneObject("animal", (150, 120, 210, 180), answers={"What animal is this?": "goat"}),
                    SceneObject("fence", (180, 100, 250, 200)),
                )
            )
        ],
        "goat",
    ),
    "Both images show a bicycle.": ([row_of("bicycle"), row_of("bicycle", "car")], "yes"),
    "There are exactly three apples in all.": ([row_of("apple"), row_of("apple", "apple")], "yes"),
    "The left image has more chairs.": ([row_of("chair"), row_of("chair", "chair")], "no"),
    "One image shows a wet umbrella.": (
        [Scene((SceneObject("umbrella", LEFT, "dry"),)), Scene((SceneObject("umbrella", LEFT, "wet"),))],
        "yes",
    ),
    "In which image is the lamp nearer to the bed?": (
        [row_of("lamp", "rug", "bed"), row_of("bed", "lamp")],
        "right",
    ),
    "How many images show a horse?": ([row_of("horse"), row_of("cow"), row_of("cow", "horse")], "2"),
    "What is the man in the image with the piano wearing?": (
        [
            row_of("man"),
            Scene((SceneObject("man", LEFT, answers={"What is the man wearing?": "a hat"}), SceneObject("piano",
            RIGHT))),
        ],
        "a hat",
    ),
    "Is there an image with two dogs and a ball?": ([row_of("dog", "ball"), row_of("dog", "dog", "ball")], "yes"),
    "Which vegetable is in the image that has the most bowls?": (
        [
            Scene(row_of("bowl").objects, {"Which vegetable is this?": "leek"}),
            Scene(row_of("bowl", "bowl").objects, {"Which vegetable is this?": "kale"}),
        ],
        "kale",
    ),
    "Are there as many images of a beach as images of a forest?": (
        [row_of(tags="beach"), row_of(tags="forest"), row_of(tags="beach")],
        "no",
    ),
    "the second car from the left": (
        [Scene((SceneObject("car", RIGHT), SceneObject("car", LEFT), SceneObject("car", MIDDLE)))],
        "[100, 110, 160, 170]",
    ),
    "the girl in the striped dress": (
        [Scene((SceneObject("girl", LEFT, "plain dress"), SceneObject("girl", RIGHT, "striped dress")))],
        "[190, 110, 250, 170]",
    ),
    "the cup nearest to the laptop": (
        [Scene((SceneObject("cup", LEFT), SceneObject("cup", MIDDLE), SceneObject("laptop", (160, 100, 250, 200))))],
        "[100, 110, 160, 170]",
    ),
    "the largest pumpkin": (
        [Scene((SceneObject("pumpkin", LEFT), SceneObject("pumpkin", (100, 100, 180, 180))))],
        "[90, 90, 190, 190]",
    ),
    "the person farthest from the camera": (
        [  # large ones: the margin around a small one would be most of its patch
            Scene(
                (
                    SceneObject("person", (0, 100, 80, 250), depth=2),
                    SceneObject("person", (170, 40, 250, 200), depth=8),
                    SceneObject("person", (90, 100, 160, 250), depth=4),
                )
            )
        ],
        "[160, 30, 256, 210]",
    ),
    "the sign above the red truck": (
        [
            Scene(
                (
                    SceneObject("truck", (20, 150, 100, 220), "red"),
                    SceneObject("sign", (40, 230, 70, 250)),
                    SceneObject("sign", (40, 60, 70, 90)),
                )
            )
        ],
        "[30, 50, 80, 100]",
    ),
}  # fmt: skip


def worked_programs() -> list[Worked]:
    return [
        Worked(name, _question(name, line), f"{code.strip()}\n")
        for name in FORMS
        for line, code in re.findall(
            r"^# (Given [^\n]*)\n(.*?)(?=^# Given |\Z)",
            load(f"vdebugger/examples/{name}.py"),
            re.MULTILINE | re.DOTALL,
        )
    ]


def _question(name: FormName, line: str) -> str:
    before, after = FORMS[name].opening.split("{}")
    return line.removeprefix(before).removesuffix(after).removeprefix("Is the statement true? ")
