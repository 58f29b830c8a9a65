"""`pyvision models`, from the command line."""

from __future__ import annotations

import json
import os

import pytest

from pyvision.cli.flags import find_offline_hint
from pyvision.models.listing import ListedModel, LocalEndpoint
from tests.cli.conftest import Command
from tests.servers.server import ModelServer

KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.endswith(("_API_KEY", "_BASE_URL", "_MASTER_KEY")) or name == "PYVISION_MODEL":
            monkeypatch.delenv(name)


def test_what_is_set_is_shown_without_its_value(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    done = command("models")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line}
    assert "OPENAI_API_KEY (set)" in rows["openai"]
    assert "GEMINI_API_KEY or GOOGLE_API_KEY (not set)" in rows["gemini"]
    assert "without --model: openai" in done.stdout
    assert KEY not in done.stdout


def test_a_model_in_this_process_needs_its_folder(command: Command) -> None:
    rows = {line.split()[0]: line for line in command("models").stdout.splitlines() if line}
    assert rows["local"].split(maxsplit=1)[1].strip() == "a folder with a checkpoint (local:FOLDER)"


def test_vertex_needs_a_project_beside_a_login(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")
    (row,) = (line for line in command("models").stdout.splitlines() if line.startswith("vertex "))
    assert "GOOGLE_CLOUD_PROJECT (set); gcloud auth application-default login, or a key file" in row
    assert "my-project" not in row


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each search for the servers of this machine, which finds one."""
    done: list[str] = []

    def find() -> tuple[LocalEndpoint, ...]:
        done.append("searched")
        return (LocalEndpoint("ollama", "http://127.0.0.1:11434/v1", (ListedModel("qwen3-vl:8b"),)),)

    monkeypatch.setattr("pyvision.models.listing.find_local", find)
    return done


def test_a_run_without_a_model_names_what_runs_on_this_machine(searches: list[str]) -> None:
    assert find_offline_hint(None, None) == "running on this machine: --model ollama:qwen3-vl:8b"


@pytest.mark.parametrize("variable", ["PYVISION_MODEL", "OPENAI_API_KEY"])
def test_a_run_with_a_model_searches_for_no_servers(
    searches: list[str], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "offline")
    assert (find_offline_hint(None, None), searches) == ("", [])


def test_offline_as_a_choice_searches_for_no_servers(searches: list[str]) -> None:
    assert (find_offline_hint("offline", None), searches) == ("", [])


def test_programs_get_the_same_as_json(command: Command) -> None:
    message = json.loads(command("models", "--json").stdout)
    providers = {provider["name"]: provider for provider in message["providers"]}
    assert message["default"] == "offline"
    assert providers["anthropic"]["needs"] == {"ANTHROPIC_API_KEY": False}
    assert providers["offline"]["needs"] == {}


def test_the_models_of_an_endpoint_are_listed_as_the_flag_takes_them(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer([], models={"data": [{"id": "a"}, {"id": "b", "capabilities": ["vision"]}]}) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = command("models", "--list", "openai")
    assert (done.returncode, done.stdout) == (0, "openai:a\nopenai:b  sees images\n")


def test_a_model_without_an_endpoint_has_no_list(command: Command) -> None:
    done = command("models", "--list", "offline")
    assert done.returncode == 2
    assert "--list 'offline': this model has no endpoint" in done.stderr


def test_a_list_that_cannot_be_had_is_exit_code_4(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    done = command("models", "--list", "openai")
    assert done.returncode == 4
    assert "cannot be asked for its models" in done.stderr
