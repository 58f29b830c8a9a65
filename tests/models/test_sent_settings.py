"""Settings that are sent: reasoning and detail in the words of each API, and a setting that is refused only once."""

from __future__ import annotations

from contextlib import closing

import pytest

from pyvision.errors import ModelError
from pyvision.models.factory import build
from pyvision.types import Message, Sampling, Text, ToolOffer
from tests.doubles import picture
from tests.models.test_endpoint import CELL, EVERY_WIRE, HELLO
from tests.servers.capabilities import Capabilities
from tests.servers.server import ModelServer
from tests.servers.strict import Strictness
from tests.servers.wires import MAKE, STOP, configured, open_model


@EVERY_WIRE
def test_what_was_refused_once_is_not_sent_by_the_next_model_object_either(wire: str) -> None:
    can = Capabilities(refuses=frozenset({"temperature", "stop", "stop_sequences", "stopSequences"}))
    with ModelServer([CELL] * 2, can=can) as server:
        for _ in range(2):
            with closing(MAKE[wire](configured(wire, server, temperature=0.5, model="shared"))) as model:
                assert model.complete(HELLO, STOP).finish == "stop"
        sent = [
            {
                *request.body,
                *request.body.get("generationConfig", ()),
                *request.body.get("generation_config", ()),
            }
            & can.refuses
            for request in server.requests
        ]
    assert sent[-2:] == [set(), set()]
    assert (
        len(sent) == {"completions": 4, "responses": 3, "messages": 4, "gemini": 4, "interactions": 4}[wire]
    )


def test_a_parameter_that_the_configuration_insists_on_is_not_dropped() -> None:
    can = Capabilities(refuses=frozenset({"seed"}))
    with open_model("completions", ["x"], can, extra_body={"seed": 1}) as (model, server):
        with pytest.raises(ModelError, match="'seed' is not supported"):
            model.complete(HELLO, Sampling())
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("wire", "model", "field"),
    [("completions", "gpt-6.2-sol", "reasoning_effort"), ("responses", "gpt-6.2-sol", "reasoning"),
     ("messages", "claude-sonnet-5-5", "thinking"), ("gemini", "gemini-3.6-flash", "generationConfig"),
     ("interactions", "gemini-3.8-flash", "generation_config")],
)  # fmt: skip
def test_the_reasoning_setting_is_sent_in_the_words_of_the_family(wire: str, model: str, field: str) -> None:
    with ModelServer(["hi", "hi"]) as server:
        bodies = []
        for level in (None, "low"):
            with closing(build(configured(wire, server, model=model, reasoning=level))) as built:
                built.complete(HELLO, Sampling())
            bodies.append(server.requests[-1].body)
    assert [field in body for body in bodies] == [False, True]


def test_an_endpoint_that_refuses_the_reasoning_setting_is_asked_without_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    can = Capabilities(refuses=frozenset({"reasoning_effort"}))
    with (
        ModelServer(["one", "two"], can=can) as server,
        closing(build(configured("completions", server, model="gpt-6.1-x", reasoning="low"))) as model,
    ):
        assert [model.complete(HELLO, Sampling()).text for _ in range(2)] == ["one", "two"]
        assert ["reasoning_effort" in request.body for request in server.requests] == [True, False, False]
    assert "gpt-6.1-x does not take the reasoning setting; it is left out" in caplog.text


def test_the_reasoning_setting_stays_where_it_is_the_tools_that_are_refused() -> None:
    offered = Sampling(tools=(ToolOffer("run_python", "Runs code.", "code", "The code."),))
    strict = Strictness()
    with (
        ModelServer(["one"], strict=strict) as server,
        closing(build(configured("completions", server, model="gpt-6.2-sol", reasoning="low"))) as model,
    ):
        with pytest.raises(ModelError, match="use /v1/responses") as caught:
            model.complete(HELLO, offered)
        assert model.complete(HELLO, Sampling()).text == "one"
        sent = [request.body.get("reasoning_effort") for request in server.requests]
    assert (caught.value.kind, sent) == ("tools", ["low", "low"])


def test_what_a_configuration_adds_comes_after_the_reasoning_setting() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False, "more": 1}}
    with ModelServer(["hi"]) as server:
        config = configured("completions", server, model="qwen3-vl", reasoning="high", extra_body=extra)
        with closing(build(config)) as model:
            model.complete(HELLO, Sampling())
        assert server.requests[0].body["chat_template_kwargs"] == extra["chat_template_kwargs"]


@pytest.mark.parametrize(("wire", "unset"), [("completions", None), ("responses", "auto")])
def test_detail_is_sent_with_every_image(wire: str, unset: str | None) -> None:
    shown = (Message("user", (picture(), Text("?"))),)
    sent = []
    for detail in ("original", None):
        with open_model(wire, ["hi"], detail=detail) as (model, server):
            model.complete(shown, Sampling())
            body = server.requests[0].body
        part = body["messages" if wire == "completions" else "input"][0]["content"][0]
        sent.append(part["image_url"].get("detail") if wire == "completions" else part["detail"])
    assert sent == ["original", unset]
