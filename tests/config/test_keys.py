"""Keys of endpoints: where they come from, and where they never appear."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from pyvision.config.model_config import (
    ModelConfig,
    load_model_config,
)
from pyvision.config.secret_fields import secrets, without_secrets
from tests.config.test_model_config import KEY, KEYED, refused, write_file


def test_a_hosted_endpoint_without_its_key_names_the_variable() -> None:
    assert "no key for https://api.openai.com/v1; set OPENAI_API_KEY" in refused("openai")


def test_the_message_about_a_missing_key_names_the_command_that_stores_one() -> None:
    assert "store it with 'pyvision keys set ANTHROPIC_API_KEY'" in refused("anthropic")


def test_a_local_endpoint_needs_no_key() -> None:
    config = load_model_config("openai", None, {"PYVISION_BASE_URL": "http://localhost:8000/v1"})
    assert config.api_key is None


def test_the_key_is_in_no_representation() -> None:
    config = load_model_config("openai", None, KEYED)
    assert config.api_key == KEY
    assert KEY not in repr(config) + str(config) + json.dumps(without_secrets(config))


def written_config() -> dict[str, object]:
    """What may be written of a configuration that has its key in every place."""
    config = ModelConfig(
        "openai",
        "m",
        f"https://user:{KEY}@example.org/v1?token={KEY}",
        KEY,
        extra_body={"seed": 1, "provider_key": KEY},
    )
    return without_secrets(config)


def test_what_may_be_written_contains_no_secret() -> None:
    assert KEY not in json.dumps(written_config())


def test_what_may_be_written_contains_what_was_set() -> None:
    found = written_config()
    assert found["base_url"] == "https://example.org/v1"
    assert found["extra_body"] == {"seed": 1, "provider_key": "(withheld)"}


def test_what_may_be_written_contains_no_default() -> None:
    assert "temperature" not in written_config()


def test_keys_in_a_list_are_all_used(tmp_path: Path) -> None:
    file = write_file(tmp_path, wire="openai", model="m", api_key=["one", "two", "one"])
    assert load_model_config(None, file, {}).keys == ("one", "two")


def test_keys_come_from_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# of the lab\none\n\n two \n")
    file = write_file(tmp_path, wire="anthropic", model="m", api_key_file="keys", api_key_env="A_KEY")
    assert load_model_config(None, file, {"A_KEY": "three"}).keys == ("one", "two")
    assert load_model_config(None, file, {"PYVISION_API_KEY": "four"}).keys == ("four",)


def test_a_key_file_that_is_missing_is_named(tmp_path: Path) -> None:
    file = write_file(tmp_path, wire="openai", model="m", api_key_file="keys")
    assert "keys: cannot be read" in refused(file=file)


MANY_SECRETS = ModelConfig(
    "openai",
    "m",
    "https://ann:hunter22@example.org/v1?token=abcdefgh&page=1",
    "key-one",
    api_keys=("key-two",),
    extra_body={"provider_key": "key-three", "seed": 1},
)


def test_every_key_is_a_secret() -> None:
    assert secrets(MANY_SECRETS) == ("key-one", "key-two", "hunter22", "abcdefgh", "key-three")


def test_no_secret_is_in_a_representation() -> None:
    shown = repr(replace(MANY_SECRETS, base_url=None, extra_body={}))
    shown += json.dumps(without_secrets(MANY_SECRETS))
    assert [secret for secret in secrets(MANY_SECRETS) if secret in shown] == []
