"""The Interactions API against a server on loopback: what is sent, and what comes of what it answers."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.errors import ModelError
from pyvision.models.wires.gemini_interactions import gemini_interactions
from pyvision.text.replies import reply_message
from pyvision.types import Message, Opaque, Picture, Reply, Sampling, Text, ToolCall, ToolOffer
from tests.doubles import picture
from tests.servers import wires
from tests.servers.capabilities import CLEAN, Capabilities
from tests.servers.conversation import ServedReply
from tests.servers.faults import Fault
from tests.servers.server import ModelServer
from tests.servers.wires import CELL, HELLO, STOP, answer, text

open_model = partial(wires.open_model, "interactions")

KEY = "AIzaSy-very-secret-0123456789"
RUN = ToolOffer("run_python", "Runs code.", "code", "The code.")
OFFERED = Sampling(tools=(RUN,))
THOUGHT = {"type": "thought", "signature": "c2ln+/==", "summary": [{"type": "text", "text": "hm"}]}
SAID = {"type": "model_output", "content": [{"type": "text", "text": "I look."}]}
CALL = {"type": "function_call", "id": "f1", "name": "run_python", "arguments": {"code": "print(1)"}}
SECOND = {"type": "function_call", "id": "f2", "name": "run_python", "arguments": {"code": "print(2)"}}


def interaction(*steps: dict[str, Any], status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"status": status, "steps": list(steps), "object": "interaction", **fields}


def stream(*events: tuple[str, dict[str, Any]]) -> Fault:
    lines = (f"event: {kind}\ndata: {json.dumps({**data, 'event_type': kind})}\n\n" for kind, data in events)
    body = "".join((*lines, "event: done\ndata: [DONE]\n\n"))
    return Fault(body=body.encode(), headers={"content-type": "text/event-stream"})


def replied(fault: Fault, sampling: Sampling = OFFERED) -> Reply:
    with open_model([], faults=[fault]) as (model, _):
        return model.complete(HELLO, sampling)


def called(*steps: dict[str, Any]) -> Reply:
    return replied(answer(interaction(*steps, status="requires_action")))


def result(call: ToolCall, *parts: str | Picture, is_error: bool = False) -> Message:
    return Message("tool", text(*parts).parts, call_id=call.id, is_error=is_error)


def steps_after(*messages: Message, **settings: Any) -> list[dict[str, Any]]:
    """The steps after the question in a request with these messages."""
    with open_model(["done"], **settings) as (model, server):
        model.complete((*HELLO, *messages), OFFERED)
        sent: list[dict[str, Any]] = server.requests[0].body["input"]
    return sent[1:]


def test_nothing_is_sent_that_was_not_set() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, Sampling())
        assert server.requests[0].body == {
            "model": "m",
            "system_instruction": "be brief",
            "input": [{"type": "user_input", "content": [{"type": "text", "text": "hello"}]}],
            "store": False,
            "stream": True,
        }


def test_what_is_set_goes_into_the_generation_config() -> None:
    with open_model(["hi"], temperature=0.5, max_tokens=70) as (model, server):
        model.complete(HELLO, STOP)
        settings = server.requests[0].body["generation_config"]
    assert settings == {"temperature": 0.5, "max_output_tokens": 70, "stop_sequences": ["</code>"]}


@pytest.mark.parametrize(("detail", "sent"), [("low", "low"), ("auto", None), (None, None)])
def test_detail_is_the_resolution_of_each_image(detail: str | None, sent: object) -> None:
    (step,) = steps_after(text("one", role="assistant"), text(picture()), detail=detail)[1:]
    assert step["content"][0].get("resolution") == sent


@pytest.mark.parametrize("base", ["", "/v1beta", "/v1beta/"])
def test_an_address_gets_the_version_it_lacks(base: str) -> None:
    with ModelServer(["hi"]) as server:
        config = ModelConfig("interactions", "models/m", server.root_url + base, api_key=KEY)
        with closing(gemini_interactions(config)) as model:
            model.complete(HELLO, Sampling())
        (request,) = server.requests
    assert (request.path, request.body["model"]) == ("/v1beta/interactions", "m")
    assert request.headers["x-goog-api-key"] == KEY


def test_the_key_is_in_a_header_alone() -> None:
    with open_model(["hi"], api_key=KEY) as (model, server):
        model.complete(HELLO, Sampling())
        (request,) = server.requests
    assert KEY not in request.path + json.dumps(request.body)


def test_tools_are_declared_with_their_schema() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, OFFERED)
        body = server.requests[0].body
    (tool,) = body["tools"]
    assert (tool["type"], tool["name"], tool["parameters"]["required"]) == (
        "function",
        "run_python",
        ["code"],
    )
    assert body["generation_config"] == {"tool_choice": "auto"}


def test_the_last_turn_forbids_calls() -> None:
    with open_model(["hi"]) as (model, server):
        model.complete(HELLO, Sampling(tools=(RUN,), tool_choice="none"))
        body = server.requests[0].body
    assert (len(body["tools"]), body["generation_config"]) == (1, {"tool_choice": "none"})


@pytest.mark.parametrize("streams", [True, False])
def test_thoughts_are_reasoning_apart_from_the_text(*, streams: bool) -> None:
    with open_model([ServedReply("fine", reasoning="hm")], stream=streams) as (model, _):
        reply = model.complete(HELLO, Sampling())
    assert (reply.text, reply.reasoning) == ("fine", "hm")


def test_thoughts_count_as_output() -> None:
    counts = {"total_input_tokens": 9, "total_output_tokens": 2, "total_thought_tokens": 30}
    usage = replied(answer(interaction(SAID, usage=counts | {"total_cached_tokens": 4}))).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (9, 32, 4)


@pytest.mark.parametrize(
    ("status", "finish"),
    [("completed", "end"), ("incomplete", "length"), ("requires_continuation", "length"), ("new", "end")],
)
def test_every_status_has_its_meaning(status: str, finish: str) -> None:
    assert replied(answer(interaction(SAID, status=status))).finish == finish


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_an_interaction_that_failed_is_an_error(status: str) -> None:
    with pytest.raises(ModelError, match=status):
        replied(answer(interaction(status=status)))


def test_an_error_in_mid_stream_says_what_it_is() -> None:
    fault = stream(("error", {"error": {"message": "Deadline expired.", "code": "gateway_timeout"}}))
    with pytest.raises(ModelError, match="Deadline expired"):
        replied(fault)


def test_reasoning_that_takes_the_whole_length_names_the_setting() -> None:
    """As recorded on 8 October 2026: neither steps nor a signature."""
    usage = {"total_input_tokens": 78, "total_output_tokens": 0, "total_thought_tokens": 29}
    with pytest.raises(ModelError, match="raise max_tokens"):
        replied(answer({"status": "incomplete", "usage": usage, "object": "interaction"}))


# --- tool calls

STREAMED = (
    ("step.start", {"index": 0, "step": {"type": "thought"}}),
    ("step.delta", {"index": 0, "delta": {"type": "thought_summary", "content": THOUGHT["summary"][0]}}),
    ("step.delta", {"index": 0, "delta": {"type": "thought_signature", "signature": "c2ln+/=="}}),
    ("step.stop", {"index": 0}),
    ("step.start", {"index": 1, "step": {"type": "model_output"}}),
    ("step.delta", {"index": 1, "delta": {"type": "text", "text": "I "}}),
    ("step.delta", {"index": 1, "delta": {"type": "text", "text": "look."}}),
    ("step.stop", {"index": 1}),
    ("step.start", {"index": 2, "step": CALL | {"arguments": {}}}),
    ("step.delta", {"index": 2, "delta": {"type": "arguments_delta", "arguments": '{"code": "pri'}}),
    ("step.delta", {"index": 2, "delta": {"type": "arguments_delta", "arguments": 'nt(1)"}'}}),
    ("step.stop", {"index": 2}),
    ("interaction.completed", {"interaction": {"id": "", "status": "requires_action"}}),
)


def test_steps_of_a_stream_go_back_whole() -> None:
    reply = replied(stream(*STREAMED))
    sent = steps_after(reply_message(reply), result(reply.calls[0], "1"))
    assert sent[:3] == [THOUGHT, SAID, CALL]


def test_a_step_that_comes_twice_is_no_reply() -> None:
    with pytest.raises(ModelError, match="did not return a valid reply"):
        replied(stream(*STREAMED[:4], *STREAMED[:1], *STREAMED[4:]))


def test_received_steps_go_back_as_they_came() -> None:
    extended = THOUGHT | {"new_field": [1, {"a": None}]}
    reply = called(extended, SAID, CALL, SECOND)
    one, two = reply.calls
    sent = steps_after(reply_message(reply), result(one, "1"), result(two, "2"))
    assert sent[:4] == [extended, SAID, CALL, SECOND]
    assert [step["call_id"] for step in sent[4:]] == ["f1", "f2"]


def test_a_result_is_plain_text_for_models_that_take_nothing_else() -> None:
    reply = called(THOUGHT, CALL)
    sent = steps_after(reply_message(reply), result(reply.calls[0], "40"))
    assert sent[-1] == {"type": "function_result", "call_id": "f1", "name": "run_python", "result": "40"}


def test_a_result_contains_its_images() -> None:
    reply = called(THOUGHT, CALL)
    sent = steps_after(reply_message(reply), result(reply.calls[0], "40", picture(), ""))
    assert [part["type"] for part in sent[-1]["result"]] == ["text", "image"]


def test_a_result_that_is_an_error_says_so() -> None:
    reply = called(THOUGHT, CALL)
    sent = steps_after(reply_message(reply), result(reply.calls[0], "no such tool", is_error=True))
    assert (sent[-1]["is_error"], sent[-1]["result"]) == (True, "no such tool")


def test_a_call_of_another_model_goes_out_as_text_with_its_result() -> None:
    call = ToolCall("toolu_1", "run_python", '{"code": "print(1)"}')
    other = Message("assistant", (Text("I look."), call), opaque=Opaque("anthropic:claude", "[]"))
    model_turn, user_turn = steps_after(other, result(call, "7", picture()), text("so?"))
    assert (model_turn["type"], user_turn["type"]) == ("model_output", "user_input")
    assert "print(1)" in model_turn["content"][0]["text"]
    kinds = [part.get("text", part["type"]) for part in user_turn["content"]]
    assert kinds == ["<interpreter>\n", "7", "image", "\n</interpreter>", "so?"]


def test_a_call_that_was_cut_goes_out_as_text_with_its_result() -> None:
    cut = (*STREAMED[:10], ("interaction.completed", {"interaction": {"id": "", "status": "incomplete"}}))
    reply = replied(stream(*cut))
    sent = steps_after(reply_message(reply), result(reply.calls[0], "write less", is_error=True))
    assert (reply.finish, [step["type"] for step in sent]) == ("length", ["model_output", "user_input"])


@pytest.mark.parametrize("can", [CLEAN, Capabilities(honours_stop=False)])
def test_the_thought_of_a_reply_that_ended_at_a_stop_string_goes_back(can: Capabilities) -> None:
    """Whether the endpoint leaves the stop string out, or writes on behind it."""
    says = [ServedReply(f"{CELL}\nand more", reasoning="hm", seal="c2ln+/=="), ServedReply("hi")]
    with open_model(says, can) as (model, server):
        reply = model.complete(HELLO, STOP)
        model.complete((*HELLO, reply_message(reply), text("output")), STOP)
        steps = server.requests[1].body["input"]
    assert steps[1:3] == [THOUGHT, {"type": "model_output", "content": [{"type": "text", "text": CELL}]}]


def test_a_thought_without_a_signature_does_not_go_back() -> None:
    reply = called(THOUGHT | {"signature": ""}, CALL)
    sent = steps_after(reply_message(reply), result(reply.calls[0], "1"))
    assert [step["type"] for step in sent] == ["function_call", "function_result"]


def test_nothing_is_opaque_where_there_is_only_text() -> None:
    assert called(SAID).opaque is None
