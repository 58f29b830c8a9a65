from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pyvision.config.endpoints import Profile, write_profile
from pyvision.config.model_config import ModelConfig
from pyvision.errors import ConfigError, MissingExtra, MissingKey, ModelError
from pyvision.models.factory import build, resolve_model
from pyvision.models.listing import ListedModel, LocalEndpoint
from pyvision.models.recording import RecordingModel
from pyvision.models.retry import RetryingModel
from pyvision.models.scripted import Scripted
from pyvision.models.streaming import close_model
from pyvision.types import Message, Sampling, Text
from tests.servers.chat import ChatServer, failure
from tests.servers.faults import Plan
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, configured

HELLO = (Message("user", (Text("hello"),)),)


def test_an_endpoint_is_asked_again_after_a_failure_worth_it() -> None:
    with ChatServer([failure(503, "busy", {"retry-after-ms": "1"}), "hi"]) as server:
        model = build(ModelConfig("openai", model="m", base_url=server.base_url))
        assert isinstance(model, RetryingModel)
        assert (model.name, model.complete(HELLO, Sampling()).text) == ("m", "hi")
        close_model(model)


def test_the_retry_budget_of_the_configuration_is_kept() -> None:
    with ChatServer([failure(503, "busy", {"Retry-After": "9"}), "hi"]) as server:
        model = build(ModelConfig("openai", model="m", base_url=server.base_url, retry_s=1.0))
        with pytest.raises(ModelError, match="503"):
            model.complete(HELLO, Sampling())
        close_model(model)


@pytest.mark.parametrize("wire", ["openai", "responses", "anthropic", "gemini", "offline", "scripted"])
def test_a_built_model_can_be_closed(wire: str) -> None:
    model = build(ModelConfig(wire, model="m"))  # type: ignore[arg-type]
    model.close()
    model.close()


@pytest.mark.parametrize("wire", list(WIRES))
def test_every_wire_is_built_with_retries_around_it(wire: str) -> None:
    with ModelServer(["hi"], weather=Plan(["429 retry-after"])) as server:
        model = build(configured(wire, server))
        assert model.complete(HELLO, Sampling()).text == "hi"
        model.close()


def test_the_limits_of_the_configuration_are_kept() -> None:
    with ModelServer(["one", "two"]) as server:
        model = build(configured("completions", server, requests_per_minute=1.0, retry_s=0.001))
        assert model.complete(HELLO, Sampling()).text == "one"
        with pytest.raises(ModelError, match="no time is left to wait for the rate limit"):
            model.complete(HELLO, Sampling(seconds=0.05))
        model.close()


def test_azure_is_asked_in_its_own_way() -> None:
    with ChatServer(["unused"]) as server:
        root = server.base_url.removesuffix("/v1")
        config = ModelConfig(
            "openai", "deployed", root, "azure-key-1", api_version="2024-10-21", retry_s=0.001
        )
        model = build(config)
        with pytest.raises(ModelError, match="no such path /openai/deployments/deployed/chat/completions"):
            model.complete(HELLO, Sampling())
        assert server.headers[0]["api-key"] == "azure-key-1"
        model.close()


def test_a_missing_sdk_is_one_line_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingExtra, match=r"pip install 'pyvision-agent\[anthropic\]'"):
        build(ModelConfig("anthropic", model="m"))


def test_a_script_comes_from_the_configuration() -> None:
    model = build(ModelConfig("scripted", replies=("one",)))
    assert (model.name, model.complete(HELLO, Sampling()).text) == ("scripted", "one")


def test_a_script_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(json.dumps(["one"]))
    model = build(ModelConfig("scripted", file=tmp_path / "script.json", model="puppet"))
    assert (model.name, model.complete(HELLO, Sampling()).text) == ("puppet", "one")


@pytest.mark.parametrize("content", ["", '{"a": 1}', "[1]"])
def test_a_script_that_is_not_a_list_of_texts_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "script.json").write_text(content)
    with pytest.raises(ConfigError, match=r"script\.json"):
        build(ModelConfig("scripted", file=tmp_path / "script.json"))


def test_recorded_replies_are_played_back(tmp_path: Path) -> None:
    RecordingModel(Scripted(["one"]), tmp_path / "talk.jsonl").complete(HELLO, Sampling())
    model = build(ModelConfig("replayed", file=tmp_path / "talk.jsonl"))
    assert model.complete(HELLO, Sampling()).text == "one"


def test_recorded_replies_need_their_file() -> None:
    with pytest.raises(ConfigError, match="needs 'file'"):
        build(ModelConfig("replayed"))


def test_the_offline_reasoner_needs_nothing() -> None:
    assert build(ModelConfig("offline")).name == "offline"


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
    resolved = resolve_model(None, file)
    assert resolved.accepts.pictures == 4
    assert (resolved.described["refused"], resolved.described["stop"]) == (("temperature",), False)


def test_a_profile_never_raises_a_limit(tmp_path: Path) -> None:
    write_profile(Profile("openai", URL, "tiny", pictures=400))
    assert resolve_model(None, a_config(tmp_path)).accepts.pictures == 100


def test_every_key_of_a_model_is_a_secret(tmp_path: Path) -> None:
    resolved = resolve_model(None, a_config(tmp_path, api_key=["first-key", "second-key"]))
    assert set(resolved.secrets) == {"first-key", "second-key"}


def test_no_key_is_in_the_representation_of_a_model(tmp_path: Path) -> None:
    resolved = resolve_model(None, a_config(tmp_path, api_key=["first-key", "second-key"]))
    assert "first-key" not in repr(resolved)
    assert "second-key" not in repr(resolved)


def test_a_model_of_the_callers_is_the_callers_to_close() -> None:
    model = Scripted([])
    assert not resolve_model(model).is_ours
    assert resolve_model("offline").is_ours


def test_the_rule_based_model_is_known_as_such() -> None:
    assert resolve_model("offline").is_offline


def test_another_model_of_the_same_name_is_not_rule_based() -> None:
    assert not resolve_model(Scripted([], name="offline")).is_offline


def test_the_message_about_a_missing_key_names_what_runs_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = (LocalEndpoint("ollama", "http://127.0.0.1:11434/v1", (ListedModel("qwen3-vl:8b"),)),)
    monkeypatch.setattr("pyvision.models.listing.find_local", lambda: found)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(
        MissingKey, match=r"OPENAI_API_KEY.*running on this machine: --model ollama:qwen3-vl:8b$"
    ):
        resolve_model("openai")
