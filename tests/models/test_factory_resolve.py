from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.config.profiles import Profile, write_profile
from pyvision.models.factory import resolve_model
from pyvision.models.scripted import Scripted

URL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def a_config(folder: Path, **keys: object) -> Path:
    file = folder / "model.json"
    file.write_text(
        json.dumps({"wire": "openai", "model": "tiny", "base_url": URL, **keys}), encoding="utf-8"
    )
    return file


def test_what_the_doctor_found_out_is_obeyed(tmp_path: Path) -> None:
    file = a_config(tmp_path)
    assert resolve_model(None, file).accepts.pictures == 100
    write_profile(Profile("openai", URL, "tiny", refused=("temperature",), pictures=4, honours_stop=False))
    player = resolve_model(None, file)
    assert player.accepts.pictures == 4
    assert (player.described["refused"], player.described["stop"]) == (("temperature",), False)


def test_a_profile_never_raises_a_limit(tmp_path: Path) -> None:
    write_profile(Profile("openai", URL, "tiny", pictures=400))
    assert resolve_model(None, a_config(tmp_path)).accepts.pictures == 100


def test_every_key_is_a_secret_and_none_is_described(tmp_path: Path) -> None:
    player = resolve_model(None, a_config(tmp_path, api_key=["first-key", "second-key"]))
    assert set(player.secrets) == {"first-key", "second-key"}
    assert "first-key" not in repr(player)
    assert "second-key" not in repr(player)


def test_a_model_of_the_callers_is_the_callers_to_close() -> None:
    model = Scripted([])
    assert not resolve_model(model).is_ours
    assert resolve_model("offline").is_ours


def test_the_rule_based_model_is_known_as_such() -> None:
    assert resolve_model("offline").is_offline


def test_another_model_of_the_same_name_is_not_rule_based() -> None:
    assert not resolve_model(Scripted([], name="offline")).is_offline
