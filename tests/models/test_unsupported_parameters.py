"""What a complaint says is not accepted, what is known beforehand, and who remembers it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyvision.config.endpoints import prefers_tools
from pyvision.config.files import data_folder
from pyvision.config.model_config import ModelConfig
from pyvision.models.unsupported_parameters import find_refused, find_unsupported

SENT = {name: rf"\b{name}\b" for name in ("temperature", "stop", "max_tokens", "stream_options")}


@pytest.mark.parametrize(
    ("reply", "param", "name"),
    [
        ("Unsupported parameter: 'stop' is not supported with this model.", "stop", "stop"),
        (
            "Unsupported value: 'temperature' does not support 0.6 with this model.",
            "temperature",
            "temperature",
        ),
        ("unsupported_parameter", "stream_options.include_usage", "stream_options"),
        ('[{"loc": ["body", "stop"], "msg": "Extra inputs are not permitted"}]', None, "stop"),
        ("Unrecognized request argument supplied: max_tokens", None, "max_tokens"),
        ("this model does not support images, stop", "messages[0].content", None),
        ("Function tools with reasoning_effort are not supported, nor is stop", "reasoning_effort", None),
        ("max_tokens is too large: 9999. This model supports at most 4096", "max_tokens", None),
        ("the stop sign in the picture is not allowed", "input", None),
        ("temperature must be between 0 and 2", "temperature", None),
        ("unsupported parameter 'seed'", "seed", None),
    ],
)
def test_only_an_unsupported_parameter_of_the_request_is_named(
    reply: str, param: str | None, name: str | None
) -> None:
    assert find_refused(reply, param, SENT) == name


@pytest.mark.parametrize(
    ("wire", "model", "refused"),
    [
        ("openai", "o3-mini", {"temperature", "stop", "logprobs", "max_tokens"}),
        ("openai", "openai/GPT-5.1", {"stop", "max_tokens"}),
        ("openai", "gpt-4.1", set()),
        ("openai", "Qwen/Qwen2.5-VL-7B-Instruct", set()),
        ("anthropic", "claude-sonnet-4-6", {"logprobs"}),
        ("anthropic", "claude-sonnet-5-5", {"temperature", "logprobs"}),
        ("openai", "anthropic/claude-opus-4.7", {"temperature"}),
    ],
)
def test_known_families_start_with_what_they_refuse(wire: str, model: str, refused: set[str]) -> None:
    known = find_unsupported(ModelConfig(wire, model))  # type: ignore[arg-type]
    names = ("temperature", "stop", "logprobs", "max_tokens")
    assert {name for name in names if name in known} == refused


def test_every_family_says_where_it_is_known_from() -> None:
    families = json.loads((data_folder("api_configs") / "families.json").read_text(encoding="utf-8"))
    assert families
    assert all(len(family["source"]) > 20 for family in families)


def test_what_is_learnt_holds_for_the_same_model_at_the_same_endpoint_only() -> None:
    here = ModelConfig("openai", "learnt", "http://127.0.0.1:1/v1", api_key="one")
    assert find_unsupported(here).add("stop")
    assert not find_unsupported(here).add("stop")
    assert "stop" in find_unsupported(ModelConfig("openai", "learnt", "http://127.0.0.1:1/v1", api_key="two"))
    assert "stop" not in find_unsupported(ModelConfig("openai", "learnt", "http://127.0.0.1:2/v1"))
    assert "stop" not in find_unsupported(ModelConfig("openai", "another", "http://127.0.0.1:1/v1"))


def test_a_configuration_names_more() -> None:
    assert "top_logprobs" in find_unsupported(ModelConfig("openai", "m", refused=("top_logprobs",)))


@pytest.mark.parametrize(
    ("model", "is_sent"),
    [
        ("gemini-2.5-pro", True),
        ("gemini-3.5-flash", True),
        ("gemini-3.6-flash", False),
        ("gemini-4-pro", False),
    ],
)
@pytest.mark.parametrize("wire", ["gemini", "interactions"])
def test_gemini_gets_a_temperature_as_long_as_it_heeds_one(wire: Any, model: str, *, is_sent: bool) -> None:
    assert ("temperature" not in find_unsupported(ModelConfig(wire, model))) is is_sent


@pytest.mark.parametrize(
    ("wire", "model", "calls"),
    [
        ("responses", "gpt-6.2-sol", True),
        ("openai", "gpt-6.2-sol", False),
        ("openai", "gpt-5.4-mini", False),
        ("openai", "gpt-5-mini", True),
        ("openai", "Qwen/Qwen3-VL-8B-Instruct", False),
        ("anthropic", "claude-sonnet-5-5", True),
        ("gemini", "gemini-3.6-flash", True),
        ("interactions", "gemini-3.8-flash", True),
    ],
)
def test_tools_are_preferred_where_a_family_takes_them_while_it_reasons(
    wire: Any, model: str, *, calls: bool
) -> None:
    assert prefers_tools(ModelConfig(wire, model)) is calls
