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
        "pyvision: Windows is supported through WSL2 alone; install and run pyvision there"
    ]


@pytest.mark.slow
def test_a_demo_without_isolation_is_exit_code_5(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert main(["demo", "--port", "0", "--model", "offline", "--out", str(tmp_path)]) == 5
    assert capsys.readouterr().err.startswith("pyvision demo: cells need Linux")
