"""Replies whose fields have the wrong type or are missing, over every wire: an error, or a reply that can go back."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest

from pyvision.errors import ModelError
from pyvision.text.replies import reply_message
from pyvision.types import Message, Sampling, Text, ToolOffer
from tests.servers.conversation import ServedCall, ServedReply
from tests.servers.faults import Fault
from tests.servers.server import WIRES, ModelServer
from tests.servers.wires import HELLO, MAKE, configured, text

SAID = ServedReply(
    "I look.",
    reasoning="hm",
    calls=(ServedCall("c1", '{"code": "print(1)"}'), ServedCall("c2", '{"code": "print(2)"}')),
)
OFFERED = Sampling(tools=(ToolOffer("run_python", "Runs code.", "code", "The code."),))
JUNK: tuple[Any, ...] = (
    None,
    5,
    1.5,
    True,
    "x",
    [],
    [1],
    [None],
    [{}],
    {},
    {"type": "x"},
    {"text": 3},
    10**30,
)


def events_of(wire: Any, *, stream: bool) -> list[dict[str, Any]]:
    """What the server sends for the reply: one object for each event, or the whole."""
    if not stream:
        return [WIRES[wire].whole(SAID)]
    lines = "".join(WIRES[wire].events(SAID, {"stream": True})).splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each value in it is."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*place, key)
        yield from places(each, (*place, key))


def spoil(events: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """The events with one value replaced, or left out."""
    spoilt = json.loads(json.dumps(events))
    place = chance.choice([place for place in places(spoilt) if len(place) > 1])
    holder = spoilt
    for key in place[:-1]:
        holder = holder[key]
    if chance.random() < 0.25:
        del holder[place[-1]]
    else:
        holder[place[-1]] = chance.choice(JUNK)
    return list(spoilt)


def answer_of(events: list[dict[str, Any]], *, stream: bool) -> Fault:
    if not stream:
        body, kind = json.dumps(events[0]).encode(), "application/json"
    else:
        body, kind = "".join(f"data: {json.dumps(each)}\n\n" for each in events).encode(), "text/event-stream"
    return Fault(body=body, headers={"content-type": kind})


@pytest.mark.parametrize("count", [15, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("wire", list(WIRES))
def test_a_spoilt_reply_is_an_error_or_can_go_back(wire: Any, count: int, *, stream: bool) -> None:
    chance, events, waiting = random.Random(count), events_of(wire, stream=stream), list[Fault]()
    came_back = 0
    with (
        ModelServer(lambda _: "done", weather=lambda _: waiting.pop() if waiting else None) as server,
        closing(MAKE[wire](configured(wire, server, timeout_s=5.0))) as model,
    ):
        for _ in range(count):
            waiting.append(answer_of(spoil(events, chance), stream=stream))
            try:
                reply = model.complete(HELLO, OFFERED)
            except ModelError:
                continue
            results = [Message("tool", (Text("1"),), call_id=call.id) for call in reply.calls]
            with suppress(ModelError):  # the server may refuse what it sent itself
                model.complete((*HELLO, reply_message(reply), *results, text("so?")), OFFERED)
            came_back += 1
    assert 0 < came_back < count
