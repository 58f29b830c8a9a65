"""Programs are written, run and scored as the strategy does it; a folder records its collection."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.bench.samples import Sample
from pyvision.cli import main
from pyvision.errors import ConfigError, ModelError
from pyvision.experiments.vdebugger_training.dataset import Collection, attempts, keep, read_collection
from tests.doubles import png

COLLECTION = Collection("synthetic/discs", count=1, model="offline", metric="text:exact")
SAMPLE = Sample("1", "What colour is the image?", (png(60, 40, "red"),), "2")
HEAD = "def execute_command(image) -> str:\n"


def test_a_given_program_is_run_like_a_written_one() -> None:
    with attempts(COLLECTION) as attempt:
        written = attempt(SAMPLE)
        right = attempt(SAMPLE, HEAD + "    a = 1\n    return str(a + 1)")
        failing = attempt(SAMPLE, HEAD + "    return nobody")
        unreadable = attempt(SAMPLE, HEAD + "    return (")
    assert written.program.startswith(HEAD)
    assert written.task == "Given an image: What colour is the image?"
    assert (right.program, right.score, right.executed.result) == (
        HEAD + "    a = 1\n    return str(a + 1)",
        1.0,
        "2",
    )
    assert right.executed.trace is not None
    assert "New var:....... a = 1" in right.executed.trace
    assert failing.score == 0.0
    assert failing.executed.error is not None
    assert failing.executed.error.startswith("NameError")
    assert (unreadable.executed.trace, unreadable.score) == (None, 0.0)


def test_a_sample_with_an_invalid_image_is_unscored() -> None:
    with attempts(COLLECTION) as attempt:
        assert attempt(replace(SAMPLE, images=(b"none",))).score is None


def test_an_unreachable_model_ends_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    with attempts(replace(COLLECTION, roles={"coder": "vllm:none"})) as attempt, pytest.raises(ModelError):
        attempt(SAMPLE)


def test_a_folder_refuses_another_collection(tmp_path: Path) -> None:
    keep(COLLECTION, tmp_path)
    keep(replace(COLLECTION, limit=5), tmp_path)
    assert read_collection(tmp_path).limit == 5
    with pytest.raises(ConfigError, match="another seed"):
        keep(replace(COLLECTION, seed=1), tmp_path)


def test_an_unknown_strategy_option_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "generate",
        "synthetic/discs",
        "--out",
        str(tmp_path),
        "--model",
        "offline",
        "--set",
        "colour=1",
    ]
    assert main(["vdebugger", *arguments]) == 2
    assert "colour" in capsys.readouterr().err


def test_the_commands_generate_programs_then_break_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["generate", "synthetic/discs", "--count", "1", "--out", str(tmp_path), "--model", "offline"]
    assert main(["vdebugger", *arguments]) == 0
    assert main(["vdebugger", "inject", str(tmp_path), "--model", "offline"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{tmp_path}: 1 ")
    assert lines[1].startswith(f"{tmp_path}/injected-greedy.jsonl:")
