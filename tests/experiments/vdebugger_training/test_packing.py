"""Pairs of programs become lessons that show the fault to the critic and the cure to the refiner."""

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
from pyvision.experiments.vdebugger_training.records import Example, Executed, Injected, Program
from pyvision.strategies.vdebugger.fault_spans import Span, marks_in
from pyvision.strategies.vdebugger.verdicts import read_word
from pyvision.text.prompts import render

RIGHT = Program("1", "How many?", "def execute_command(image):\n    return '2'", Executed("2", "TRACE"), 1.0)
WRONG = replace(RIGHT, id="9", program="def execute_command(image):\n    return '8'", score=0.0)
BROKEN = Injected(
    "1", "greedy", 0, "wrong", "", RIGHT.program.replace("2", "3"), (39, 42), Executed("3", "BROKEN TRACE")
)
ALL_TRAIN = Packing(held_out=0.0)


def test_a_critic_reads_program_result_and_trace_and_is_told_where_the_fault_is() -> None:
    examples = pack([RIGHT], [BROKEN], ALL_TRAIN)["critic/train"]
    (told,) = (example for example in examples if "wrong" in example.completion)
    assert told == Example(
        "# How many?\ndef execute_command(image):\n    return '3'\n\n-> 3\n\n--- Trace\n\nBROKEN TRACE",
        "\n\n# Program is",
        " wrong\ndef execute_command(image):\n    return <<<BUG>>>'3'<<<BUG/>>>",
        of="1",
    )


def test_a_right_program_is_told_to_be_right_once_however_often_it_was_broken() -> None:
    other = replace(BROKEN, attempt=1, program=RIGHT.program.replace("2", "4"))
    examples = pack([RIGHT], [BROKEN, other], ALL_TRAIN)["critic/train"]
    assert [example.completion for example in examples].count(" right") == 1
    assert len(examples) == 3


def test_a_refiner_reads_the_marked_program_and_writes_the_right_one() -> None:
    (example,) = pack([RIGHT], [BROKEN], ALL_TRAIN)["refiner/train"]
    assert "return <<<BUG>>>'3'<<<BUG/>>>\n\n-> 3" in example.prompt
    assert (example.inst, example.completion) == ("\n\n# Correction", "\n" + RIGHT.program)


def test_a_program_that_was_wrong_by_itself_joins_the_mixture_without_a_place_or_an_end() -> None:
    files = pack([RIGHT, WRONG], [BROKEN], ALL_TRAIN)
    (added,) = set(files["critic/train-mix"]) - set(files["critic/train"])
    assert (added.completion, added.eos, added.of) == (" wrong", False, "9")


def test_the_mixture_takes_no_more_than_its_share_of_the_pairs() -> None:
    wrong = [replace(WRONG, id=str(number), task=str(number)) for number in range(9)]
    files = pack([RIGHT, *wrong], [BROKEN], replace(ALL_TRAIN, mix=1.0))
    assert len(files["critic/train-mix"]) == len(files["critic/train"]) + 1


def test_a_program_that_nothing_could_score_joins_nothing() -> None:
    files = pack([RIGHT, replace(WRONG, score=None)], [BROKEN], ALL_TRAIN)
    assert files["critic/train-mix"] == files["critic/train"]


def test_without_feedback_nothing_of_the_run_is_shown() -> None:
    files = pack([RIGHT], [BROKEN], replace(ALL_TRAIN, feedback=False))
    assert not any(
        "Trace" in example.prompt or "->" in example.prompt
        for each in files.values()
        for example in each
        if "str:" not in example.prompt
    )


def test_an_attempt_that_broke_nothing_teaches_nothing() -> None:
    with pytest.raises(ConfigError, match="nothing to learn"):
        pack([RIGHT], [replace(BROKEN, fate="right"), replace(BROKEN, fate="refused")], ALL_TRAIN)


def test_a_box_that_barely_overlaps_is_no_right_program() -> None:
    with pytest.raises(ConfigError):
        pack([replace(RIGHT, score=0.7)], [BROKEN], ALL_TRAIN)


def test_a_program_that_never_ran_is_shown_as_a_compile_error() -> None:
    assert format_case("q", "p", Executed(error="SyntaxError: x")).endswith(
        "-> None\n\n--- Trace\n\nCompile Error"
    )


@given(st.text(max_size=30), st.integers(0, 99))
def test_all_programs_of_a_sample_come_in_one_part(sample_id: str, seed: int) -> None:
    how = Packing(held_out=0.3, seed=seed)
    assert part_of(sample_id, how) == part_of(sample_id, how)


def test_the_parts_have_about_the_shares_that_were_asked_for() -> None:
    parts = [part_of(str(number), Packing(held_out=0.1)) for number in range(2000)]
    assert parts.count("test") == pytest.approx(200, abs=50)
    assert parts.count("val") == pytest.approx(200, abs=50)


@pytest.mark.parametrize("wrong", [{"held_out": 0.5}, {"mix": -1.0}])
def test_a_packing_that_leaves_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Packing(**wrong)  # type: ignore[arg-type]


def test_lessons_are_laid_out_as_the_strategy_asks_trained_models() -> None:
    case = format_case("q", "p", Executed("r", "t"))
    assert case + CRITIC_INST == render("vdebugger/critic_trained.md", case=case)
    assert case + REFINER_INST == render("vdebugger/refiner_trained.md", case=case)
    assert TRACE in case


def test_a_critic_that_learnt_its_lesson_is_understood_by_the_strategy() -> None:
    (told,) = (
        each for each in pack([RIGHT], [BROKEN], ALL_TRAIN)["critic/train"] if "wrong" in each.completion
    )
    assert read_word(told.completion) == "wrong"
    assert marks_in(told.completion, BROKEN.program).spans == (Span(*BROKEN.span),)
