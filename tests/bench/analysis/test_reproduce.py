"""The command that a report prints makes the same experiment: the same fingerprint."""

from __future__ import annotations

import json
import shlex
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.analysis.reproduce import name_of, reproduce_command, what_it_needs
from pyvision.bench.experiment import configuration
from pyvision.cli.bench_run import plan_of
from pyvision.cli.main import _parser

SET = ("synthetic/lines", "--count", "5", "--seed", "3", "--model", "offline")


def fingerprint(words: list[str]) -> dict[str, Any]:
    command = ["bench", "run", *words]
    plan = plan_of(_parser(command).parse_args(command))
    task = plan.task()
    with closing(task):
        return configuration(plan, task)


def again(found: dict[str, Any]) -> dict[str, Any]:
    """The fingerprint of the command that stands in the report."""
    words = shlex.split(reproduce_command(found))
    assert words[:5] == ["python", "-m", "pyvision", "bench", "run"]
    return fingerprint(words[5:])


@pytest.mark.parametrize(
    "words",
    [
        SET,
        (*SET, "--strategy", "direct", "--limit", "3", "--repeat", "2"),
        (*SET, "--ablation", "not_run"),
        (*SET, "--ablation", "direct"),
        (*SET, "--ablation", "swapped", "--swap-from", "some/where/donors of mine"),
        (*SET, "--strategy", "bdog", "--role", "opponent=offline"),
        (*SET, "--strategy", "bdog", "--set", "rounds=1"),
        (*SET, "--max-turns", "7", "--max-pictures", "4", "--cell-timeout", "12.5"),
    ],
)
def test_the_printed_command_gives_the_same_fingerprint(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = fingerprint(list(words))
    assert again(found) == found


def test_models_by_name_come_back_by_name_for_the_main_one_and_the_roles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    roles = ("--role", "solver=openai", "--role", "moderator=vllm:qwen")
    found = fingerprint([*SET[:-1], "openai:gpt-4.1-mini", "--strategy", "bdog", *roles])
    command = reproduce_command(found)
    assert "--model openai:gpt-4.1-mini" in command
    assert "--role moderator=vllm:qwen --role solver=openai " in command
    assert again(found) == found


def test_a_model_out_of_a_file_needs_that_file_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"wire": "scripted", "replies": ["A"]}), encoding="utf-8")
    found = fingerprint([*SET[:-2], "--config", str(file)])
    assert "--config MODEL.json" in reproduce_command(found)
    assert any("MODEL.json" in sentence for sentence in what_it_needs(found))


def test_a_role_whose_model_was_changed_by_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYVISION_TEMPERATURE", "0.3")
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    found = fingerprint([*SET, "--strategy", "bdog", "--role", "opponent=openai:gpt-4.1"])
    assert "--role opponent=openai:gpt-4.1" in reproduce_command(found)
    assert any("environment" in sentence for sentence in what_it_needs(found))
    assert again(found) == found  # in the same environment


def test_donors_and_files_are_named_as_needed(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(
        json.dumps({"id": "a", "question": "Which?", "images": [], "target": "A"}) + "\n", "utf-8"
    )
    found = fingerprint(
        [str(file), "--model", "offline", "--ablation", "swapped", "--swap-from", str(tmp_path / "d")]
    )
    needs = what_it_needs(found)
    assert "rows.jsonl is to lie here." in needs
    assert "d is the folder of the run whose figures were shown." in needs


def test_a_plain_experiment_needs_nothing() -> None:
    assert what_it_needs(fingerprint(list(SET))) == ()


@pytest.mark.parametrize(
    ("described", "name"),
    [
        ({"wire": "offline", "timeout_s": 300.0, "retry_s": 600.0}, "offline"),
        ({"name": "made by hand"}, None),
    ],
)
def test_a_model_has_a_name_when_a_shipped_file_gives_it(described: dict[str, Any], name: str | None) -> None:
    assert name_of(described) == name
