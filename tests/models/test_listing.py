"""The models that an endpoint lists, and the endpoints found on this machine."""

from __future__ import annotations

from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig, list_shipped, load_shipped
from pyvision.errors import ModelError
from pyvision.models.listing import ListedModel, LocalEndpoint, find_among, list_models, suggest
from tests.servers.faults import Fault
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, configured

KEY = "sk-very-secret-0123456789"
_NO_FAULT = Fault()
NOWHERE = ModelConfig("openai", "m", "http://127.0.0.1:9/v1")
PATIENT_S = 60.0  # which only a failure reaches


def listed(models: object, wire: str = "completions") -> tuple[ListedModel, ...]:
    with ModelServer([], models=models) as server:
        return list_models(configured(wire, server))


def refused(
    fault: Fault = _NO_FAULT, models: object = None, timeout_s: float = PATIENT_S, **settings: Any
) -> str:
    with ModelServer([], models=models, fault_of_get=fault) as server, pytest.raises(ModelError) as caught:
        list_models(configured("completions", server, api_key=KEY, **settings), timeout_s)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("wire", list(WIRES))
def test_the_key_goes_in_the_header_of_its_api(wire: str) -> None:
    with ModelServer([]) as server:
        list_models(configured(wire, server, api_key=KEY))
        ((path, headers),) = server.asked
    names = {"messages": "x-api-key", "gemini": "x-goog-api-key", "interactions": "x-goog-api-key"}
    assert headers[names.get(wire, "authorization")].removeprefix("Bearer ") == KEY
    assert KEY not in path


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        ("completions", "/v1/models"),
        ("messages", "/v1/models"),
        ("gemini", "/v1beta/models"),
        ("interactions", "/v1beta/models"),
    ],
)
def test_the_list_is_asked_for_at_the_place_of_its_api(wire: str, path: str) -> None:
    with ModelServer([]) as server:
        list_models(configured(wire, server))
        assert server.asked[0][0].partition("?")[0] == path


def test_gemini_lists_names_of_models_that_write_text() -> None:
    models = [
        {"name": "models/gemini-3.6-flash", "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedding-2", "supportedGenerationMethods": ["embedContent"]},
    ]
    assert listed({"models": models}, "gemini") == (ListedModel("gemini-3.6-flash"),)


@pytest.mark.parametrize(
    ("entry", "sees"),
    [
        ({}, None),
        ({"architecture": {"input_modalities": ["text", "image"]}}, True),
        ({"architecture": {"input_modalities": ["text"]}}, False),
        ({"capabilities": ["completion", "multimodal"]}, True),
        ({"capabilities": {"image_input": {"supported": True}}}, True),
    ],
)
def test_whether_a_model_sees_is_read_where_the_endpoint_says_it(entry: dict[str, Any], sees: object) -> None:
    assert listed({"data": [{"id": "m"} | entry]}) == (ListedModel("m", sees),)  # type: ignore[arg-type]


def test_llamacpp_says_it_beside_the_list() -> None:
    body = {"models": [{"name": "q.gguf", "capabilities": ["multimodal"]}], "data": [{"id": "q.gguf"}]}
    assert listed(body) == (ListedModel("q.gguf", sees=True),)


def test_a_refused_key_is_named_by_its_variable() -> None:
    assert "the key was refused (401); set A_KEY" in refused(
        Fault(body=b"{}", status=401), api_key_env="A_KEY"
    )


@pytest.mark.parametrize(
    "models",
    [
        ["m"],
        {"data": "m"},
        {"data": [{"name": "m"}]},
        {"data": [{"id": "a\x1b[31m"}]},
        {"data": [{"id": "x" * 999}]},
    ],
)
def test_an_answer_that_is_not_a_list_is_one_line(models: object) -> None:
    assert "did not answer with a list of models" in refused(models=models)


def test_a_list_that_trickles_ends_at_the_time_limit() -> None:
    assert "cannot be asked for its models" in refused(Fault(trickle_s=0.2), timeout_s=1.0)


def test_an_endpoint_that_is_not_there_is_left_out() -> None:
    with ModelServer([]) as server:
        found = find_among({"none": NOWHERE, "vllm": configured("completions", server)}, PATIENT_S)
        address = server.base_url
    assert found == (LocalEndpoint("vllm", address, (ListedModel("m"),)),)


def test_something_else_at_the_port_is_left_out() -> None:
    page = Fault(body=b"<html>my blog</html>", headers={"content-type": "text/html"})
    with ModelServer([], fault_of_get=page) as server:
        assert find_among({"llamacpp": configured("completions", server)}, PATIENT_S) == ()


def test_nothing_but_the_list_is_asked_for() -> None:
    with ModelServer(["unused"]) as server:
        find_among({"vllm": configured("completions", server)}, PATIENT_S)
        assert (len(server.asked), server.requests) == (1, [])


def test_a_model_that_sees_is_offered_before_one_of_which_nothing_is_known() -> None:
    models = (ListedModel("blind", sees=False), ListedModel("unknown"), ListedModel("sees", sees=True))
    assert LocalEndpoint("vllm", "", models).offer == "vllm:sees"


def test_a_model_that_is_blind_is_not_offered() -> None:
    assert suggest([LocalEndpoint("vllm", "", (ListedModel("blind", sees=False),))]) == ""


def test_the_four_usual_servers_are_looked_for() -> None:
    from pyvision.models.listing import _local_configs

    assert {name for name, _ in _local_configs()} == {"ollama", "vllm", "llamacpp", "sglang"}
    assert {"ollama", "gemini"} <= set(list_shipped())
    assert load_shipped("ollama").address.endswith(":11434/v1")
