"""Each program is generated and broken once, also after interruptions, and recorded with its label."""

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
    ScoredProgram,
    append,
    read,
    resume,
    rewrite,
)

RIGHT = "def execute_command(image) -> str:\n    return 'two'"
SAMPLES = tuple(Sample(str(number), "How many?", (), "two") for number in range(3))
BY_ID = {sample.id: sample for sample in SAMPLES}


def infill_six(asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
    return [masked.program.replace("two", "six") for _, masked in asked]


class Writer:
    """Writes correct programs except for the named samples; raises an error after so many."""

    def __init__(self, wrong: str = "", limit: int = 99) -> None:
        self.wrong, self.remaining = wrong, limit

    def __call__(self, sample: Sample, program: str | None = None) -> ScoredProgram:
        if program is None:
            program = self._write(sample)
        names: dict[str, Any] = {}
        exec(program, names)
        result = str(names["execute_command"](None))
        return ScoredProgram(
            sample.id, sample.text, program, Executed(result, "TRACE"), float(result == sample.target)
        )

    def _write(self, sample: Sample) -> str:
        if not self.remaining:
            raise ModelError("gone")
        self.remaining -= 1
        return RIGHT.replace("two", "ten") if sample.id in self.wrong else RIGHT


def make_pipeline(folder: Path, wrong: str = "", limit: int = 99) -> Pipeline:
    return Pipeline(Writer(wrong, limit), folder)


def collect(folder: Path, wrong: str = "") -> None:
    generate(SAMPLES, make_pipeline(folder, wrong))


def test_each_program_is_recorded_with_its_execution(tmp_path: Path) -> None:
    counts = generate(SAMPLES, make_pipeline(tmp_path, wrong="1"))
    assert counts == {"right": 2, "wrong": 1}
    first, second, _ = read(tmp_path / PROGRAMS, ScoredProgram)
    assert first == ScoredProgram("0", "How many?", RIGHT, Executed("two", "TRACE"), 1.0)
    assert (second.executed.result, second.score) == ("ten", 0.0)


def test_an_interrupted_generation_is_resumed(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        generate(SAMPLES, make_pipeline(tmp_path, limit=2))
    with (tmp_path / PROGRAMS).open("ab") as file:
        file.write(b'{"id": "2", "tas')  # a partial line
    assert generate(SAMPLES, make_pipeline(tmp_path, limit=1)) == {"right": 3}
    assert [program.id for program in read(tmp_path / PROGRAMS, ScoredProgram)] == ["0", "1", "2"]


def test_an_infill_that_was_changed_before_it_ran_is_refused(tmp_path: Path) -> None:
    def attempt(sample: Sample, program: str | None = None) -> ScoredProgram:
        return Writer()(sample, program and program + "  # signed")

    collect(tmp_path)
    counts = inject(BY_ID, infill_six, Pipeline(attempt, tmp_path), InjectionConfig())
    assert counts == {"refused": 3}


def test_a_broken_program_is_recorded_with_the_span_of_its_error(tmp_path: Path) -> None:
    collect(tmp_path)
    how = InjectionConfig("mask_best", attempts=4)
    inject(BY_ID, infill_six, make_pipeline(tmp_path), how)
    wrong = [each for each in read(tmp_path / how.file, Injected) if each.fate == "wrong"]
    assert len(wrong) == 12
    assert {each.program[slice(*each.span)] for each in wrong} == {"'six'", "return 'six'"}
    assert all(MASK in each.masked and each.executed.result == "six" for each in wrong)


def test_only_correct_programs_are_broken(tmp_path: Path) -> None:
    collect(tmp_path, wrong="12")
    counts = inject(BY_ID, lambda asked: ["" for _ in asked], make_pipeline(tmp_path), InjectionConfig())
    assert sum(counts.values()) == 1


def test_only_an_infill_that_changes_the_program_is_accepted(
    tmp_path: Path,
) -> None:
    collect(tmp_path)
    infills = iter([RIGHT, RIGHT.replace("'two'", "'t' + 'wo'"), "prose"])
    how = InjectionConfig(at_once=1)
    counts = inject(BY_ID, lambda asked: [next(infills) for _ in asked], make_pipeline(tmp_path), how)
    assert counts == {"refused": 2, "right": 1}
    reasons = [each.why for each in read(tmp_path / how.file, Injected) if each.why]
    assert ["equals the masked code" in reasons[0], "parse" in reasons[1] or "more than" in reasons[1]] == [
        True,
        True,
    ]


def test_an_interrupted_injection_is_resumed_with_the_same_masks(tmp_path: Path) -> None:
    collect(tmp_path)
    seen: list[str] = []

    def infill(asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
        if len(seen) == 2:
            raise ModelError("gone")
        seen.extend(masked.text for _, masked in asked)
        return ["" for _ in asked]

    how = InjectionConfig(attempts=2, at_once=2)
    with pytest.raises(ModelError):
        inject(BY_ID, infill, make_pipeline(tmp_path), how)
    inject(BY_ID, lambda asked: ["" for _ in asked], make_pipeline(tmp_path), how)
    done = list(read(tmp_path / how.file, Injected))
    assert [(each.of, each.attempt) for each in done] == [(str(n), a) for a in range(2) for n in range(3)]
    assert [each.masked for each in done[:2]] == seen


def test_both_decodings_fill_the_same_masks(tmp_path: Path) -> None:
    collect(tmp_path)
    ways = [InjectionConfig("greedy", attempts=3), InjectionConfig("mask_best", attempts=3)]
    for how in ways:
        inject(BY_ID, lambda asked: ["" for _ in asked], make_pipeline(tmp_path), how)
    first, second = ([each.masked for each in read(tmp_path / how.file, Injected)] for how in ways)
    assert first == second


def test_an_invalid_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"id": "1"}\n')
    with pytest.raises(ConfigError, match=r"lines\.jsonl: line 1: task"):
        list(read(path, ScoredProgram))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="check the path"):
        list(read(tmp_path / "none.jsonl", ScoredProgram))


def test_lines_are_read_as_they_were_write(tmp_path: Path) -> None:
    program = ScoredProgram("é", "q", "p\n\u2028", Executed(None, None, "e"), None)
    assert append(tmp_path / "a" / "b.jsonl", [program, program]) == 2
    assert resume(tmp_path / "a" / "b.jsonl", ScoredProgram) == (program, program)
    assert rewrite(tmp_path / "a" / "b.jsonl", [program]) == 1
    assert list(read(tmp_path / "a" / "b.jsonl", ScoredProgram)) == [program]
