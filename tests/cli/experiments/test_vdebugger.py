"""The commands of `pyvision vdebugger`, from a dataset to a table, each with one clear line when it cannot go on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.cli import main
from pyvision.experiments.vdebugger_training.records import (
    Executed,
    Injected,
    ScoredProgram,
    TrainingExample,
    append,
    read,
)

RIGHT = ScoredProgram(
    "1", "How many?", "def execute_command(image):\n    return '2'", Executed("2", "TRACE"), 1.0
)
BROKEN = Injected(
    "1", "greedy", 0, "wrong", "", RIGHT.program.replace("2", "3"), (39, 42), Executed("3", "BROKEN")
)


def test_programs_with_errors_are_packed_into_training_examples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    append(tmp_path / "programs.jsonl", [RIGHT])
    append(tmp_path / "injected-greedy.jsonl", [BROKEN])
    append(tmp_path / "injected-mask_best.jsonl", [replace(BROKEN, decoding="mask_best", fate="right")])
    assert main(["vdebugger", "pack", str(tmp_path), "--held-out", "0"]) == 0
    assert f"{tmp_path}/lessons/critic/train.jsonl: 2 examples" in capsys.readouterr().out
    (example,) = read(tmp_path / "lessons" / "refiner" / "train.jsonl", TrainingExample)
    assert example.completion == "\n" + RIGHT.program


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pack", "{folder}"], "programs.jsonl: cannot be read"),
        (["inject", "{folder}", "--model", "offline"], "holds no programs"),
        (["evaluate"], "nothing to evaluate"),
        (["evaluate", "{folder}"], "holds no experiment"),
        (["evaluate", "--examples", "{folder}/x.jsonl"], "needs --model"),
        (
            ["train", "{folder}/none.jsonl", "--model", "m", "--out", "{folder}/o"],
            "none.jsonl: cannot be read",
        ),
        (
            ["train", "{folder}/none.jsonl", "--model", "m", "--out", "{folder}/o", "--set", "epochs"],
            "KEY=VALUE",
        ),
        (
            ["train", "{folder}/none.jsonl", "--model", "m", "--out", "{folder}/o", "--set", "colour=3"],
            "colour",
        ),
        (
            ["train", "x", "--model", "m", "--out", "o", "--recipe", "{folder}/r.json"],
            "r.json: cannot be read",
        ),
    ],
)
def test_invalid_arguments_are_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    given = [argument.format(folder=tmp_path) for argument in arguments]
    assert main(["vdebugger", *given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_mask_best_needs_a_local_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    about = {"dataset": "synthetic/discs", "count": 1}
    (tmp_path / "about.json").write_text(json.dumps(about))
    arguments = ["inject", str(tmp_path), "--model", "offline", "--decoding", "mask_best"]
    code = main(["vdebugger", *arguments])
    assert code == 2
    assert "--local" in capsys.readouterr().err
