from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.agent.pump import batches


def nothing() -> None:
    """What there is to stop where all events are there at once."""


@given(st.lists(st.integers()))
def test_batches_hold_the_events_as_they_were(events: list[int]) -> None:
    assert [event for batch in batches(lambda: iter(events), nothing, 0) for event in batch] == events


def test_no_batch_is_empty() -> None:
    assert () not in list(batches(lambda: iter(range(100)), nothing, 0))


def test_the_first_event_comes_before_there_is_a_second() -> None:
    go_on = threading.Event()

    def events() -> Iterator[int]:
        yield 1
        assert go_on.wait(30)
        yield 2

    come = batches(events, nothing, 0.01)
    assert next(come) == (1,)
    go_on.set()
    assert list(come) == [(2,)]


def test_the_last_batch_comes_without_waiting() -> None:
    stopped = threading.Event()

    def events() -> Iterator[int]:
        yield 0
        assert stopped.wait(30)
        yield 1
        time.sleep(0.2)  # enough for whoever does not wait to be off with the first
        yield 2

    come = batches(events, nothing, 3600)
    assert next(come) == (0,)
    stopped.set()
    assert list(come) == [(1, 2)]


def test_a_failure_is_raised_after_what_came_before() -> None:
    def events() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    come = batches(events, nothing, 0)
    assert next(come) == (1,)
    with pytest.raises(ValueError, match="no more"):
        next(come)


def test_closing_waits_for_the_end_of_the_events() -> None:
    stopped, ended = threading.Event(), threading.Event()

    def events() -> Iterator[int]:
        yield 1
        assert stopped.wait(30)
        ended.set()

    come = batches(events, stopped.set, 0)
    next(come)
    come.close()
    assert ended.is_set()
