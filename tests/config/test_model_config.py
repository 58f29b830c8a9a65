"""Configuration: which file, what goes before what, and one clear line for everything that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pyvision.config.files import data_folder
from pyvision.config.model_config import (
    TABLES,
    ModelConfig,
    is_local,
    load_model_config,
    load_shipped,
)
from pyvision.errors import ConfigError

KEY = "sk-very-secret-0123456789"
KEYED = {"OPENAI_API_KEY": KEY}
EVERY_KEY = {
    "OPENAI_API_KEY": KEY,
    "OPENROUTER_API_KEY": KEY,
    "ANTHROPIC_API_KEY": KEY,
    "GEMINI_API_KEY": KEY,
    "GOOGLE_CLOUD_PROJECT": "project",
    "AZURE_OPENAI_API_KEY": KEY,
    "AZURE_OPENAI_ENDPOINT": "https://resource.openai.azure.com",
}


def write_file(folder: Path, **content: Any) -> Path:
    path = folder / "model.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def refused(
    name: str | None = None, file: Path | None = None, environ: Mapping[str, str] = MappingProxyType({})
) -> str:
    with pytest.raises(ConfigError) as caught:
        load_model_config(name, file, environ)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("variable", "value"), [("PYVISION_REASONING", "max"), ("PYVISION_DETAIL", "huge")])
def test_a_choice_that_does_not_exist_is_refused_with_those_that_do(variable: str, value: str) -> None:
    said = refused("openai", environ=KEYED | {variable: value})
    assert f"is {value!r}; choose low, " in said


def test_detail_is_refused_for_an_api_without_it() -> None:
    said = refused("anthropic", environ={"ANTHROPIC_API_KEY": KEY, "PYVISION_DETAIL": "low"})
    assert "detail 'low' is not a setting of wire 'anthropic'; leave it out" in said


def test_reasoning_comes_from_the_environment() -> None:
    assert load_model_config("openai", None, KEYED | {"PYVISION_REASONING": "off"}).reasoning == "off"


# --- which model


SHIPPED = sorted({path.stem for path in data_folder("api_configs").glob("*.json")} - {*TABLES})
WIRES = {name: name for name in ("offline", "anthropic", "gemini", "local", "responses")}
WIRES |= {"gemini-interactions": "interactions", "openai": "responses", "vertex": "gemini"}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_configuration_loads(name: str) -> None:
    config = load_model_config("local:folder" if name == "local" else name, None, EVERY_KEY)
    assert config.wire == WIRES.get(name, "openai")
    assert config.wire == "offline" or config.model


def test_the_rows_that_people_ask_for_are_there() -> None:
    named = {
        "openai",
        "openai-chat",
        "responses",
        "azure",
        "anthropic",
        "vllm",
        "ollama",
        "llamacpp",
        "sglang",
        "litellm",
    }
    google = {"gemini", "gemini-interactions", "vertex"}
    assert named | google | {"local", "openrouter", "offline"} == set(SHIPPED)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_beside_the_configurations_is_not_listed_as_one(table: str) -> None:
    assert (data_folder("api_configs") / f"{table}.json").is_file()
    assert "unknown model" in refused(table)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ofline", "offline"),
        ("opnai:gpt-4.1", "openai"),
        ("openai:", "openai"),
        ("gpt-4.1", "openai:gpt-4.1"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("gemini-2.5-pro", "gemini:gemini-2.5-pro"),
    ],
)
def test_an_unknown_model_gets_the_nearest_name(name: str, meant: str) -> None:
    assert refused(name) == f"unknown model {name!r}; did you mean {meant!r}?"


def test_without_anything_the_model_is_offline() -> None:
    assert load_model_config(None, None, {}).wire == "offline"


def test_an_empty_key_is_no_key() -> None:
    assert load_model_config(None, None, {"OPENAI_API_KEY": " "}).wire == "offline"


def test_a_key_in_the_environment_chooses_openai() -> None:
    config = load_model_config(None, None, KEYED)
    assert (config.wire, config.model, config.api_key) == ("responses", load_shipped("openai").model, KEY)


@pytest.mark.parametrize(
    ("name", "address", "wire"),
    [
        ("openai", None, "responses"),
        ("openai:gpt-4.1", "https://eu.api.openai.com/v1", "responses"),
        ("openai", "https://api.openai.com.example.org/v1", "openai"),
        ("openai:qwen", "http://127.0.0.1:8000/v1", "openai"),
        ("openai-chat", None, "openai"),
        ("responses", "http://127.0.0.1:8000/v1", "responses"),
    ],
)
def test_openai_is_asked_over_responses_unless_another_server_is_named(
    name: str, address: str | None, wire: str
) -> None:
    environ = KEYED | ({"PYVISION_BASE_URL": address} if address else {})
    assert load_model_config(name, None, environ).wire == wire


def test_the_environment_names_the_model() -> None:
    assert load_model_config(None, None, {"PYVISION_MODEL": "ollama:a:b"}).model == "a:b"


def test_a_flag_goes_before_the_environment() -> None:
    assert load_model_config("offline", None, {"PYVISION_MODEL": "ollama", **KEYED}).wire == "offline"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai:gpt-5.1", "gpt-5.1"),
        ("vllm:Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("ollama:qwen2.5vl:7b-q4", "qwen2.5vl:7b-q4"),
    ],
)
def test_a_model_id_follows_the_first_colon(name: str, model: str) -> None:
    assert load_model_config(name, None, KEYED).model == model


@pytest.mark.parametrize("name", ["mistral-large", "", "../api_configs/openai", "x" * 300])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    message = refused(name)
    assert "ollama, openai, openai-chat, openrouter, responses, sglang, vertex, vllm" in message
    assert "NAME:MODEL-ID" in message


def test_the_offline_reasoner_takes_no_model_id() -> None:
    assert "takes no model id" in refused("offline:big")


# --- precedence


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    file = write_file(
        tmp_path, wire="openai", model="m", base_url="http://127.0.0.1:1/v1", temperature=0.1, timeout_s=5
    )
    environ = {
        "PYVISION_BASE_URL": "http://127.0.0.1:2/v1",
        "PYVISION_TEMPERATURE": "0.7",
        "PYVISION_MAX_TOKENS": "50",
        "PYVISION_TIMEOUT_S": "9.5",
        "PYVISION_RETRY_S": "3",
        "PYVISION_API_KEY": KEY,
    }
    config = load_model_config(None, file, environ)
    assert config == ModelConfig(
        "openai",
        "m",
        "http://127.0.0.1:2/v1",
        KEY,
        temperature=0.7,
        max_tokens=50,
        timeout_s=9.5,
        retry_s=3.0,
    )
    assert load_model_config(None, file, {}).temperature == 0.1


def test_the_openai_address_is_used_if_the_file_has_no_address() -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    assert load_model_config("openai", None, environ).base_url == "http://127.0.0.1:9/v1"
    assert load_model_config("vllm", None, environ).base_url == "http://127.0.0.1:8000/v1"


def test_an_empty_variable_is_not_set() -> None:
    environ = {"OPENAI_BASE_URL": "", "PYVISION_TEMPERATURE": "", "PYVISION_MODEL": "", **KEYED}
    config = load_model_config(None, None, environ)
    assert (config.base_url, config.temperature) == (None, None)


@pytest.mark.parametrize("variable", ["PYVISION_TEMPERATURE", "PYVISION_MAX_TOKENS", "PYVISION_TIMEOUT_S"])
def test_a_variable_that_is_not_a_number_is_named(variable: str) -> None:
    assert f"{variable} is 'warm', not a number" in refused("ollama", environ={variable: "warm"})


def test_variables_for_endpoints_do_not_disturb_the_offline_reasoner() -> None:
    assert load_model_config("offline", None, {"PYVISION_TEMPERATURE": "warm"}) == ModelConfig("offline")


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:80/v1", True),
        (None, False),
        ("https://127.example.org", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_only_this_machine_is_local(url: str | None, local: object) -> None:
    assert is_local(url) is local


def test_the_anthropic_key_alone_chooses_anthropic() -> None:
    assert load_model_config(None, None, {"ANTHROPIC_API_KEY": KEY}).wire == "anthropic"
    assert load_model_config(None, None, EVERY_KEY).wire == "responses"


def test_the_gemini_key_alone_chooses_gemini() -> None:
    config = load_model_config(None, None, {"GEMINI_API_KEY": KEY})
    assert (config.wire, config.keys) == ("gemini", (KEY,))


def test_the_other_name_of_the_gemini_key_is_read_too() -> None:
    assert load_model_config("gemini", None, {"GOOGLE_API_KEY": KEY}).keys == (KEY,)
    assert load_model_config(None, None, {"GOOGLE_API_KEY": KEY}).wire == "offline"


def test_the_anthropic_address_is_used_if_the_file_has_no_address() -> None:
    environ = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "OPENAI_BASE_URL": "http://127.0.0.1:8/v1"}
    assert load_model_config("anthropic", None, environ).base_url == "http://127.0.0.1:9"
    assert load_model_config("responses", None, environ).base_url == "http://127.0.0.1:8/v1"


def test_azure_is_found_in_its_own_variables() -> None:
    config = load_model_config("azure:my-deployment", None, EVERY_KEY)
    assert (config.model, config.address) == ("my-deployment", "https://resource.openai.azure.com")
    assert config.api_version


# --- the configurations of upstream PyVision, as they are


@pytest.mark.parametrize("base_url", ["https://api.openai.com/v1", "http://127.0.0.1:8000/v1"])
def test_a_configuration_file_of_upstream_is_read_as_it_is(tmp_path: Path, base_url: str) -> None:
    config = load_model_config(None, write_file(tmp_path, api_key=["one", "two"], base_url=base_url), {})
    assert (config.wire, config.model, config.base_url) == ("openai", "gpt-4.1", base_url)
    assert (config.keys, config.api_version) == (("one", "two"), None)


def test_upstreams_azure_file_is_taken_as_it_is(tmp_path: Path) -> None:
    file = write_file(
        tmp_path, azure_openai_api_key=["one"], azure_openai_endpoint="https://resource.openai.azure.com"
    )
    config = load_model_config(None, file, {})
    assert (config.wire, config.base_url, config.keys) == (
        "openai",
        "https://resource.openai.azure.com",
        ("one",),
    )
    assert config.api_version


def test_an_upstream_file_gets_its_model_from_the_environment(tmp_path: Path) -> None:
    file = write_file(tmp_path, api_key=["none"], base_url="http://127.0.0.1:8000/v1")
    config = load_model_config(None, file, {"PYVISION_MODEL_ID": "Qwen/Qwen2.5-VL-7B-Instruct"})
    assert config.model == "Qwen/Qwen2.5-VL-7B-Instruct"


# --- files that cannot be used


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "not JSON at line 1 column 1"),
        ('{\n  "wire": openai\n}', "not JSON at line 2 column 11"),
        ("[1]", "holds a list, not an object"),
        ("3", "holds a int, not an object"),
        ('{"wire": "openai", "modle": "m"}', "unknown key 'modle'; did you mean 'model'?"),
        ('{"model": "m"}', "wire: field required"),
        ('{"wire": "telegraph", "model": "m"}', "wire: input should be 'openai', 'responses'"),
        ('{"wire": "openai", "model": 3}', "model: input should be a valid string"),
        (
            '{"wire": "openai", "model": "m", "temperature": "hot"}',
            "temperature: input should be a valid number",
        ),
        (
            '{"wire": "openai", "model": "m", "max_tokens": 1.5}',
            "max_tokens: input should be a valid integer",
        ),
        ('{"wire": "openai", "model": "m", "max_tokens": 0}', "max_tokens is 0; it must be above 0"),
        ('{"wire": "openai", "model": "m", "timeout_s": NaN}', "timeout_s is nan"),
        ('{"wire": "openai", "model": "m", "temperature": -1}', "temperature is -1.0"),
        ('{"wire": "openai", "model": "m", "base_url": "localhost:8000"}', "is not an address such as"),
        ('{"wire": "openai", "model": "m", "base_url": "http://[::1"}', "is not an address such as"),
        ('{"wire": "openai", "model": "m", "base_url": "http://h:x/v1"}', "is not an address such as"),
        ('{"wire": "openai"}', "wire 'openai' needs 'model'"),
        ('{"wire": "replayed"}', "wire 'replayed' needs 'file'"),
        (
            f'{{"wire": "openai", "model": "m", "api_key": {{"{KEY}": 1}}}}',
            "api_key: input should be a valid string",
        ),
        (
            f'{{"wire": "openai", "model": "m", "api_key": ["{KEY}", 3]}}',
            "api_keys.1: input should be a valid string",
        ),
        (
            '{"wire": "openai", "model": "m", "requests_per_minute": 0}',
            "requests_per_minute is 0.0; it must be above 0",
        ),
        (
            '{"wire": "openai", "model": "m", "api_version": "1"}',
            "needs the address of the resource as base_url",
        ),
        ('{"wire": "openai", "model": "m", "base_url_env": "NO_URL"}', "no address is set; set NO_URL"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_line(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(content)
    message = refused(file=path)
    assert expected in message
    assert message.startswith(str(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "none.json: cannot be read (No such file or directory)" in refused(file=tmp_path / "none.json")


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    assert "cannot be read (Is a directory)" in refused(file=tmp_path)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(b"\x89PNG\r\n\xff")
    assert "not UTF-8 text" in refused(file=tmp_path / "model.json")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(b'\xef\xbb\xbf{"wire": "offline"}')
    assert load_model_config(None, tmp_path / "model.json", {}).wire == "offline"


def test_a_file_beside_the_configuration_is_found_from_anywhere(tmp_path: Path) -> None:
    config = load_model_config(None, write_file(tmp_path, wire="replayed", file="talk.jsonl"), {})
    assert config.file == tmp_path / "talk.jsonl"
