"""The world of visual programs: every right program is right, traces are the product's own, debugging can be played."""

from __future__ import annotations

import random
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from benchmarks.worlds.vdebugger_world.experiment import Findings, report
from benchmarks.worlds.vdebugger_world.grammar import KINDS, Case, make_cases, some_shape
from benchmarks.worlds.vdebugger_world.scenes import Interpreter, Part, Perception, Scene, Shape
from benchmarks.worlds.vdebugger_world.simulation import attempt_in, debug, is_right
from pyvision.experiments.vdebugger_training.evaluation import Debugged, Round

EXACT = Interpreter(Perception())
CASES = make_cases("test", 120)
SCENE = Scene(
    (
        Shape("red", "circle", 10, 20, 10),
        Shape("red", "circle", 60, 70, 18),
        Shape("blue", "star", 60, 20, 10),
    )
)
HEAD = "def execute_command(image) -> str:\n    image_patch = ImagePatch(image)\n    "


def answer(body: str) -> str | None:
    return EXACT.run(SCENE, HEAD + body, "vqa")[1]


def test_every_kind_of_question_is_asked_and_every_shape_of_program_answers_it() -> None:
    assert {case.kind for case in CASES} == set(KINDS)
    for case in CASES:
        for shape in range(len(KINDS[case.kind].shapes)):
            executed, found = EXACT.run(case.scene, case.program(shape), case.form)
            assert is_right(case, found), (case.task, case.program(shape), executed)


def test_the_held_out_shape_is_never_trained_on() -> None:
    for case in CASES:
        assert some_shape(case, random.Random(case.id)) != case.program(-1)


def test_the_same_name_makes_the_same_question() -> None:
    assert make_cases("test", 3) == CASES[:3]
    assert make_cases("other", 3) != CASES[:3]


def test_what_is_found_stands_in_coordinates_of_the_whole_sheet() -> None:
    executed, _ = EXACT.run(SCENE, HEAD + "return image_patch.find('blue star')[0]", "box")
    assert executed.result is not None
    assert executed.result.startswith("ImagePatch(left=60, right=70, upper=30, lower=20,")


def test_a_part_of_a_scene_shows_what_is_inside_of_it_only() -> None:
    found = Part(SCENE).crop((50, 0, 100, 50))
    assert [thing.name for thing, _ in found.boxed] == ["red circle"]
    assert found.boxed[0][1] == [10.0, 20.0, 28.0, 38.0]


def test_services_tell_of_the_scene() -> None:
    assert answer("return str(len(image_patch.find('red circles')))") == "2"
    assert answer("return image_patch.simple_query('What colour is the star?')") == "blue"
    assert answer("return image_patch.find('star')[0].best_text_match(['red', 'blue'])") == "blue"
    assert answer("return str(len(image_patch.find('object')))") == "3"
    assert answer("return bool_to_yesno(image_patch.exists('pink ring'))") == "no"


def test_blindness_hides_the_same_things_from_every_program() -> None:
    blind = Interpreter(Perception(1.0))
    assert blind.run(SCENE, HEAD + "return str(len(image_patch.find('circle')))", "vqa")[1] == "0"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return patches", "NameError"),
        ("return image_patch.find('ring')[0]", "IndexError"),
        ("return open('x')", "NameError"),
        ("for a in range(10000):\n        b = a\n    return b", "TimeoutError"),
        ("return image_patch.__class__", "not allowed"),
        ("import os\n    return 1", "not allowed"),
        ("return (", "SyntaxError"),
    ],
)
def test_a_program_that_fails_says_how(body: str, error: str) -> None:
    executed, found = EXACT.run(SCENE, HEAD + body, "vqa")
    assert found is None
    assert executed.error is not None
    assert error in executed.error


def test_traces_are_those_of_pysnooper(tmp_path: Path) -> None:
    pysnooper = pytest.importorskip("pysnooper")
    for number, case in enumerate(CASES[:25]):
        own = EXACT.run(case.scene, case.program(0), case.form)[0].trace
        assert own is not None
        theirs = snooped(pysnooper, case, tmp_path / f"program_{number}.py")
        assert own.splitlines()[1:] == theirs[1:]


def snooped(pysnooper: Any, case: Case, path: Path) -> list[str]:
    """The lines of pysnooper from the call on, without times."""
    path.write_text(case.program(0))
    names, log = dict(EXACT.api), StringIO()
    exec(compile(case.program(0), str(path), "exec"), names)
    pysnooper.snoop(log, color=False, max_variable_length=1000)(names["execute_command"])(Part(case.scene))
    lines = log.getvalue().splitlines()
    start = next(place for place, line in enumerate(lines) if " call " in line)
    timeless = (line[16:] if line[:1].isdigit() else line for line in lines[start:])
    return [line for line in timeless if not line.startswith("Elapsed time")]


def test_an_attempt_scores_a_program_about_its_question() -> None:
    case = CASES[0]
    attempt = attempt_in({case.id: case}, EXACT)
    ran = attempt(attempt.sample(case), case.program(0))
    assert (ran.task, ran.score, ran.is_right) == (case.task, 1.0, True)


class Oracle:
    """A critic that refuses what the case says returned `?`, and a refiner that says the same each time."""

    def __init__(self, says: str) -> None:
        self.says = says
        self.seen: list[str] = []

    def judged(self, cases: Sequence[str]) -> list[tuple[float, str]]:
        self.seen += cases
        return [(0.1, "wrong") if "return '?'" in case else (0.9, "right") for case in cases]

    def refined(self, cases: Sequence[str]) -> list[str]:
        return [self.says for _ in cases]


def debugged(says: str, first: str = "?", *, feedback: bool = True) -> tuple[Debugged, Oracle]:
    case = next(case for case in CASES if case.kind == "count")
    attempt, oracle = attempt_in({case.id: case}, EXACT), Oracle(says)
    program = attempt(attempt.sample(case), HEAD + f"return {first!r}")
    (found,) = debug([program], attempt, oracle, 3, feedback=feedback)
    return found, oracle


def test_a_refused_program_is_refined_until_one_is_accepted() -> None:
    case = next(case for case in CASES if case.kind == "count")
    found, _ = debugged(case.program(0))
    assert found.rounds == (Round(0.0, False), Round(1.0, True))


def test_an_accepted_program_stays() -> None:
    assert debugged("", first="x")[0].rounds == (Round(0.0, True),)


@pytest.mark.parametrize("says", ["prose", HEAD + "return '?'"])
def test_a_refiner_that_says_nothing_new_ends_the_debugging(says: str) -> None:
    assert debugged(says)[0].rounds == (Round(0.0, False),)


def test_without_feedback_a_critic_sees_the_program_alone() -> None:
    assert "--- Trace" in debugged("")[1].seen[0]
    assert "--- Trace" not in debugged("", feedback=False)[1].seen[0]


def test_the_report_says_what_holds_and_what_does_not() -> None:
    good, bad = Debugged("1", (Round(1.0, True),)), Debugged("2", (Round(0.0, True),))
    mended = Debugged("2", (Round(0.0, False), Round(1.0, True)))
    played = {"a test": {"without feedback": [good, bad] * 20, "with feedback": [good, mended] * 20}}
    injected = {"greedy": {"wrong": 5, "right": 95}, "mask_best": {"wrong": 50, "right": 50}}
    text = report(Findings({"right": 1}, injected, played, 3))
    assert "mask-best injects more errors than greedy: holds; 10.0 times as often" in text
    assert "feedback helps the critic, a test: holds; +50.0% of 40" in text
    assert "debugging without feedback raises the task score, a test: is not shown" in text
    assert "debugging with feedback raises the task score, a test: holds; +50.0% of 40" in text
    same = {"greedy": injected["greedy"], "mask_best": injected["greedy"]}
    assert "than greedy: is not shown" in report(Findings({"right": 1}, same, played, 3))
    reverse = {"greedy": injected["mask_best"], "mask_best": injected["greedy"]}
    assert "than greedy: does not hold, the reverse does; 0.1 times" in report(
        Findings({}, reverse, played, 3)
    )
    backwards = {"a test": {"without": [good, mended] * 20, "with": [good, bad] * 20}}
    assert "does not hold, the reverse does" in report(Findings({}, injected, backwards, 3))


@pytest.mark.train
def test_what_a_small_model_writes_is_read_as_it_was_taught(tmp_path: Path) -> None:
    from benchmarks.worlds.vdebugger_world.models import Shape, lessons_of_a_filler, new_model
    from pyvision.experiments.vdebugger_training.local_model import Local

    lessons = list(lessons_of_a_filler(CASES, 0))
    folder = new_model(tmp_path, [each.prompt for each in lessons], Shape(hidden=16, layers=2, heads=2))
    tokenizer = Local(folder).tokenizer
    told, _ = EXACT.run(SCENE, HEAD + "return image_patch.find('blue star')[0]", "box")
    for text in (*(each.prompt + each.completion for each in lessons), str(told.trace)):
        assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text
