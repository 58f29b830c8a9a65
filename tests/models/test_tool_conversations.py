"""Conversations with tool calls against servers that are as strict as the real ones."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import ModelError
from pyvision.events import Event, ModelCall, Note
from pyvision.models.factory import build, endpoint_limits
from pyvision.strategies.code_loop import CodeLoop
from pyvision.strategies.code_loop.protocol import ProtocolChoice
from pyvision.text.replies import reply_message
from pyvision.types import (
    Answer,
    ConversationState,
    Message,
    Question,
    Reply,
    Sampling,
    Text,
    ToolCall,
    ToolOffer,
)
from tests.doubles import CannedSandbox, EpisodeHarness, picture, printed
from tests.servers.capabilities import Capabilities
from tests.servers.conversation import ServedCall, ServedReply, WireName
from tests.servers.conversations import CONVERSATIONS, Plot, play
from tests.servers.server import ModelServer
from tests.servers.wires import HELLO, configured, open_model

PROTOCOLS: tuple[ProtocolChoice, ...] = ("text", "tools")
WIRES_AND_PROTOCOLS = [(wire, protocol) for wire in CONVERSATIONS for protocol in PROTOCOLS]


@pytest.mark.parametrize(("wire", "protocol"), WIRES_AND_PROTOCOLS)
@pytest.mark.parametrize("seed", range(6))
def test_no_conversation_is_rejected_or_loses_a_figure(
    seed: int, wire: WireName, protocol: ProtocolChoice
) -> None:
    assert play(Plot.drawn(seed), wire, protocol).faults == ()


@pytest.mark.parametrize("second", CONVERSATIONS)
@pytest.mark.parametrize("first", CONVERSATIONS)
def test_a_conversation_continues_over_any_wire(first: WireName, second: WireName) -> None:
    plot = Plot(
        1, ("plain", "parallel", "malformed"), ("1234", None, None), reasons=True, in_results=None, busy=()
    )
    last = [event for event in play(plot, first, "tools").events if isinstance(event, ModelCall)][-1]
    assert any(message.opaque for message in last.messages)
    earlier = ConversationState((*last.messages, reply_message(last.reply)), 2, frozenset({0}))
    played = play(replace(plot, seed=2), second, "tools", earlier=earlier)
    dropped = [each for each in played.events if isinstance(each, Note) and each.label == "opaque_dropped"]
    assert played.rejected == ()
    assert len(dropped) == (first != second)


CELL = "<code>\n```python\nprint(1)\n```\n</code>"
ANSWER = "<answer>\\boxed{1}</answer>"


def refused(wire: WireName, protocol: ProtocolChoice) -> tuple[Answer | ModelError, list[Event], list[str]]:
    """What comes of a question to an endpoint that refuses tools; and which of its requests offered some."""
    events: list[Event] = []
    with ModelServer([CELL, ANSWER], can=Capabilities(refuses=frozenset({"tools"}))) as server:
        config = configured(wire, server)
        accepts = replace(endpoint_limits(config, None), calls_tools=True)
        with closing(build(config)) as model:
            question = Question("What is printed?", (picture(),))
            sandbox = CannedSandbox([printed("1\n")])
            episode = Episode(
                question, {"default": model}, Limits(), sandbox, events.append, accepts={"default": accepts}
            )
            try:
                answer: Answer | ModelError = CodeLoop(protocol=protocol).solve(question, episode)
            except ModelError as error:
                answer = error
        return (
            answer,
            events,
            ["tools" if request.body.get("tools") else "text" for request in server.requests],
        )


@pytest.mark.parametrize("wire", CONVERSATIONS)
def test_an_endpoint_that_refuses_tools_is_asked_in_text(wire: WireName) -> None:
    answer, events, requests = refused(wire, "auto")
    notes = [event for event in events if isinstance(event, Note)]
    assert isinstance(answer, Answer)
    assert (answer.text, requests[-2:]) == ("1", ["text", "text"])
    assert set(requests[:-2]) == {"tools"}  # responses try a free-form tool, then a function
    assert [note.label for note in notes] == ["tools_refused"]
    assert "'tools' is not supported" in notes[0].data["why"]


def test_tools_that_the_user_chose_are_not_given_up() -> None:
    answer, _, requests = refused("completions", "tools")
    assert isinstance(answer, ModelError)
    assert (answer.kind, requests) == ("tools", ["tools"])


def test_an_endpoint_that_refuses_tools_after_its_first_reply_ends_the_run() -> None:
    complaint = ModelError("m: 'tools' is not supported", kind="tools")
    call = ToolCall("c1", "run_python", '{"code": "1"}')
    harness = EpisodeHarness(
        [Reply("", calls=(call,)), complaint, ANSWER], accepts=EndpointLimits(calls_tools=True)
    )
    with pytest.raises(ModelError, match="not supported"):
        harness.solve(CodeLoop())


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("wire", CONVERSATIONS)
def test_a_reply_with_half_a_surrogate_pair_can_go_back(wire: WireName, *, streams: bool) -> None:
    call = ServedCall("c1", '{"code": "print(\\"\\ud800\\")"}')
    said = ServedReply("I look \ud83d.", reasoning="hm \ud800", calls=(call,))
    asked = Sampling(tools=(ToolOffer("run_python", "Runs code.", "code", "The code."),))
    with open_model(wire, [said, "done"], stream=streams) as (model, _):
        reply = model.complete(HELLO, asked)
        result = Message("tool", (Text("1 \ud800"),), call_id=reply.calls[0].id)
        assert model.complete((*HELLO, reply_message(reply), result), asked).text == "done"
