"""What an endpoint complains of is told without its key, and otherwise as it was said."""

from __future__ import annotations

import socket
import types

import httpx2
import openai
import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.models.errors import ErrorMapper

COMPLAINT = "max_tokens: the text of a user is too long"


def faults(key: str) -> ErrorMapper:
    return ErrorMapper(ModelConfig("openai", "m", "http://127.0.0.1:9/v1", key), types.ModuleType("sdk"))


@pytest.mark.parametrize("key", ["x", "text", "user", "max_tokens"])
def test_a_short_key_changes_no_complaint(key: str) -> None:
    assert faults(key).redact(COMPLAINT) == COMPLAINT


@pytest.mark.parametrize("key", ["0123456789abcdef", "hunter22", "key with  spaces"])
def test_a_long_key_is_in_no_complaint(key: str) -> None:
    assert faults(key).redact(f"bad key {key}\nrefused") == "bad key [secret] refused"


def no_host(number: int) -> httpx2.ConnectError:
    error = httpx2.ConnectError(f"[Errno {number}] no address")
    error.__cause__ = socket.gaierror(number, "no address")
    return error


@pytest.mark.parametrize(
    ("number", "reached", "retry"),
    [(socket.EAI_NONAME, False, False), (socket.EAI_NONAME, True, True), (socket.EAI_AGAIN, False, True)],
    ids=["unknown from the start", "unknown after an answer", "for a moment"],
)
def test_a_host_that_no_name_server_knows_is_not_waited_for(number: int, reached: bool, retry: bool) -> None:
    config = ModelConfig("openai", "m", "https://api.example.com/v1")
    error = ErrorMapper(config, openai).from_response(no_host(number), reached=reached, too_slow="")
    assert error.retry is retry
    assert ("check the address and the network" in str(error)) is not retry


def test_a_fault_names_its_host_without_the_key_in_its_address() -> None:
    config = ModelConfig("openai", "m", "http://ann:hunter22@127.0.0.1:9/v1")
    assert ErrorMapper(config, types.ModuleType("sdk")).error("gone").brief == "127.0.0.1:9: gone"


@pytest.mark.parametrize(
    ("complaint", "kind"),
    [
        ("Unsupported parameter: 'tools' is not supported with this model.", "tools"),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "tools"),
        ("registry.ollama.ai/library/llava:7b does not support tools", "tools"),
        ("No endpoints found that support tool use.", "tools"),
        ("tools param requires --jinja flag", "tools"),
        ("Function calling is not enabled for this model", "tools"),
        ("unexpected token in the tool parser", "other"),
        ("unexpected `tool_use_id` found in `tool_result` blocks: c1", "other"),
        ("An assistant message with 'tool_calls' must be followed by tool messages", "other"),
        ("Unsupported parameter: 'stop' is not supported with this model.", "other"),
        ("tools: context length exceeded, this model supports 4096", "context"),
    ],
)
def test_an_endpoint_that_takes_no_tools_is_a_kind_of_its_own(complaint: str, kind: str) -> None:
    assert faults("").of_body({"message": complaint}).kind == kind
