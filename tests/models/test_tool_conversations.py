"""Conversations with tool calls against servers that are as strict as the real ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyvision.events import ModelCall, Note
from pyvision.strategies.code_loop.protocol import ProtocolChoice
from pyvision.text.replies import reply_message
from pyvision.types import ConversationState
from tests.servers.conversation import WireName
from tests.servers.conversations import CONVERSATIONS, Plot, play

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
def test_a_conversation_goes_on_over_any_wire(first: WireName, second: WireName) -> None:
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
