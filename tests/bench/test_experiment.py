"""The command that a report prints reproduces the configuration of the experiment."""

from __future__ import annotations

import json
import shlex
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.experiment import configuration, model_name_of, reproduce_command, reproduce_requirements
from pyvision.cli.bench.run import plan_of
from pyvision.cli.main import _parser

SET = ("synthetic/lines", "--count", "5", "--seed", "3", "--model", "offline")


def fingerprint(arguments: list[str]) -> dict[str, Any]:
    command = ["bench", "run", *arguments]
    plan = plan_of(_parser(command).parse_args(command))
    task = plan.task()
    with closing(task):
        return configuration(plan, task)


def again(found: dict[str, Any]) -> dict[str, Any]:
    """The configuration of the command in the report."""
    arguments = shlex.split(reproduce_command(found))
    assert arguments[:5] == ["python", "-m", "pyvision", "bench", "run"]
    return fingerprint(arguments[5:])


@pytest.mark.parametrize(
    "arguments",
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
def test_the_printed_command_gives_the_same_configuration(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = fingerprint(list(arguments))
    assert again(found) == found


def test_named_models_are_reproduced_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    roles = ("--role", "solver=openai", "--role", "moderator=vllm:qwen")
    found = fingerprint([*SET[:-1], "openai:gpt-4.1-mini", "--strategy", "bdog", *roles])
    command = reproduce_command(found)
    assert "--model openai:gpt-4.1-mini" in command
    assert "--role moderator=vllm:qwen --role solver=openai " in command
    assert again(found) == found


def test_a_model_from_a_file_requires_that_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"wire": "scripted", "replies": ["A"]}), encoding="utf-8")
    found = fingerprint([*SET[:-2], "--config", str(file)])
    assert "--config MODEL.json" in reproduce_command(found)
    assert any("MODEL.json" in sentence for sentence in reproduce_requirements(found))


def test_a_role_changed_by_the_environment_is_a_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYVISION_TEMPERATURE", "0.3")
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    found = fingerprint([*SET, "--strategy", "bdog", "--role", "opponent=openai:gpt-4.1"])
    assert "--role opponent=openai:gpt-4.1" in reproduce_command(found)
    assert any("environment" in sentence for sentence in reproduce_requirements(found))
    assert again(found) == found  # in the same environment


def test_the_requirements_name_files_to_provide(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(
        json.dumps({"id": "a", "question": "Which?", "images": [], "target": "A"}) + "\n", "utf-8"
    )
    found = fingerprint(
        [str(file), "--model", "offline", "--ablation", "swapped", "--swap-from", str(tmp_path / "d")]
    )
    needs = reproduce_requirements(found)
    assert "rows.jsonl must be in the current folder." in needs
    assert "d is the folder of the run whose figures were swapped in." in needs


def test_a_plain_experiment_has_no_requirements() -> None:
    assert reproduce_requirements(fingerprint(list(SET))) == ()


@pytest.mark.parametrize(
    ("described", "name"),
    [
        ({"wire": "offline", "timeout_s": 300.0, "retry_s": 600.0}, "offline"),
        ({"name": "made by hand"}, None),
    ],
)
def test_a_model_has_a_name_if_a_preset_describes_it(described: dict[str, Any], name: str | None) -> None:
    assert model_name_of(described) == name
