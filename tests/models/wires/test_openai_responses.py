"""The responses wire against a server on loopback: what is sent, and what comes of what it answers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pyvision.errors import ModelError
from pyvision.text.replies import reply_message
from pyvision.types import Message, Sampling, Text
from tests.servers import wires
from tests.servers.capabilities import Capabilities
from tests.servers.conversation import ServedReply
from tests.servers.wires import CELL, HELLO, STOP, answer

open_model = partial(wires.open_model, "responses")


def test_nothing_is_sent_that_was_not_set() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, STOP)
        assert server.requests[0].body == {
            "model": "m",
            "input": [
                {"role": "system", "content": [{"type": "input_text", "text": "be brief"}]},
                {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            ],
            "include": ["reasoning.encrypted_content"],
            "stream": True,
            "store": False,
        }


def test_sampling_parameters_have_the_names_of_this_wire() -> None:
    with open_model(["hi"], temperature=0.5) as (model, server):
        model.complete(HELLO, Sampling(max_tokens=70))
        body = server.requests[0].body
    assert (body["temperature"], body["max_output_tokens"]) == (0.5, 70)


def inputs_after_reasoning(*, stream: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The inputs that continue a reply with reasoning, and another reply in its place."""
    with open_model([ServedReply(CELL, reasoning="hm"), "fine", "fine"], stream=stream) as (model, server):
        first = model.complete(HELLO, STOP)
        assert first.reasoning == "hm"
        following = Message("user", (Text("continue"),))
        model.complete((*HELLO, reply_message(first), following), STOP)
        model.complete((*HELLO, Message("assistant", (Text("other"),)), following), STOP)
        again, other = (request.body["input"] for request in server.requests[1:])
    return again, other


@pytest.mark.parametrize("stream", [True, False])
def test_reasoning_is_sent_back_before_its_reply(*, stream: bool) -> None:
    again, _ = inputs_after_reasoning(stream=stream)
    assert [item.get("type", item.get("role")) for item in again][2] == "reasoning"
    assert again[2]["encrypted_content"] == "sealed"
    assert again[3]["role"] == "assistant"


def test_a_streamed_reply_is_sent_back_under_its_id() -> None:
    again, _ = inputs_after_reasoning(stream=True)
    assert (again[3]["id"], again[3]["type"]) == ("m", "message")


@pytest.mark.parametrize("stream", [True, False])
def test_reasoning_is_not_sent_with_another_reply(*, stream: bool) -> None:
    _, other = inputs_after_reasoning(stream=stream)
    assert other[2] == {"role": "assistant", "content": "other"}


def test_an_endpoint_that_seals_no_reasoning_is_asked_without() -> None:
    with open_model(["one", "two"], Capabilities(refuses=frozenset({"include"}))) as (model, server):
        assert [model.complete(HELLO, STOP).text for _ in range(2)] == ["one", "two"]
        assert ["include" in request.body for request in server.requests] == [True, False, False]


def test_a_failed_response_is_an_error() -> None:
    error = {"code": "server_error", "message": "it broke"}
    failed = answer({"status": "failed", "output": [], "error": error})
    with open_model([], faults=[failed]) as (model, _), pytest.raises(ModelError, match="it broke") as caught:
        model.complete(HELLO, Sampling())
    assert caught.value.retry


def test_a_filtered_response_is_a_refusal() -> None:
    filtered = answer(
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "content_filter"},
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "I sh"}]}],
        }
    )
    with open_model([], faults=[filtered]) as (model, _):
        reply = model.complete(HELLO, Sampling())
    assert (reply.text, reply.finish) == ("I sh", "refusal")
