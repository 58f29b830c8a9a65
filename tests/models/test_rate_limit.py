"""Calls held to limits: on a clock that only moves when it is told to, and with real threads where order matters."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyvision.errors import ModelError
from pyvision.models.rate_limit import RateLimitedModel
from pyvision.models.reply_builder import estimate_tokens
from pyvision.models.scripted import Scripted
from pyvision.models.streaming import in_one_piece
from pyvision.types import Message, Reply, Sampling, Text, Usage
from tests.doubles import picture
from tests.sandbox.processes import wait_until

HELLO = (Message("user", (Text("hello"), picture())),)
NOW = Sampling(seconds=0.0)  # as much as to say: only if there is room at once


class Gate:
    """A model whose calls wait until they are let through; counts those under way."""

    name = "gate"

    def __init__(self) -> None:
        self.open = threading.Semaphore(0)
        self.running = self.most = 0
        self.order: list[str] = []
        self.errors: list[Exception] = []
        self._lock = threading.Lock()

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        with self._lock:
            self.order.append(messages[0].text)
            self.running += 1
            self.most = max(self.most, self.running)
        assert self.open.acquire(timeout=60.0)
        with self._lock:
            self.running -= 1
            error = self.errors.pop() if self.errors else None
        if error is not None:
            raise error
        return Reply("hi")

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield from in_one_piece(self.complete(messages, sampling))


def has_room(model: RateLimitedModel) -> bool:
    """Whether a call is let through at once."""
    try:
        model.complete(HELLO, NOW)
    except ModelError as error:
        return "no time is left to wait for the rate limit" not in str(error)
    return True


def test_a_minute_has_room_for_no_more_requests_than_allowed() -> None:
    model = RateLimitedModel(Scripted(["hi"] * 9), requests_per_minute=3, clock=lambda: 0.0)
    assert [has_room(model) for _ in range(4)] == [True, True, True, False]


def test_room_for_a_request_returns_evenly_over_the_minute() -> None:
    now = [0.0]
    model = RateLimitedModel(Scripted(["hi"] * 9), requests_per_minute=3, clock=lambda: now[0])
    for _ in range(3):
        assert has_room(model)
    now[0] = 19.0
    assert not has_room(model)
    now[0] = 20.0
    assert [has_room(model), has_room(model)] == [True, False]


def test_the_tokens_of_a_call_are_estimated_before_it() -> None:
    expected = estimate_tokens(HELLO)
    replies = [Reply("hi", Usage(expected, 0)), Reply("hi")]
    model = RateLimitedModel(Scripted(replies), tokens_per_minute=expected * 3 // 2, clock=lambda: 0.0)
    assert [has_room(model), has_room(model)] == [True, False]


def test_the_tokens_of_a_call_are_corrected_after_it() -> None:
    now, expected = [0.0], estimate_tokens(HELLO)
    replies = [Reply("hi", Usage(10 * expected, 0)), Reply("hi")]
    model = RateLimitedModel(Scripted(replies), tokens_per_minute=5 * expected, clock=lambda: now[0])
    assert [has_room(model), has_room(model)] == [True, False]
    now[0] = 60.0
    assert not has_room(model)
    now[0] = 73.0
    assert has_room(model)


def test_a_request_larger_than_a_minutes_worth_goes_when_the_bucket_is_full() -> None:
    now = [0.0]
    model = RateLimitedModel(Scripted(["hi", "hi"]), tokens_per_minute=1, clock=lambda: now[0])
    assert [has_room(model), has_room(model)] == [True, False]
    now[0] = 60.0 * (estimate_tokens(HELLO) + 1)
    assert has_room(model)


def test_without_limits_nothing_waits() -> None:
    assert all(has_room(RateLimitedModel(Scripted(["hi"]))) for _ in range(3))


def run_six_two_at_once() -> Gate:
    """A model after six calls that came in the order of their numbers, of which two may run at once."""
    gate = Gate()
    model = RateLimitedModel(gate, max_concurrent=2)
    with ThreadPoolExecutor(6) as threads:
        calls = []
        for number in range(6):
            messages = (Message("user", (Text(str(number)),)),)
            calls.append(threads.submit(model.complete, messages, Sampling()))
            assert wait_until(lambda: len(gate.order) + len(model._queue) == len(calls))
        for _ in calls:
            gate.open.release()
            time.sleep(0.02)
        assert [call.result().text for call in calls] == ["hi"] * 6
    return gate


def test_no_more_calls_run_at_once_than_allowed() -> None:
    assert run_six_two_at_once().most == 2


def test_calls_run_in_the_order_in_which_they_came() -> None:
    order = run_six_two_at_once().order
    assert order == sorted(order)


def slow_down(model: RateLimitedModel, gate: Gate, threads: ThreadPoolExecutor) -> None:
    """Run four calls at once, of which the first to end gets a 429: three may run at once after that."""
    gate.errors.append(ModelError("too many requests", retry=True, kind="rate"))
    calls = [threads.submit(model.complete, HELLO, Sampling()) for _ in range(4)]
    assert wait_until(lambda: gate.running == 4)
    gate.open.release()
    assert wait_until(lambda: any(call.done() for call in calls))
    gate.open.release(3)
    assert sum(isinstance(call.exception(), ModelError) for call in calls) == 1


def test_after_a_429_fewer_calls_run_at_once() -> None:
    gate = Gate()
    model = RateLimitedModel(gate)
    with ThreadPoolExecutor(12) as threads:
        slow_down(model, gate, threads)
        later = [threads.submit(model.complete, HELLO, Sampling()) for _ in range(12)]
        assert wait_until(lambda: gate.running == 3)
        time.sleep(0.05)
        running = gate.running
        gate.open.release(12)
        assert all(call.result() for call in later)
    assert running == 3


def test_replies_after_a_429_allow_more_calls_at_once_again() -> None:
    gate = Gate()
    model = RateLimitedModel(gate)
    with ThreadPoolExecutor(12) as threads:
        slow_down(model, gate, threads)
        gate.open.release(12)
        for _ in range(12):
            assert threads.submit(model.complete, HELLO, Sampling()).result()
        more = [threads.submit(model.complete, HELLO, Sampling()) for _ in range(12)]
        has_grown = wait_until(lambda: gate.running > 3)
        gate.open.release(12)
        assert all(call.result() for call in more)
    assert has_grown


def test_a_stream_holds_its_room_until_it_is_closed() -> None:
    model = RateLimitedModel(Scripted(["one", "two"]), max_concurrent=1)
    pieces = model.stream(HELLO, Sampling())
    assert next(pieces) == "one"
    assert not has_room(model)
    pieces.close()  # type: ignore[attr-defined]
    assert has_room(model)


def test_closing_a_model_ends_the_calls_that_wait() -> None:
    model = RateLimitedModel(Scripted(["one", "two"]), max_concurrent=1)
    held = model.stream(HELLO, Sampling())
    next(held)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(model.complete, HELLO, Sampling())
        assert wait_until(lambda: len(model._queue) == 1)
        model.close()
        with pytest.raises(ModelError, match="the model was closed"):
            waiting.result(timeout=60.0)
    held.close()  # type: ignore[attr-defined]


def test_the_wait_is_taken_from_the_time_of_the_reply() -> None:
    inner = Scripted(["one", "two"])
    model = RateLimitedModel(inner, max_concurrent=1)
    held = model.stream(HELLO, Sampling())
    next(held)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(model.complete, HELLO, Sampling(seconds=60.0))
        assert wait_until(lambda: len(model._queue) == 1)
        time.sleep(0.05)
        held.close()  # type: ignore[attr-defined]
        assert waiting.result(timeout=60.0).text == "two"
    seconds = inner.samplings[1].seconds
    assert seconds is not None
    assert seconds <= 59.95
