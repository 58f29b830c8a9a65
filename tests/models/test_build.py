from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.config import ModelConfig
from pyvision.errors import ConfigError, ModelError
from pyvision.models.build import build
from pyvision.models.scripted import Scripted
from pyvision.models.wrappers import Recorded, Retried, close_model
from pyvision.types import Message, Sampling, Text
from tests.servers.chat import ChatServer, failure

HELLO = (Message("user", (Text("hello"),)),)


def test_an_endpoint_is_asked_again_after_a_failure_worth_it() -> None:
    with ChatServer([failure(503, "busy", {"retry-after-ms": "1"}), "hi"]) as server:
        model = build(ModelConfig("openai", model="m", base_url=server.base_url))
        assert isinstance(model, Retried)
        assert (model.name, model.complete(HELLO, Sampling()).text) == ("m", "hi")
        close_model(model)


def test_the_retry_budget_of_the_configuration_is_kept() -> None:
    with ChatServer([failure(503, "busy", {"Retry-After": "9"}), "hi"]) as server:
        model = build(ModelConfig("openai", model="m", base_url=server.base_url, retry_s=1.0))
        with pytest.raises(ModelError, match="503"):
            model.complete(HELLO, Sampling())
        close_model(model)


def test_a_script_comes_from_the_configuration() -> None:
    model = build(ModelConfig("scripted", replies=("one",)))
    assert (model.name, model.complete(HELLO, Sampling()).text) == ("scripted", "one")


def test_a_script_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(json.dumps(["one"]))
    model = build(ModelConfig("scripted", file=tmp_path / "script.json", model="puppet"))
    assert (model.name, model.complete(HELLO, Sampling()).text) == ("puppet", "one")


@pytest.mark.parametrize("content", ["", '{"a": 1}', "[1]"])
def test_a_script_that_is_no_list_of_texts_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "script.json").write_text(content)
    with pytest.raises(ConfigError, match=r"script\.json"):
        build(ModelConfig("scripted", file=tmp_path / "script.json"))


def test_recorded_replies_are_played_back(tmp_path: Path) -> None:
    Recorded(Scripted(["one"]), tmp_path / "talk.jsonl").complete(HELLO, Sampling())
    model = build(ModelConfig("replayed", file=tmp_path / "talk.jsonl"))
    assert model.complete(HELLO, Sampling()).text == "one"


def test_recorded_replies_need_their_file() -> None:
    with pytest.raises(ConfigError, match="needs 'file'"):
        build(ModelConfig("replayed"))


def test_the_offline_reasoner_needs_nothing() -> None:
    assert build(ModelConfig("offline")).name == "offline"
