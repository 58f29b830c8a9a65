"""Programs are collected and broken once, whatever comes between, and what became of each is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, ModelError
from pyvision.experiments.vdebugger_training.dataset import (
    PROGRAMS,
    InjectionConfig,
    Pipeline,
    generate,
    inject,
)
from pyvision.experiments.vdebugger_training.masking import MASK, Masked
from pyvision.experiments.vdebugger_training.records import (
    Executed,
    Injected,
    Program,
    append,
    read,
    resume,
    rewrite,
)

RIGHT = "def execute_command(image) -> str:\n    return 'two'"
SAMPLES = tuple(Sample(str(number), "How many?", (), "two") for number in range(3))
BY_ID = {sample.id: sample for sample in SAMPLES}


def refilled_with_six(asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
    return [masked.program.replace("two", "six") for _, masked in asked]


class Writer:
    """Writes right programs but for the samples that are named; stops with an error after so many."""

    def __init__(self, wrong: str = "", most: int = 99) -> None:
        self.wrong, self.left = wrong, most

    def __call__(self, sample: Sample, program: str | None = None) -> Program:
        if program is None:
            program = self._written(sample)
        names: dict[str, Any] = {}
        exec(program, names)
        result = str(names["execute_command"](None))
        return Program(
            sample.id, sample.text, program, Executed(result, "TRACE"), float(result == sample.target)
        )

    def _written(self, sample: Sample) -> str:
        if not self.left:
            raise ModelError("gone")
        self.left -= 1
        return RIGHT.replace("two", "ten") if sample.id in self.wrong else RIGHT


def shop(folder: Path, wrong: str = "", most: int = 99) -> Pipeline:
    return Pipeline(Writer(wrong, most), folder)


def collected(folder: Path, wrong: str = "") -> None:
    generate(SAMPLES, shop(folder, wrong))


def test_each_program_is_kept_with_its_run_and_its_score(tmp_path: Path) -> None:
    counts = generate(SAMPLES, shop(tmp_path, wrong="1"))
    assert counts == {"right": 2, "wrong": 1}
    first, second, _ = read(tmp_path / PROGRAMS, Program)
    assert first == Program("0", "How many?", RIGHT, Executed("two", "TRACE"), 1.0)
    assert (second.executed.result, second.score) == ("ten", 0.0)


def test_collecting_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        generate(SAMPLES, shop(tmp_path, most=2))
    with (tmp_path / PROGRAMS).open("ab") as file:
        file.write(b'{"id": "2", "tas')  # the line in which it died
    assert generate(SAMPLES, shop(tmp_path, most=1)) == {"right": 3}
    assert [program.id for program in read(tmp_path / PROGRAMS, Program)] == ["0", "1", "2"]


def test_a_refill_that_is_run_in_another_form_is_refused(tmp_path: Path) -> None:
    def attempt(sample: Sample, program: str | None = None) -> Program:
        return Writer()(sample, program and program + "  # signed")

    collected(tmp_path)
    counts = inject(BY_ID, refilled_with_six, Pipeline(attempt, tmp_path), InjectionConfig())
    assert counts == {"refused": 3}


def test_a_broken_program_is_kept_with_the_place_of_its_fault(tmp_path: Path) -> None:
    collected(tmp_path)
    how = InjectionConfig("mask_best", attempts=4)
    inject(
        BY_ID,
        refilled_with_six,
        shop(tmp_path),
        how,
    )
    wrong = [each for each in read(tmp_path / how.file, Injected) if each.fate == "wrong"]
    assert len(wrong) == 12
    assert {each.program[slice(*each.span)] for each in wrong} == {"'six'", "return 'six'"}
    assert all(MASK in each.masked and each.executed.result == "six" for each in wrong)


def test_only_right_programs_are_broken(tmp_path: Path) -> None:
    collected(tmp_path, wrong="12")
    assert (
        sum(inject(BY_ID, lambda asked: ["" for _ in asked], shop(tmp_path), InjectionConfig()).values()) == 1
    )


def test_a_refill_that_changes_nothing_is_refused_and_one_that_is_still_right_counts_as_right(
    tmp_path: Path,
) -> None:
    collected(tmp_path)
    refills = iter([RIGHT, RIGHT.replace("'two'", "'t' + 'wo'"), "prose"])
    how = InjectionConfig(at_once=1)
    counts = inject(BY_ID, lambda asked: [next(refills) for _ in asked], shop(tmp_path), how)
    assert counts == {"refused": 2, "right": 1}
    reasons = [each.why for each in read(tmp_path / how.file, Injected) if each.why]
    assert ["what was masked" in reasons[0], "parse" in reasons[1] or "more than" in reasons[1]] == [
        True,
        True,
    ]


def test_breaking_goes_on_where_it_was_broken_off_with_the_same_masks(tmp_path: Path) -> None:
    collected(tmp_path)
    seen: list[str] = []

    def refill(asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
        if len(seen) == 2:
            raise ModelError("gone")
        seen.extend(masked.text for _, masked in asked)
        return ["" for _ in asked]

    how = InjectionConfig(attempts=2, at_once=2)
    with pytest.raises(ModelError):
        inject(BY_ID, refill, shop(tmp_path), how)
    inject(BY_ID, lambda asked: ["" for _ in asked], shop(tmp_path), how)
    done = list(read(tmp_path / how.file, Injected))
    assert [(each.of, each.attempt) for each in done] == [(str(n), a) for a in range(2) for n in range(3)]
    assert [each.masked for each in done[:2]] == seen


def test_both_decodings_fill_the_same_masks(tmp_path: Path) -> None:
    collected(tmp_path)
    ways = [InjectionConfig("greedy", attempts=3), InjectionConfig("mask_best", attempts=3)]
    for how in ways:
        inject(BY_ID, lambda asked: ["" for _ in asked], shop(tmp_path), how)
    first, second = ([each.masked for each in read(tmp_path / how.file, Injected)] for how in ways)
    assert first == second


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"id": "1"}\n')
    with pytest.raises(ConfigError, match=r"lines\.jsonl: line 1: task"):
        list(read(path, Program))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="check the path"):
        list(read(tmp_path / "none.jsonl", Program))


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    program = Program("é", "q", "p\n\u2028", Executed(None, None, "e"), None)
    assert append(tmp_path / "a" / "b.jsonl", [program, program]) == 2
    assert resume(tmp_path / "a" / "b.jsonl", Program) == (program, program)
    assert rewrite(tmp_path / "a" / "b.jsonl", [program]) == 1
    assert list(read(tmp_path / "a" / "b.jsonl", Program)) == [program]
