"""Which file decides what, and that a project's files cannot get at keys from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyvision.config.environment import (
    ADDRESSES,
    SourcedValue,
    environment,
    find_settings,
    find_variables,
)
from pyvision.config.model_config import _URL_VARIABLES, list_shipped, load_model_config, load_shipped
from pyvision.config.stored_keys import read_keys, write_keys
from pyvision.errors import ConfigError
from pyvision.tools.web.providers import PROVIDERS

REMOTE = "https://models.example.com/v1"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, in which we work in a folder below; and a user's folder, both empty."""
    (tmp_path / "project" / "below").mkdir(parents=True)
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("PYVISION_CONFIG", str(tmp_path / "user"))
    for name in ("OPENAI_API_KEY", "PYVISION_MODEL", "PYVISION_API_KEY", *ADDRESSES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "project" / "below")
    return tmp_path / "project"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dotenv_is_found_in_a_folder_above(project: Path) -> None:
    write(project / ".env", "OPENAI_API_KEY=abc\n")
    assert find_variables()["OPENAI_API_KEY"] == SourcedValue("abc", str(project / ".env"))


def test_the_environment_comes_before_every_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / ".env", "OPENAI_API_KEY=abc\n")
    monkeypatch.setenv("OPENAI_API_KEY", "own")
    assert find_variables()["OPENAI_API_KEY"] == SourcedValue("own", "environment")


def test_the_project_comes_before_the_users_folder(project: Path, tmp_path: Path) -> None:
    write(project / ".env", "OPENAI_API_KEY=theirs")
    write(tmp_path / "user" / ".env", "OPENAI_API_KEY=mine\nTAVILY_API_KEY=mine")
    assert [environment()[name] for name in ("OPENAI_API_KEY", "TAVILY_API_KEY")] == ["theirs", "mine"]


def test_a_stored_key_is_used(project: Path, tmp_path: Path) -> None:
    write_keys(tmp_path / "user" / "keys.json", {"OPENAI_API_KEY": "stored"})
    assert load_model_config("openai", None, environment()).api_key == "stored"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("OPENAI_API_KEY=abc", "abc"),
        ("export OPENAI_API_KEY = 'a b # c'", "a b # c"),
        ('OPENAI_API_KEY="abc"', "abc"),
        ("OPENAI_API_KEY=abc # mine", "abc"),
        ("# OPENAI_API_KEY=abc", None),
        ("OPENAI_API_KEY=", None),
    ],
)
def test_the_lines_of_a_dotenv_are_read_as_shells_do(project: Path, line: str, value: str | None) -> None:
    write(project / ".env", line)
    assert environment().get("OPENAI_API_KEY") == value


def test_variables_of_other_programs_are_left_alone(project: Path) -> None:
    write(project / ".env", "DATABASE_URL=postgres://x\nSECRET=1\nLD_PRELOAD=x")
    assert not {"DATABASE_URL", "SECRET", "LD_PRELOAD"} & {
        name for name, found in find_variables().items() if found.source != "environment"
    }


@pytest.mark.parametrize("name", sorted(ADDRESSES))
def test_a_projects_address_gets_no_key_from_elsewhere(
    project: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    write(project / ".env", f"{name}={REMOTE}")
    with pytest.raises(ConfigError, match=f"{name} would be sent a key from another source"):
        environment()


def test_a_projects_address_gets_the_projects_key_alone(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    write_keys(tmp_path / "user" / "keys.json", {"ANTHROPIC_API_KEY": "stored"})
    config = write(tmp_path / "model.json", '{"wire": "openai", "model": "m", "api_key": "inline"}')
    write(project / ".env", f"OPENAI_BASE_URL={REMOTE}\nOPENAI_API_KEY=theirs")
    found = environment()
    assert {load_model_config("openai", None, found).keys, load_model_config(None, config, found).keys} == {
        ("theirs",)
    }
    assert "ANTHROPIC_API_KEY" not in found


def test_a_projects_address_on_this_machine_is_used(project: Path) -> None:
    write(project / ".env", "OPENAI_BASE_URL=http://127.0.0.1:8000/v1")
    assert environment()["OPENAI_BASE_URL"] == "http://127.0.0.1:8000/v1"


def test_every_address_that_the_product_reads_is_guarded() -> None:
    shipped = {load_shipped(name).base_url_env for name in list_shipped()}
    search = {provider.address_variable for provider in PROVIDERS.values()}
    assert {*_URL_VARIABLES.values(), *shipped, *search, "PYVISION_BASE_URL"} - {None, ""} == ADDRESSES


def test_a_file_that_others_can_change_is_refused(project: Path) -> None:
    write(project / ".env", "OPENAI_API_KEY=abc").chmod(0o666)
    with pytest.raises(ConfigError, match="another user can change this file"):
        environment()


def test_keys_that_others_can_read_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "keys.json", "{}").chmod(0o644)
    with pytest.raises(ConfigError, match="run chmod 600"):
        read_keys(tmp_path / "keys.json")


def test_the_file_of_keys_is_for_its_user_only(tmp_path: Path) -> None:
    write_keys(tmp_path / "new" / "keys.json", {"A_API_KEY": "1"})
    assert (tmp_path / "new" / "keys.json").stat().st_mode & 0o777 == 0o600


def test_settings_of_the_project_come_before_the_users(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "user" / "pyvision.toml", 'strategy = "direct"\nmax_turns = 5')
    write(project / "pyvision.toml", "max_turns = 7")
    assert {name: found.value for name, found in find_settings().items()} == {
        "strategy": "direct",
        "max_turns": 7,
    }


def test_the_model_of_a_toml_file_is_the_default(project: Path) -> None:
    write(project / "pyvision.toml", 'model = "ollama"')
    assert environment()["PYVISION_MODEL"] == "ollama"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("max_turn = 3", "unknown setting 'max_turn'; did you mean 'max_turns'?"),
        ("max_turns = -3", "max_turns is -3; it takes a positive integer"),
        ("max_turns = 2.5", "it takes a positive integer"),
        ("max_seconds = true", "it takes a positive number"),
        ("model = 3", "it takes text"),
        ("config = 'x.json'", "unknown setting 'config'"),
        ("model", "not TOML"),
    ],
)
def test_a_setting_that_cannot_be_used_names_its_file(project: Path, text: str, why: str) -> None:
    file = write(project / "pyvision.toml", text)
    with pytest.raises(ConfigError) as caught:
        find_settings()
    assert str(caught.value).startswith(f"{file}: ")
    assert why in str(caught.value)


def test_no_file_is_read_if_the_user_says_so(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYVISION_CONFIG", "none")
    write(project / ".env", "OPENAI_API_KEY=abc")
    write(project / "pyvision.toml", "broken")
    assert (find_settings(), environment()) == ({}, {n: v for n, v in os.environ.items() if v.strip()})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_file_is_read_or_refused_in_one_line(project: Path, data: bytes) -> None:
    (project / ".env").write_bytes(data)
    (project / "pyvision.toml").write_bytes(data)
    for read in (environment, find_settings):
        assert "\n" not in complaint(read)


def complaint(read: Callable[[], object]) -> str:
    try:
        read()
    except ConfigError as error:
        return str(error)
    return ""
