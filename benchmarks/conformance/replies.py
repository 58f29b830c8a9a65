"""Replies to compare scorers on: published ones, read from their repositories, and generated ones where none are."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from benchmarks.conformance.sources import Sources

MATH_V = "mathllm/MATH-V@a1f5cc3add200c0cd080fad463e500f44ef1fb41"
MATHVISTA = "lupantech/MathVista@53d525874bdde205128e6b160b7357a88277d479"
MMMU = "MMMU-Benchmark/MMMU@bb0b95a945998d91dfef37e969e07d49d1139438"
SCIENCEQA = "lupantech/ScienceQA@2cbf8318e07b9ece895bb2ae605e71e38d623264"

COUNT = 5_000
"""How many replies are generated for a scorer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with the question's truth. metadata: what the sample and the published scorer need besides."""

    answer: str
    target: Any
    choices: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


Replies: TypeAlias = Callable[[Sources], Iterator[Reply]]


def math_v(sources: Sources) -> Iterator[Reply]:
    """MATH-V: all of its published replies whose files are stored in git."""
    questions = {row["id"]: row for row in _lines(sources.read(MATH_V, "data/test.jsonl"))}
    for rows in _files(sources, MATH_V, "outputs", ".jsonl"):
        for row in _lines(rows):
            question = questions[row["id"]]
            yield Reply(row["response"], str(question["answer"]), tuple(question["options"]))


def mathvista(sources: Sources) -> Iterator[Reply]:
    """MathVista: what its published extraction took out of the published replies."""
    for content in _files(sources, MATHVISTA, "results", ".json"):
        for row in json.loads(content).values():
            if isinstance(row, dict) and isinstance(row.get("extraction"), str):
                yield Reply(
                    row["extraction"], row["answer"], tuple(row["choices"] or ()),
                    {"answer_type": row["answer_type"], "precision": row["precision"]},
                )  # fmt: skip


def mmmu(sources: Sources) -> Iterator[Reply]:
    """MMMU: the example outputs for its validation split."""
    for content in _files(sources, MMMU, "mmmu/example_outputs", "/output.json"):
        for row in json.loads(content):
            is_choice = row["question_type"] == "multiple-choice"
            yield Reply(row["response"], row["answer"], tuple(row["index2ans"].values()) if is_choice else ())


def mmmu_choices(sources: Sources) -> Iterator[Reply]:
    """MMMU's and MMMU-Pro's published replies to questions with options."""
    yield from (reply for reply in mmmu(sources) if reply.choices)
    for content in _files(sources, MMMU, "mmmu-pro/output", ".jsonl"):
        for row in _lines(content):
            options = tuple(ast.literal_eval(str(row["options"])))
            if isinstance(row["response"], str) and all(isinstance(option, str) for option in options):
                yield Reply(row["response"], row["answer"], options)


def four_choices(sources: Sources) -> Iterator[Reply]:
    """The same with the first four options, for scorers that know no more."""
    for reply in mmmu_choices(sources):
        if reply.target in "ABCD" and len(reply.choices) >= 4:
            yield Reply(reply.answer, reply.target, reply.choices[:4])


def scienceqa(sources: Sources) -> Iterator[Reply]:
    """ScienceQA's published GPT-3 replies, whole and by their first words, with the published reading as the truth."""
    content = json.loads(sources.read(SCIENCEQA, "results/gpt3/final_test_QCM-ALE_2_seed_3.json"))
    for number, reply in content["outputs"].items():
        target = "ABCDE"[content["results"][number]]
        for text in (reply, reply.removeprefix("The answer is "), target.lower()):
            yield Reply(text, target, ("one", "two", "three", "four", "five"))


def texts(sources: Sources) -> Iterator[Reply]:
    """MathVista's extractions with their truth as a text."""
    for reply in mathvista(sources):
        target = str(reply.target)
        if not target.startswith("["):
            yield Reply(reply.answer, [target])


def single_texts(sources: Sources) -> Iterator[Reply]:
    """The same with one text instead of a list."""
    for reply in texts(sources):
        yield Reply(reply.answer, reply.target[0])


_TEXT = """
a the an none no yes two ten eleven dog dogs red dark-red blue/green can't cant somebody'd lets it's Mr. St. 5 5. 5.5
1,000 1000 0 7% 12 - A ? left right, U.S.A couldnt've "stop" t-shirt (none) don't o'clock 10:30 $5 50%
"""
_WORDS = _TEXT.split()
_COUNTS = (
    "zero", "one", "Two", "eleven", "twenty", "thirty", "someone", "3", "12", "20", "21", "100", "5.5", "no", "of them",
)  # fmt: skip


def annotators(_: Sources) -> Iterator[Reply]:
    """Generated: ten answers of one to three words, and one of them, or a changed one, as the reply."""
    dice = random.Random(1)
    for _number in range(COUNT):
        few = [_phrase(dice) for _ in range(dice.randint(1, 4))]
        target = [dice.choice(few) for _ in range(10)]
        yield Reply(_change(dice, dice.choice([*few, _phrase(dice)])), target)


def quantities(_: Sources) -> Iterator[Reply]:
    """Generated: texts, dates and ranges as InfoSeek has them."""
    dice = random.Random(2)
    forms = (
        "{:g}",
        "{:g} m",
        "about {:g}",
        "{:,.0f}",
        "{:e}",
        "-{:g}",
        ".{:.0f}",
        "{:g}.",
        "no number",
        "1.2.3",
    )
    for _number in range(COUNT):
        low = dice.choice([0, round(dice.uniform(-50, 5_000), 1)])
        high = low + dice.choice([0, 1, abs(low) / 5, 500])
        if dice.random() < 0.3:
            truths = [_phrase(dice) for _ in range(3)]
            yield Reply(
                _change(dice, dice.choice(truths)),
                truths,
                (),
                {"question_type": dice.choice(["Time", "String"])},
            )
            continue
        ends = [low + (high - low) * dice.uniform(-0.6, 1.6) for _ in range(2)]
        answer = dice.choice([" to ", "-", " - ", " and ", "–"]).join(
            dice.choice(forms).format(end) for end in ends[: dice.randint(1, 2)]
        )
        yield Reply(answer, [low, high], (), {"question_type": "Numerical"})


def chart_answers(_: Sources) -> Iterator[Reply]:
    """Generated: numbers, percentages, years, words and lists of them as ChartQAPro has them."""
    dice = random.Random(3)
    for _number in range(COUNT):
        parts = [_chart_value(dice) for _ in range(dice.choice([1, 1, 1, 2, 3]))]
        flags = [dice.choice(["YES", "NO", "NO"]) for _ in parts]
        found = [_near(dice, part) for part in parts][: dice.choice([3, 3, 3, 1])]
        as_list = len(parts) > 1
        yield Reply(
            dice.choice([str(found), "[" + ", ".join(found) + "]"]) if as_list else found[0],
            "[" + ", ".join(parts) + "]" if as_list else parts[0], (),
            {"year_flags": flags, "question_type": dice.choice(["Factoid", "Conversational", "Fact Checking"])},
        )  # fmt: skip


def chart_values(_: Sources) -> Iterator[Reply]:
    """Generated: single numbers, percentages and words as ChartQA has them."""
    dice = random.Random(4)
    for _number in range(COUNT):
        target = _chart_value(dice)
        yield Reply(_near(dice, target), target)


def documents(_: Sources) -> Iterator[Reply]:
    """Generated: texts with slips of the pen."""
    dice = random.Random(5)
    for _number in range(COUNT):
        truths = [_phrase(dice) for _ in range(dice.randint(1, 3))]
        answer = _slip(dice, dice.choice([*truths, _phrase(dice)]))
        yield Reply(answer, truths)


def counts(_: Sources) -> Iterator[Reply]:
    """Generated: prose with numbers in digits and words, below and above twenty."""
    dice = random.Random(6)
    for _number in range(COUNT):
        target = dice.choice([0, 1, 2, 3, 5, 11, 12, 20, 21, 30])
        yield Reply(" ".join(dice.choices(_COUNTS, k=dice.randint(1, 5))), target)


def _phrase(dice: random.Random) -> str:
    return " ".join(dice.choices(_WORDS, k=dice.randint(1, 3)))


def _change(dice: random.Random, text: str) -> str:
    return dice.choice(
        [text, text, text, text.upper(), f"{text}.", f" {text}\n", text.replace(" ", ", "), f"the {text}"]
    )


def _slip(dice: random.Random, text: str) -> str:
    letters = list(text)
    for _ in range(dice.choice([0, 0, 1, 2, 5])):
        place = dice.randrange(len(letters) + 1)
        letters[place : place + dice.randint(0, 1)] = dice.choice(["", "x", " ", "E"])
    return "".join(letters) or text


def _chart_value(dice: random.Random) -> str:
    numbers = [f"{dice.uniform(-5, 500):.2f}", str(dice.randint(1990, 2024)), f"{dice.randint(0, 100)}%"]
    return dice.choice([*numbers, "0", "Yes", "Not Applicable", "Germany", "dark blue", "South Korea", "0.5"])


def _near(dice: random.Random, text: str) -> str:
    try:
        number = float(text.rstrip("%"))
    except ValueError:
        return _slip(dice, text)
    changed = number * dice.choice([1, 1.03, 0.96, 1.0499, 1.0501, 1.2])
    return dice.choice(
        [
            text,
            f"{changed:g}",
            f"{changed:g}%",
            f"{changed / 100:g}",
            f"{changed:g} million",
            f" {changed:g} ",
        ]
    )


def _files(sources: Sources, repository: str, under: str, suffix: str) -> Iterator[bytes]:
    """The contents of the files; one that cannot be had is left out."""
    from benchmarks.conformance.sources import SourceError

    for path in sources.find(repository, under, suffix):
        try:
            yield sources.read(repository, path)
        except SourceError:
            continue


def _lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.decode().split("\n") if line.strip()]
