"""Every request we build is one that vLLM's own protocol takes, without a field that it does not know."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pyvision.models.factory import build
from pyvision.types import Message, Picture, Sampling, Text, ToolCall, ToolOffer
from tests.doubles import picture
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, configured

SCHEMAS = json.loads(Path(__file__).with_name("vllm_schemas.json").read_text(encoding="utf-8"))
SPOKEN = [wire for wire in WIRES if wire in SCHEMAS]  # vLLM does not speak Gemini's
SHOWN: Picture = picture()
RUN = ToolOffer("run_python", "Runs code.", "code", "The code.")
CALL = ToolCall("call_1", "run_python", '{"code": "print(1)"}')
TALKS = {
    "a text": (Message("user", (Text("hello"),)),),
    "system, picture and text": (
        Message("system", (Text("be brief"),)),
        Message("user", (Text("<image_clue_0>\n"), SHOWN, Text("\n</image_clue_0>\nHow many?"))),
    ),
    "a figure in the second turn": (
        Message("user", (SHOWN, Text("How many?"))),
        Message("assistant", (Text("<code>\nprint(1)\n</code>"),)),
        Message("user", (Text("<interpreter>\n"), SHOWN, SHOWN, Text("1\n</interpreter>"))),
    ),
    "a tool call and its result": (
        Message("user", (SHOWN, Text("How many?"))),
        Message("assistant", (Text("I look."), CALL)),
        Message("tool", (Text("1"),), call_id=CALL.id),
        Message("user", (Text("<image_clue_1>\n"), SHOWN, Text("\n</image_clue_1>"))),
    ),
}
SAMPLINGS = {
    "nothing": Sampling(),
    "everything": Sampling(temperature=0.5, max_tokens=50, stop=("</code>",), logprobs=True),
    "tools": Sampling(tools=(RUN,)),
    "tools that may not be called": Sampling(tools=(RUN,), tool_choice="none"),
}
EXTRAS: dict[str, dict[str, Any]] = {
    "completions": {"include_stop_str_in_output": True, "mm_processor_kwargs": {"max_pixels": 1_000_000},
                    "chat_template_kwargs": {"enable_thinking": False}},
    "responses": {"mm_processor_kwargs": {"max_pixels": 1_000_000}},
    "messages": {"chat_template_kwargs": {"enable_thinking": False}},
}  # fmt: skip


def sent(wire: str, messages: tuple[Message, ...], sampling: Sampling, **settings: Any) -> dict[str, Any]:
    with (
        ModelServer(["fine"]) as server,
        closing(build(configured(wire, server, **settings))) as model,
    ):
        model.complete(messages, sampling)
        return server.requests[0].body


@pytest.mark.parametrize("wire", SPOKEN)
@pytest.mark.parametrize("messages", TALKS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_vllm_takes_the_request(wire: str, messages: str, sampling: str) -> None:
    check(wire, sent(wire, TALKS[messages], SAMPLINGS[sampling]))


@pytest.mark.parametrize("wire", SPOKEN)
def test_vllm_takes_what_a_configuration_adds(wire: str) -> None:
    body = sent(wire, TALKS["a text"], Sampling(), extra_body=EXTRAS[wire], temperature=0.0, max_tokens=5)
    assert EXTRAS[wire].items() <= body.items()
    check(wire, body)


@pytest.mark.parametrize("level", ["low", "off"])
def test_vllm_takes_the_reasoning_setting_of_open_models(level: str) -> None:
    settings: dict[str, Any] = {"model": "Qwen/Qwen3.5-27B", "reasoning": level, "detail": "high"}
    check("completions", sent("completions", TALKS["system, picture and text"], Sampling(), **settings))


def test_a_wrong_request_does_not_pass() -> None:
    from jsonschema import ValidationError

    body = sent("completions", TALKS["a text"], Sampling())
    with pytest.raises(ValidationError):
        check("completions", body | {"messages": "hello"})
    with pytest.raises(AssertionError):
        check("completions", body | {"guided_regex": "a*"})


def check(wire: str, body: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator(SCHEMAS[wire]).validate(body)
    assert body.keys() <= SCHEMAS[wire]["properties"].keys()
