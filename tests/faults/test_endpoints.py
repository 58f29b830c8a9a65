"""Every fault of an endpoint, on every wire: the stated outcome, no hang, and no key in what is said about it.

One module handles the faults of all wires, so the quick tests try each fault on one wire, and on all of them only what
a wire words itself. The slow tests try every fault on every wire.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import pytest

from pyvision.errors import ModelError
from pyvision.models.factory import build
from pyvision.models.retry import RetryingModel
from pyvision.types import Message, Reply, Sampling, Text
from tests.servers.capabilities import Capabilities
from tests.servers.conversation import ServedReply
from tests.servers.faults import FAULTS, PASSING, Fault, Plan
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, configured

pytestmark = pytest.mark.early

KEY = "sk-very-secret-0123456789"
HELLO = (Message("user", (Text("hello"),)),)
STOP = Sampling(stop=("</code>",))
EVERY_WIRE = pytest.mark.parametrize("wire", list(WIRES))
LASTING = ("401", "403", "quota", "model not found", "413", "context overflow", "400", "only a tool call")
SILENT = ("slow first byte", "stalled")
ANSWERED = ("usage of 2^63", "negative usage", "repeated chunks")
ODD = ("429 huge retry-after", "trickle", "trickling headers", "408", "409")


def on_wires(faults: Iterable[str]) -> pytest.MarkDecorator:
    """Parametrizes with each fault and each wire; most of these pairs are left to the slow tests."""
    pairs = []
    for number, fault in enumerate(faults):
        for wire in WIRES:
            is_quick = wire == list(WIRES)[number % len(WIRES)] or FAULTS[fault].oddity is not None
            pairs.append(pytest.param(wire, fault, marks=() if is_quick else pytest.mark.slow))
    return pytest.mark.parametrize(("wire", "fault"), pairs)


@dataclass(slots=True)
class Call:
    """One reply asked for with retries whose waits take no time: what came of it, and how many requests and waits."""

    reply: Reply | None = None
    error: ModelError | None = None
    waits: list[float] = field(default_factory=list)
    requests: int = 0


def call(
    wire: str,
    faults: Sequence[str | Fault | None],
    *,
    after: str | None = None,
    said: Sequence[str | ServedReply] = ("all is well",) * 9,
    sampling: Sampling = STOP,
    budget_s: float = 600.0,
    **settings: Any,
) -> Call:
    done = Call()
    with ModelServer(said, weather=Plan(faults, after)) as server:
        config = configured(
            wire, server, **({"api_key": KEY, "timeout_s": 5.0, "total_s": 20.0, "retry_s": 0.001} | settings)
        )
        clock = iter(range(10**6))
        model = RetryingModel(
            build(config), budget_s, sleep=done.waits.append, clock=lambda: float(next(clock))
        )
        with closing(model):
            try:
                done.reply = model.complete(HELLO, sampling)
            except ModelError as error:
                done.error = error
        done.requests = len(server.requests)
    return done


@pytest.fixture(scope="module", autouse=True)
def _loaded_clients() -> None:
    """Load both clients first: a time limit of a test must not pass meanwhile."""
    import_module("anthropic")
    import_module("openai")


def test_every_fault_is_in_one_class_at_least() -> None:
    assert set(FAULTS) == {*PASSING, *LASTING, *SILENT, *ANSWERED, *ODD}


@on_wires([*PASSING, *SILENT, "408", "409"])
def test_a_passing_fault_costs_another_try_alone(wire: str, fault: str) -> None:
    done = call(wire, [fault, fault], timeout_s=1.0 if fault in SILENT else 60.0)
    assert done.reply is not None
    assert done.reply.text == "all is well"
    assert done.requests == 3
    assert len(done.waits) == 2


@on_wires(LASTING)
def test_a_permanent_fault_is_reported_without_retries(wire: str, fault: str) -> None:
    done = call(wire, [], after=fault)
    assert done.error is not None
    assert (done.requests, done.waits, done.error.retry) == (1, [], False)


@on_wires(name for name in FAULTS if name not in ("trickle", "trickling headers", *ANSWERED))
def test_the_message_of_a_fault_is_one_line_without_the_key(
    wire: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    error = call(wire, [], after=fault, budget_s=0.0, timeout_s=0.2 if fault in SILENT else 60.0).error
    assert error is not None
    assert "\n" not in str(error)
    assert "127.0.0.1" in str(error)
    assert KEY not in "".join(traceback.format_exception(error))
    assert KEY not in caplog.text


@EVERY_WIRE
def test_a_fault_has_a_brief_description(wire: str) -> None:
    error = call(wire, [], after="503", budget_s=0.0).error
    assert error is not None
    assert re.fullmatch(r"503 from 127\.0\.0\.1:\d+", error.brief)


@EVERY_WIRE
def test_the_endpoint_is_waited_for_as_long_as_it_asks(wire: str) -> None:
    (wait_s,) = call(wire, [Fault(body=b"busy", status=429, headers={"retry-after": "2"})]).waits
    assert 2.0 <= wait_s <= 2.0 * 1.25


@EVERY_WIRE
def test_a_retry_delay_beyond_the_budget_is_not_waited_for(wire: str) -> None:
    done = call(wire, [], after="429 huge retry-after")
    assert done.error is not None
    assert (done.waits, done.requests) == ([], 1)
    assert "it asks to wait 86,400 s, and 599 s are left for retries; to wait longer, raise retry_s" in str(
        done.error
    )


@EVERY_WIRE
def test_a_wait_within_the_budget_is_waited_in_full(wire: str) -> None:
    (wait_s,) = call(wire, ["429 huge retry-after"], budget_s=200_000.0).waits
    assert 86_400 <= wait_s <= 86_400 * 1.25


@pytest.mark.parametrize("value", ["0", "-5", "nan"])
def test_an_endpoint_that_asks_for_no_wait_is_waited_for(value: str) -> None:
    waits = call("completions", [f"429 retry-after {value}"] * 6).waits
    assert all(wait_s >= 0.5 * 2**attempt for attempt, wait_s in enumerate(waits))


@EVERY_WIRE
def test_waits_grow_until_the_budget_is_spent(wire: str) -> None:
    done = call(wire, [], after="503", budget_s=60.0)
    assert done.error is not None
    assert done.requests > 3
    assert done.waits[-1] > done.waits[0]
    assert f"gave up after {done.requests} attempts" in str(done.error)


@on_wires(SILENT)
def test_silence_ends_at_the_time_limit(wire: str, fault: str) -> None:
    done = call(wire, [], after=fault, budget_s=0.0, timeout_s=0.2)
    assert done.error is not None
    assert done.error.retry


@EVERY_WIRE
def test_an_endpoint_that_trickles_for_ever_is_cut_off(wire: str) -> None:
    done = call(wire, [], after="trickle", said=["long " * 200] * 3, budget_s=0.0, total_s=0.2)
    assert done.error is not None


@EVERY_WIRE
def test_headers_that_trickle_for_ever_end_at_the_time_limit(wire: str) -> None:
    done = call(wire, [], after="trickling headers", budget_s=0.0, total_s=0.5)
    assert done.error is not None
    assert "no whole reply within 0.5 s" in str(done.error)


@EVERY_WIRE
def test_headers_that_trickle_end_with_the_time_of_the_question(wire: str) -> None:
    sampling = Sampling(seconds=0.5)
    done = call(wire, [], after="trickling headers", budget_s=0.0, sampling=sampling)
    assert done.error is not None


@EVERY_WIRE
@pytest.mark.parametrize("fault", ["usage of 2^63", "negative usage"])
def test_a_count_of_tokens_that_cannot_be_is_estimated(wire: str, fault: str) -> None:
    reply = call(wire, [fault]).reply
    assert reply is not None
    assert 0 < reply.usage.input_tokens < 100
    assert 0 < reply.usage.output_tokens < 100


def test_chunks_with_numbers_that_come_twice_count_once() -> None:
    reply = call("responses", ["repeated chunks"], said=["all is well, and it stays so"]).reply
    assert reply is not None
    assert reply.text == "all is well, and it stays so"


def test_a_part_that_is_opened_twice_is_asked_for_again() -> None:
    done = call("messages", [Fault(twice=range(2, 3))])
    assert done.reply is not None
    assert (done.reply.text, done.requests) == ("all is well", 2)


@EVERY_WIRE
def test_a_reply_without_end_is_cut_as_too_long(wire: str) -> None:
    done = call(
        wire, [], said=["word " * 250_000], timeout_s=30.0, total_s=120.0, stream=False, max_tokens=10**6
    )
    assert done.reply is not None
    assert (len(done.reply.text), done.reply.finish) == (1_000_000, "length")


@EVERY_WIRE
def test_an_endpoint_that_refuses_the_key_does_not_get_it_repeated(wire: str) -> None:
    with ModelServer(["x"], can=Capabilities(keys=frozenset({"another"}))) as server:
        config = configured(wire, server, api_key=KEY, retry_s=0.001)
        with closing(build(config)) as model, pytest.raises(ModelError, match="401") as caught:
            model.complete(HELLO, STOP)
        assert server.requests[0].key == KEY
    assert KEY not in "".join(traceback.format_exception(caught.value))


@EVERY_WIRE
def test_a_reply_cut_at_its_length_says_so(wire: str) -> None:
    done = call(wire, [], said=[ServedReply("and then", "length")])
    assert done.reply is not None
    assert (done.reply.text, done.reply.finish) == ("and then", "length")


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "interactions"])  # it has no such status
def test_a_refusal_is_a_reply(wire: str) -> None:
    done = call(wire, [], said=[ServedReply("I will not.", "refusal")])
    assert done.reply is not None
    assert (done.reply.finish, done.requests) == ("refusal", 1)


@pytest.mark.parametrize(
    "wire",
    [
        "completions",
        *(pytest.param(wire, marks=pytest.mark.slow) for wire in ("responses", "messages", "gemini")),
    ],
)
def test_a_huge_reply_comes_whole(wire: str) -> None:
    done = call(wire, [], said=["0123456789" * 10_000], timeout_s=20.0, total_s=60.0, max_tokens=50_000)
    assert done.reply is not None
    assert len(done.reply.text) == 100_000


@EVERY_WIRE
@pytest.mark.parametrize(
    "can", [Capabilities(), Capabilities(honours_stop=False), Capabilities(keeps_stop=True)]
)
def test_a_stop_string_ends_the_reply_whatever_the_endpoint_does_with_it(
    wire: str, can: Capabilities
) -> None:
    with (
        ModelServer(["I look.\n<code>\nprint(1)\n</code>\nand on"], can=can) as server,
        closing(build(configured(wire, server))) as model,
    ):
        reply = model.complete(HELLO, STOP)
    assert reply.text == "I look.\n<code>\nprint(1)\n"
