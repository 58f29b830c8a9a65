"""Pairs of programs become examples of an error for the critic and of its correction for the refiner."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.packing import (
    CRITIC_INST,
    REFINER_INST,
    TRACE,
    Packing,
    format_case,
    pack,
    part_of,
)
from pyvision.experiments.vdebugger_training.records import Executed, Injected, ScoredProgram, TrainingExample
from pyvision.strategies.vdebugger.verdicts import Span, marks_in, read_word
from pyvision.text.prompts import render

RIGHT = ScoredProgram(
    "1", "How many?", "def execute_command(image):\n    return '2'", Executed("2", "TRACE"), 1.0
)
WRONG = replace(RIGHT, id="9", program="def execute_command(image):\n    return '8'", score=0.0)
BROKEN = Injected(
    "1", "greedy", 0, "wrong", "", RIGHT.program.replace("2", "3"), (39, 42), Executed("3", "BROKEN TRACE")
)
ALL_TRAIN = Packing(held_out=0.0)


def test_a_critic_example_contains_the_location_of_the_error() -> None:
    examples = pack([RIGHT], [BROKEN], ALL_TRAIN)["critic/train"]
    (rejection,) = (example for example in examples if "wrong" in example.completion)
    assert rejection == TrainingExample(
        "# How many?\ndef execute_command(image):\n    return '3'\n\n-> 3\n\n--- Trace\n\nBROKEN TRACE",
        "\n\n# Program is",
        " wrong\ndef execute_command(image):\n    return <<<BUG>>>'3'<<<BUG/>>>",
        of="1",
    )


def test_a_correct_program_is_accepted_once_no_matter_how_often_it_was_broken() -> None:
    other = replace(BROKEN, attempt=1, program=RIGHT.program.replace("2", "4"))
    examples = pack([RIGHT], [BROKEN, other], ALL_TRAIN)["critic/train"]
    assert [example.completion for example in examples].count(" right") == 1
    assert len(examples) == 3


def test_a_refiner_example_corrects_the_marked_program() -> None:
    (example,) = pack([RIGHT], [BROKEN], ALL_TRAIN)["refiner/train"]
    assert "return <<<BUG>>>'3'<<<BUG/>>>\n\n-> 3" in example.prompt
    assert (example.inst, example.completion) == ("\n\n# Correction", "\n" + RIGHT.program)


def test_a_program_wrong_without_an_injected_error_has_no_location_in_the_mixture() -> None:
    files = pack([RIGHT, WRONG], [BROKEN], ALL_TRAIN)
    (added,) = set(files["critic/train-mix"]) - set(files["critic/train"])
    assert (added.completion, added.eos, added.of) == (" wrong", False, "9")


def test_the_mixture_is_limited_by_the_number_of_pairs() -> None:
    wrong = [replace(WRONG, id=str(number), task=str(number)) for number in range(9)]
    files = pack([RIGHT, *wrong], [BROKEN], replace(ALL_TRAIN, mix=1.0))
    assert len(files["critic/train-mix"]) == len(files["critic/train"]) + 1


def test_an_unscored_program_is_not_in_the_mixture() -> None:
    files = pack([RIGHT, replace(WRONG, score=None)], [BROKEN], ALL_TRAIN)
    assert files["critic/train-mix"] == files["critic/train"]


def test_without_feedback_examples_contain_no_execution() -> None:
    files = pack([RIGHT], [BROKEN], replace(ALL_TRAIN, feedback=False))
    assert not any(
        "Trace" in example.prompt or "->" in example.prompt
        for each in files.values()
        for example in each
        if "str:" not in example.prompt
    )


def test_attempts_that_broke_nothing_give_no_examples() -> None:
    with pytest.raises(ConfigError, match="nothing to train on"):
        pack([RIGHT], [replace(BROKEN, fate="right"), replace(BROKEN, fate="refused")], ALL_TRAIN)


def test_a_box_at_the_threshold_is_not_correct() -> None:
    with pytest.raises(ConfigError):
        pack([replace(RIGHT, score=0.7)], [BROKEN], ALL_TRAIN)


def test_a_program_without_a_trace_is_a_compile_error() -> None:
    assert format_case("q", "p", Executed(error="SyntaxError: x")).endswith(
        "-> None\n\n--- Trace\n\nCompile Error"
    )


@given(st.text(max_size=30), st.integers(0, 99))
def test_all_programs_of_a_sample_are_in_one_split(sample_id: str, seed: int) -> None:
    how = Packing(held_out=0.3, seed=seed)
    assert part_of(sample_id, how) == part_of(sample_id, how)


def test_the_splits_have_about_the_requested_shares() -> None:
    parts = [part_of(str(number), Packing(held_out=0.1)) for number in range(2000)]
    assert parts.count("test") == pytest.approx(200, abs=50)
    assert parts.count("val") == pytest.approx(200, abs=50)


@pytest.mark.parametrize("wrong", [{"held_out": 0.5}, {"mix": -1.0}])
def test_invalid_packing_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Packing(**wrong)  # type: ignore[arg-type]


def test_examples_have_the_format_of_the_trained_prompts() -> None:
    case = format_case("q", "p", Executed("r", "t"))
    assert case + CRITIC_INST == render("vdebugger/critic_trained.md", case=case)
    assert case + REFINER_INST == render("vdebugger/refiner_trained.md", case=case)
    assert TRACE in case


def test_the_strategy_can_parse_a_critic_completion() -> None:
    (rejection,) = (
        each for each in pack([RIGHT], [BROKEN], ALL_TRAIN)["critic/train"] if "wrong" in each.completion
    )
    assert read_word(rejection.completion) == "wrong"
    assert marks_in(rejection.completion, BROKEN.program).spans == (Span(*BROKEN.span),)
