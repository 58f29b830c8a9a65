"""Programs, scores and verdicts are read from the events of an experiment; models are evaluated on examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.grading import find_grading
from pyvision.bench.samples import Record, Sample
from pyvision.errors import ConfigError
from pyvision.events import Event, Note, RunStarted
from pyvision.experiments.vdebugger_training.dataset import program_of, read_executed
from pyvision.experiments.vdebugger_training.evaluation import (
    Round,
    measure_examples,
    read_answer,
    read_debugged,
    read_rounds,
)
from pyvision.experiments.vdebugger_training.packing import TokenBudget
from pyvision.experiments.vdebugger_training.records import Executed, TrainingExample
from pyvision.types import Question
from tests.doubles import picture

SAMPLE = Sample("1", "How many?", (), "2", metadata={"metric": "text:exact"})
RECORD = Record("1", 0, "", "2", "answered")


def program(number: int, result: str, **changes: Any) -> Note:
    data = {"round": number, "form": "vqa", "question": "Given an image: How many?", "program": f"p{number}"}
    data |= {"status": "ok", "result": result, "error": None, "trace": "TRACE"}
    return Note("program", data | changes)


def verdict(number: int, *, accepted: bool) -> Note:
    return Note("verdict", {"round": number, "accepted": accepted})


EVENTS: tuple[Event, ...] = (
    RunStarted(Question("How many?", (picture(),)), "vdebugger", {}),
    program(0, "3"),
    verdict(1, accepted=False),
    program(1, "2"),
    verdict(2, accepted=True),
)


def test_each_program_of_a_run_has_a_score_with_its_verdict() -> None:
    assert read_rounds(EVENTS, SAMPLE, find_grading(None), RECORD) == (Round(0.0, False), Round(1.0, True))


def test_the_last_program_may_have_no_verdict() -> None:
    assert read_rounds(EVENTS[:-1], SAMPLE, find_grading(None), RECORD)[-1] == Round(1.0, None)


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"result": "True"}, "yes"),
        ({"result": "two dogs"}, "two dogs"),
        ({"result": "[]"}, "no"),
        ({"result": "None"}, None),
        ({"result": "3", "error": "ValueError: x"}, None),
        ({"form": "box", "result": "nothing"}, None),
        (
            {"form": "box", "result": "ImagePatch(left=1, right=5, upper=30, lower=10, height=20, width=4)"},
            "[1, 70, 5, 90]",
        ),
    ],
)
def test_the_answer_is_read_from_the_result_of_a_program(changes: dict[str, Any], answer: str | None) -> None:
    assert read_answer(program(0, "x").data | changes, 100) == answer


def test_the_first_program_of_a_run_is_read_from_its_events() -> None:
    found = program_of(SAMPLE, EVENTS, 0.5)
    assert (found.task, found.program, found.executed) == (
        "Given an image: How many?",
        "p0",
        Executed("3", "TRACE"),
    )


def test_a_run_without_a_program_has_an_error() -> None:
    assert program_of(SAMPLE, EVENTS[:1], 0.0).executed.error == "no program was written"


def test_the_trace_of_a_program_ends_with_its_timeout() -> None:
    assert read_executed(program(0, "None", status="no_program", error="SyntaxError").data).trace is None
    ran = read_executed(program(0, "None", status="timeout", error="ran out of time").data)
    assert (ran.result, ran.trace) == (None, "TRACE\n[ran out of time]")


def test_a_folder_without_an_experiment_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no experiment"):
        read_debugged(tmp_path)


class FixedModel:
    """A model with the same reply and score for every prompt."""

    def __init__(self, reply: str, score: float) -> None:
        self.reply, self.score = reply, score

    class tokenizer:  # noqa: N801
        bos_token_id = eos_token_id = None

        @staticmethod
        def encode(text: str, *, add_special_tokens: bool) -> list[int]:
            return [ord(letter) for letter in text]

    def generate(self, prompts: list[object], max_tokens: int) -> list[str]:
        return [self.reply for _ in prompts]

    def score_verdicts(self, prompts: list[object]) -> list[float]:
        return [self.score for _ in prompts]


MARKED = "def execute_command(image):\n    return <<<BUG>>>1<<<BUG/>>>"
CRITIC = [
    TrainingExample("p", "\n\n# Program is", " right"),
    TrainingExample("p", "\n\n# Program is", f" wrong\n{MARKED}"),
]
REFINER = TrainingExample("p", "\n\n# Correction", "\ndef execute_command(image):\n    return 2")


def test_a_model_is_evaluated_on_each_kind_of_example() -> None:
    model: Any = FixedModel(f" wrong\n{MARKED}", 0.1)
    found = measure_examples([*CRITIC, REFINER], model, TokenBudget(600, 100))
    assert found.verdicts is not None
    assert found.verdicts.value == 0.5
    assert found.exact is not None
    assert (found.exact.value, found.exact.n) == (1.0, 1)
    assert found.corrections is not None
    assert found.corrections.value == 0.0


def test_an_overlapping_mark_is_not_an_exact_one() -> None:
    model: Any = FixedModel(
        " wrong\n" + MARKED.replace("<<<BUG>>>1", "1").replace("return ", "<<<BUG>>>return "), 0.1
    )
    found = measure_examples(CRITIC, model, TokenBudget(600, 100))
    assert found.places is not None
    assert found.exact is not None
    assert (found.places.value, found.exact.value) == (1.0, 0.0)


def test_a_correction_in_another_style_is_accepted() -> None:
    model: Any = FixedModel("def execute_command(image):\n    return (2)  # two", 0.1)
    found = measure_examples([REFINER], model, TokenBudget(600, 100)).corrections
    assert found is not None
    assert found.value == 1.0
