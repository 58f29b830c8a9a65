"""The responses wire against a server on loopback: what is sent, and what comes of what it answers."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pytest
from PIL import Image, ImageDraw

from pyvision.errors import ModelError
from pyvision.models.endpoint import Endpoint
from pyvision.models.openai_responses import openai_responses
from pyvision.text.replies import reply_message
from pyvision.types import Message, Picture, Sampling, Text
from tests.servers.capabilities import CLEAN, Capabilities
from tests.servers.conversation import ServedReply
from tests.servers.faults import Fault, Plan
from tests.servers.server import ModelServer
from tests.servers.wires import configured

HELLO = (Message("system", (Text("be brief"),)), Message("user", (Text("hello"),)))
STOP = Sampling(stop=("</code>",))
CELL = "I look.\n<code>\n```python\nprint(1)\n```\n</code>"


@contextmanager
def open_model(
    says: Sequence[str | ServedReply],
    can: Capabilities = CLEAN,
    faults: Sequence[Fault | None] = (),
    **settings: Any,
) -> Iterator[tuple[Endpoint, ModelServer]]:
    with (
        ModelServer(says, can=can, weather=Plan(faults)) as server,
        closing(openai_responses(configured("responses", server, timeout_s=5.0, **settings))) as model,
    ):
        yield model, server


def answer(body: dict[str, Any]) -> Fault:
    """An answer of our own in place of the server's."""
    return Fault(body=json.dumps(body).encode(), headers={"content-type": "application/json"})


def drawn(number: str) -> tuple[Picture, bytes]:
    """A picture with a number in it, and its pixels."""
    canvas = Image.new("L", (120, 30), "white")
    ImageDraw.Draw(canvas).text((5, 5), number, fill="black")
    file = io.BytesIO()
    canvas.save(file, "PNG")
    return Picture(file.getvalue(), "image/png", 120, 30), canvas.tobytes()


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


def test_a_number_that_stands_only_in_the_second_turns_image_reaches_the_server() -> None:
    number = str(random.randrange(10_000, 100_000))
    picture, pixels = drawn(number)
    with open_model([CELL, f"\\boxed{{{number}}}"]) as (model, server):
        first = model.complete(HELLO, STOP)
        figure = Message("user", (Text("<image_clue_1>"), picture, Text("</image_clue_1>")))
        messages = (*HELLO, reply_message(first), figure)
        model.complete(messages, STOP)
        assert server.requests[0].pictures == ()
        (received,) = server.requests[1].pictures
        assert number not in str(server.requests[1].body)
        assert [turn.role for turn in server.requests[1].turns] == ["system", "user", "assistant", "user"]
    assert Image.open(io.BytesIO(received)).tobytes() == pixels


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
