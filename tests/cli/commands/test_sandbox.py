from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.cli import main


@pytest.mark.slow
def test_the_sandbox_is_checked_as_by_its_own_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "check", "--topic", "environment", "--json"]) == 0
    message = json.loads(capsys.readouterr().out)
    assert message["escaped"] == []
    assert {each["topic"] for each in message["attacks"]} == {"environment"}


def test_a_machine_without_isolation_is_exit_code_5(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sandbox.isolation.landlock.landlock_abi", lambda: -1)
    assert main(["sandbox", "check", "--topic", "environment"]) == 5
    assert "bubblewrap" in capsys.readouterr().err


def test_windows_is_answered_with_what_works_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert main(["sandbox", "check"]) == 5
    assert capsys.readouterr().err.splitlines() == [
        "pyvision: Windows is supported only through WSL2; install and run PyVision there"
    ]


@pytest.mark.parametrize(
    "command",
    [
        "run --image examples/circles.png --question Why? --model offline --out {}/run",
        "bench run synthetic/squares --limit 1 --model offline --out {}/bench",
        "vdebugger generate synthetic/squares --limit 1 --model offline --out {}/programs",
        pytest.param("demo --port 0 --model offline --out {}/demo", marks=pytest.mark.slow),
    ],
)
def test_a_command_without_isolation_is_exit_code_5(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert main(command.format(tmp_path).split()) == 5
    assert "cells need Linux" in capsys.readouterr().err
