"""`pyvision doctor`, from the command line: what it prints, what it keeps, and its exit codes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Done
from tests.servers.capabilities import Capabilities
from tests.servers.eyes import Sighted
from tests.servers.server import ModelServer

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def doctor(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return partial(command, "doctor")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


def test_without_a_key_every_check_that_needs_no_key_runs(doctor: Command) -> None:
    done = doctor()
    assert (done.returncode, done.stderr) == (0, "")
    rows = {
        line.split("  ")[1]: line
        for line in done.stdout.splitlines()
        if line.startswith("  ") and line[2] != " "
    }
    assert " yes " in rows["isolation"]
    assert " yes " in rows["writes <code> cells"]
    assert " not applicable" in rows["box coordinates"]
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_the_profile_of_an_examined_endpoint_is_kept(doctor: Command, config: Path) -> None:
    can = Capabilities(pictures=5)
    with ModelServer(Sighted(can), can=can) as server:
        config.write_text(
            json.dumps({"wire": "openai", "model": "m", "base_url": server.base_url, "api_key": KEY})
        )
        done = doctor("--config", str(config), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    message = json.loads(done.stdout)
    assert message["profile"]["pictures"] == 5
    assert json.loads(Path(message["profile_file"]).read_text())["pictures"] == 5
    assert KEY not in done.stdout + Path(message["profile_file"]).read_text()


@pytest.fixture
def refused(doctor: Command, config: Path) -> Done:
    with ModelServer(Sighted(), can=Capabilities(keys=frozenset({"another"}))) as server:
        config.write_text(
            json.dumps({"wire": "openai", "model": "m", "base_url": server.base_url, "api_key": KEY})
        )
        return doctor("--config", str(config))


@pytest.mark.slow
def test_a_refused_key_is_exit_code_4(refused: Done) -> None:
    assert refused.returncode == 4
    assert "the key was refused (401)" in " ".join(refused.stdout.split())


@pytest.mark.slow
def test_a_refused_key_is_not_repeated(refused: Done) -> None:
    assert KEY not in refused.stdout + refused.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("refused")
def test_a_refused_key_leaves_no_profile(tmp_path: Path) -> None:
    assert not list((tmp_path / "cache" / "pyvision").glob("**/*.json"))


def test_a_machine_without_isolation_is_exit_code_5(doctor: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("sandbox.isolation.landlock.landlock_abi", lambda: -1)
    done = doctor("--model", "offline")
    assert done.returncode == 5
    assert "bubblewrap" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_wrong_configuration_is_exit_code_2(doctor: Command) -> None:
    done = doctor("--model", "nobody")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pyvision: unknown model 'nobody'")
