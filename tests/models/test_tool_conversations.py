"""Conversations with tool calls against servers that are as strict as the real ones."""

from __future__ import annotations

import pytest

from pyvision.strategies.code_loop.protocol import ProtocolChoice
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
