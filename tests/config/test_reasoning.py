"""One setting for all families: what each is sent for it, and what cannot be chosen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyvision.config.files import data_folder
from pyvision.config.model_config import ENDPOINTS, ModelConfig
from pyvision.config.reasoning import LEVELS, find_family, reasoning_fields
from pyvision.errors import ConfigError

LOCAL = "http://127.0.0.1:8000/v1"
ROWS = json.loads((data_folder("api_configs") / "reasoning.json").read_text(encoding="utf-8"))


def sent(wire: Any, model: str, level: Any, base_url: str | None = None) -> Any:
    return reasoning_fields(ModelConfig(wire, model, base_url, reasoning=level))


def test_nothing_is_sent_where_it_is_not_set() -> None:
    assert sent("openai", "gpt-5.5", None) == {}


@pytest.mark.parametrize(
    ("wire", "model", "base_url", "off"),
    [
        ("openai", "gpt-6-sol", None, {"reasoning_effort": "none"}),
        ("openai", "gpt-5-mini", None, {"reasoning_effort": "minimal"}),
        ("responses", "gpt-5.5", None, {"reasoning": {"effort": "none"}}),
        ("anthropic", "claude-haiku-5-5", None, {"thinking": {"type": "disabled"}}),
        ("anthropic", "claude-sonnet-5-5", None, {"thinking": {"type": "between_tools"}}),
        ("anthropic", "anthropic/claude-sonnet-5.5", None, {"thinking": {"type": "between_tools"}}),
        ("gemini", "gemini-3.6-flash", None, {"generationConfig": {"thinkingConfig": {"thinkingLevel": "minimal"}}}),
        ("gemini", "gemini-2.5-flash", None, {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
        ("interactions", "gemini-3.6-flash", None, {"generation_config": {"thinking_level": "minimal"}}),
        ("openai", "Qwen/Qwen3.5-27B", LOCAL, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("openai", "google/gemma-4-27b-it", LOCAL, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("openai", "moonshotai/Kimi-K2.5", LOCAL, {"chat_template_kwargs": {"thinking": False}}),
        ("openai", "kimi-k2.5", "https://api.moonshot.ai/v1", {"thinking": {"type": "disabled"}}),
        ("openai", "qwen3-vl-plus", "https://dashscope.aliyuncs.com/v1", {"enable_thinking": False}),
        ("openai", "qwen3-vl:8b", "http://127.0.0.1:11434/v1", {"reasoning_effort": "none"}),
        ("openai", "glm-4.6v", "https://api.z.ai/api/paas/v4", {"thinking": {"type": "disabled"}}),
        ("openai", "qwen/qwen3-vl", "https://openrouter.ai/api/v1", {"reasoning": {"effort": "none"}}),
    ],
)  # fmt: skip
def test_each_family_is_turned_off_in_its_own_words(
    wire: str, model: str, base_url: str | None, off: dict[str, Any]
) -> None:
    assert sent(wire, model, "off", base_url) == off


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "anthropic/claude-sonnet-4.5"])
def test_claude_thinks_by_a_budget_up_to_4_5(model: str) -> None:
    assert sent("anthropic", model, "high")["thinking"]["type"] == "enabled"


def test_claude_thinks_adaptively_after_4_5() -> None:
    assert sent("anthropic", "claude-opus-4-8", "high")["thinking"]["type"] == "adaptive"


@pytest.mark.parametrize(
    ("wire", "model", "base_url"),
    [
        ("openai", "o3", None),
        ("openai", "gpt-6.2-sol", None),
        ("responses", "gpt-6-astra", None),
        ("anthropic", "claude-opus-5-5", None),
        ("anthropic", "claude-fable-5-1", None),
        ("gemini", "gemini-3.1-pro-preview", None),
        ("gemini", "gemini-3.8-flash", None),
        ("interactions", "gemini-3.8-flash", None),
        ("openai", "kimi-k3", "https://api.moonshot.ai/v1"),
        ("openai", "Qwen/Qwen3-VL-8B-Thinking", LOCAL),
    ],
)
def test_a_level_that_a_family_does_not_have_is_refused_with_those_it_has(
    wire: str, model: str, base_url: str | None
) -> None:
    with pytest.raises(ConfigError, match=r"reasoning 'off': .* cannot do that; choose low, medium, high$"):
        sent(wire, model, "off", base_url)


def test_a_model_that_cannot_reason_is_not_asked_to() -> None:
    with pytest.raises(ConfigError, match=r"reasoning 'high': .* cannot do that; choose off$"):
        sent("openai", "Qwen/Qwen3-VL-8B-Instruct", "high", LOCAL)


def test_gpt_pro_is_not_asked_for_the_level_that_it_does_not_have() -> None:
    with pytest.raises(ConfigError, match=r"reasoning 'low': .* cannot do that; choose medium, high$"):
        sent("responses", "gpt-5.5-pro", "low")


def test_the_lightest_of_a_generation_can_still_be_turned_off() -> None:
    sent_to = sent("gemini", "gemini-3.7-flash-lite", "off")
    assert sent_to == {"generationConfig": {"thinkingConfig": {"thinkingLevel": "minimal"}}}


def test_a_model_of_no_known_family_is_named() -> None:
    with pytest.raises(
        ConfigError, match="PyVision does not know how to ask llava for it over wire 'openai'"
    ):
        sent("openai", "llava", "low", LOCAL)


each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['family']}-{row['wires'][0]}")


@each_row
def test_every_row_has_levels_or_says_that_its_models_cannot_reason(row: dict[str, Any]) -> None:
    assert {"medium", "high"} <= row.keys() or (row.keys() & set(LEVELS) == {"off"} and not row["off"])


@each_row
def test_every_row_has_only_known_levels(row: dict[str, Any]) -> None:
    assert row.keys() - {"family", "models", "wires", "endpoints", "source"} <= set(LEVELS)


@each_row
def test_every_row_names_its_source(row: dict[str, Any]) -> None:
    assert len(row["source"]) > 20


@each_row
def test_every_row_is_for_known_wires(row: dict[str, Any]) -> None:
    assert set(row["wires"]) <= {*ENDPOINTS, "local"}


def test_a_row_is_found_for_the_default_model_of_every_provider_that_reasons() -> None:
    from pyvision.config.model_config import load_shipped

    for name in ("openai", "responses", "anthropic", "gemini", "openrouter", "ollama", "vllm"):
        assert find_family(load_shipped(name)), name
