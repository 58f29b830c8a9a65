"""What the doctor found out comes back for the same endpoint and model, and for no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.config.profiles import Profile, apply_profile, endpoint_of, read_profile, write_profile

CONFIG = ModelConfig("openai", model="m", base_url="http://127.0.0.1:8000/v1", api_key="sk-secret-0123456789")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def profile(config: ModelConfig = CONFIG) -> Profile:
    return Profile(
        config.wire,
        endpoint_of(config),
        config.model or "",
        ("stop", "temperature"),
        True,
        False,
        5,
        20,
        "0-1",
    )


def test_a_profile_comes_back_as_it_was() -> None:
    write_profile(profile())
    assert read_profile(CONFIG) == profile()


def test_nothing_is_known_of_an_endpoint_that_was_not_examined() -> None:
    write_profile(profile())
    assert read_profile(replace(CONFIG, model="another")) is None
    assert read_profile(replace(CONFIG, base_url="http://127.0.0.1:8001/v1")) is None


def test_no_key_and_no_password_is_written(cache: Path) -> None:
    config = replace(CONFIG, base_url="http://ann:hunter22@127.0.0.1:8000/v1?token=abcdefgh")
    path = write_profile(profile(config))
    assert path is not None
    assert read_profile(config) == profile(config)
    written = "".join(file.read_text() for file in cache.rglob("*.json")) + str(path)
    assert not any(secret in written for secret in ("sk-secret", "hunter22", "abcdefgh"))


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "7", '{"version": 1}', '{"version": 9, "refused": []}', "\0"]
)
def test_a_damaged_profile_is_as_good_as_none(damage: str) -> None:
    path = write_profile(profile())
    assert path is not None
    path.write_text(damage)
    assert read_profile(CONFIG) is None


def test_a_newer_profile_takes_the_place_of_the_older_one(cache: Path) -> None:
    write_profile(profile())
    write_profile(replace(profile(), refused=()))
    assert read_profile(CONFIG) == replace(profile(), refused=())
    assert len([path for path in cache.rglob("*") if path.is_file()]) == 1


def test_a_cache_that_cannot_be_written_is_told_by_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert write_profile(profile()) is None


def test_what_was_refused_is_not_sent_and_what_was_ignored_is_not_relied_on() -> None:
    config = apply_profile(replace(CONFIG, refused=("seed", "stop")), profile())
    assert config.refused == ("seed", "stop", "temperature")
    assert (config.stream, config.stop) == (True, False)


def test_a_profile_turns_nothing_on_and_none_changes_nothing() -> None:
    config = replace(CONFIG, stream=False, stop=False)
    assert apply_profile(config, replace(profile(), honours_stop=True)).stream is False
    assert apply_profile(config, replace(profile(), honours_stop=True)).stop is False
    assert apply_profile(CONFIG, None) == CONFIG
