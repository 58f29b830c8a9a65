"""The messages wire against a server on loopback: what is sent, and what comes of what it answers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.errors import ModelError
from pyvision.models.wires.anthropic import anthropic_messages
from pyvision.text.replies import reply_message
from pyvision.types import Sampling
from tests.doubles import picture
from tests.servers import wires
from tests.servers.conversation import ServedReply
from tests.servers.server import ModelServer
from tests.servers.strict import Strictness
from tests.servers.wires import CELL, HELLO, STOP, answer, configured, text

open_model = partial(wires.open_model, "messages")

POINT = {"type": "ephemeral"}


def test_nothing_is_sent_that_was_not_set_but_the_limit_that_the_api_needs() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, Sampling())
        assert server.requests[0].body == {
            "model": "m",
            "max_tokens": 8192,
            "system": [{"type": "text", "text": "be brief", "cache_control": POINT}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": POINT}]}
            ],
            "stream": True,
        }


def test_the_limit_of_tokens_goes_as_it_is_configured() -> None:
    with open_model(["hi"], max_tokens=70) as (model, server):
        model.complete(HELLO, STOP)
        body = server.requests[0].body
    assert (body["max_tokens"], body["stop_sequences"]) == (70, ["</code>"])


def sent_temperature(name: str, **settings: Any) -> float | None:
    """What a server as strict as Anthropic's is sent and accepts, where 0.5 is configured."""
    strict = Strictness()
    with ModelServer(["hi"], strict=strict) as server:
        config = replace(configured("messages", server, temperature=0.5, **settings), model=name)
        with closing(anthropic_messages(config)) as model:
            model.complete(HELLO, STOP)
        assert strict.rejected == []
        value: float | None = server.requests[0].body.get("temperature")
        return value


@pytest.mark.parametrize("name", ["claude-haiku-4-5", "claude-opus-4-6", "Qwen/Qwen3-VL-8B-Instruct"])
def test_a_temperature_goes_to_a_model_that_takes_one(name: str) -> None:
    assert sent_temperature(name) == 0.5


@pytest.mark.parametrize(
    "name", ["claude-opus-4-7", "claude-sonnet-5", "claude-sonnet-5-5", "claude-fable-5-1"]
)
def test_no_temperature_goes_to_a_model_that_refuses_it(name: str) -> None:
    assert sent_temperature(name) is None


def test_no_temperature_goes_to_a_model_that_is_asked_to_think() -> None:
    assert sent_temperature("claude-sonnet-4-6", reasoning="high") is None


def test_a_temperature_goes_to_a_model_whose_thinking_is_off() -> None:
    assert sent_temperature("claude-sonnet-4-6", reasoning="off") == 0.5


def test_a_temperature_is_left_out_once_thinking_of_the_extra_body_forbids_it() -> None:
    settings = {"temperature": 0.5, "extra_body": {"thinking": {"type": "adaptive"}}}
    with ModelServer(["hi"], strict=Strictness()) as server:
        with closing(anthropic_messages(configured("messages", server, **settings))) as model:
            assert model.complete(HELLO, STOP).text == "hi"
        assert [request.body.get("temperature") for request in server.requests] == [0.5, None]


LEVELS = [
    (name, level)
    for name in (
        "claude-haiku-4-5",
        "claude-opus-4-8",
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
    )
    for level in ("low", "high", "off")
    if (name, level) != ("claude-opus-5-5", "off")
]


@pytest.mark.parametrize(("name", "level"), LEVELS)
def test_a_model_accepts_each_level_that_can_be_chosen_for_it(name: str, level: Any) -> None:
    strict = Strictness()
    with ModelServer(["hi"], strict=strict) as server:
        config = replace(configured("messages", server, reasoning=level), model=name)
        with closing(anthropic_messages(config)) as model:
            model.complete(HELLO, STOP)
    assert strict.rejected == []


def test_thinking_is_left_out_once_what_stood_before_it_has_changed() -> None:
    says: list[str | ServedReply] = [
        ServedReply(CELL, reasoning="hm"),
        ServedReply(CELL, reasoning="so", seal="second"),
        "done",
    ]
    with (
        ModelServer(says, strict=Strictness()) as server,
        closing(anthropic_messages(configured("messages", server))) as model,
    ):
        first = reply_message(model.complete(HELLO, STOP))
        figure = text("<image_clue_0>", picture(), "</image_clue_0>")
        second = reply_message(model.complete((*HELLO, first, figure), STOP))
        evicted = text("<image_clue_0>", "(no longer shown)", "</image_clue_0>")
        assert model.complete((*HELLO, first, evicted, second, text("go on")), STOP).text == "done"
        thoughts = [str(request.body).count("'thinking'") for request in server.requests]
    assert thoughts[-2] > 0
    assert thoughts[-1] == 0


def test_an_address_with_or_without_its_version_leads_to_the_same_place() -> None:
    with ModelServer(["one", "two"]) as server:
        for address in (server.root_url, server.base_url):
            with closing(anthropic_messages(ModelConfig("anthropic", "m", address))) as model:
                model.complete(HELLO, Sampling())
        assert {request.path.partition("?")[0] for request in server.requests} == {"/v1/messages"}


def test_the_growing_conversation_is_the_same_to_the_byte_but_for_its_cache_points() -> None:
    turns = [*HELLO]
    with open_model([CELL] * 4) as (model, server):
        for number in range(4):
            reply = model.complete(turns, STOP)
            displayed = text(f"<image_clue_{number}>", picture(), "ok")
            turns += [reply_message(reply), displayed]
        bodies = [request.body for request in server.requests]
    for earlier, later in pairwise(bodies):
        start = bare(earlier)["messages"]
        assert bare(later)["messages"][: len(start)] == start
    points = [
        (index, turn["content"].index(block))
        for index, turn in enumerate(bodies[-1]["messages"])
        for block in turn["content"]
        if "cache_control" in block
    ]
    assert points == [(4, 2), (6, 2)]
    assert bodies[-2]["messages"][4]["content"][-1]["cache_control"] == POINT


def test_cached_tokens_are_part_of_the_input() -> None:
    with open_model(["one", "two"]) as (model, _):
        first, second = model.complete(HELLO, STOP).usage, model.complete(HELLO, STOP).usage
    assert first.cached_tokens == 0
    assert second.cached_tokens == second.input_tokens == first.input_tokens > 0


@pytest.mark.parametrize("stream", [True, False])
def test_thinking_goes_back_signed_before_the_text_of_its_turn(*, stream: bool) -> None:
    with open_model([ServedReply(CELL, reasoning="hm"), "fine"], stream=stream) as (model, server):
        first = model.complete(HELLO, STOP)
        model.complete((*HELLO, reply_message(first), text("go on")), STOP)
        content = server.requests[1].body["messages"][1]["content"]
    assert (first.reasoning, first.text) == ("hm", CELL.removesuffix("</code>"))
    assert content[0] == {"type": "thinking", "thinking": "hm", "signature": "sealed"}
    assert content[1]["type"] == "text"


def test_blank_text_which_the_api_refuses_is_left_out() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete((*HELLO, text(" \n", role="assistant"), text("\n", picture(), " ")), STOP)
        turns = server.requests[0].body["messages"]
    assert [[block["type"] for block in turn["content"]] for turn in turns] == [["text"], ["image"]]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
        ("refusal", "refusal"),
    ],
)
def test_every_stop_reason_has_its_meaning(reason: str, finish: str) -> None:
    message = {"type": "message", "content": [{"type": "text", "text": "so"}], "stop_reason": reason}
    with open_model([], faults=[answer(message)]) as (model, _):
        reply = model.complete(HELLO, Sampling())
    assert (reply.text, reply.finish) == ("so", finish)


def test_a_context_that_is_full_before_the_first_word_is_an_error_of_its_own_kind() -> None:
    message = {"type": "message", "content": [], "stop_reason": "model_context_window_exceeded"}
    with open_model([], faults=[answer(message)]) as (model, _), pytest.raises(ModelError) as caught:
        model.complete(HELLO, Sampling())
    assert (caught.value.kind, caught.value.retry) == ("context", False)


def test_an_overloaded_endpoint_is_tried_again() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with (
        open_model([], faults=[answer(error)]) as (model, _),
        pytest.raises(ModelError, match="Overloaded") as caught,
    ):
        model.complete(HELLO, Sampling())
    assert caught.value.retry


def test_thinking_that_the_endpoint_does_not_take_back_is_left_out_from_then_on() -> None:
    expected = {"type": "invalid_request_error", "message": "Invalid `signature` in `thinking` block"}
    refusal = answer({"type": "error", "error": expected}, 400)
    with open_model([ServedReply(CELL, reasoning="hm"), "one", "two"], faults=[None, refusal]) as (
        model,
        server,
    ):
        first = model.complete(HELLO, STOP)
        messages = (*HELLO, reply_message(first), text("go on"))
        assert [model.complete(messages, STOP).text for _ in range(2)] == ["one", "two"]
        kinds = [
            [block["type"] for block in request.body["messages"][1]["content"]]
            for request in server.requests[1:]
        ]
    assert kinds == [["thinking", "text"], ["text"], ["text"]]


def bare(body: Any) -> Any:
    """The body without its cache points."""
    if isinstance(body, dict):
        return {key: bare(value) for key, value in body.items() if key != "cache_control"}
    return [bare(each) for each in body] if isinstance(body, list) else body
