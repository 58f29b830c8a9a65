from __future__ import annotations

import pytest

from pyvision.errors import LimitReached
from pyvision.models.cancellation import Cancellation


def test_a_cancelled_run_raises_at_its_next_check() -> None:
    cancellation = Cancellation()
    cancellation.check()
    cancellation.cancel()
    with pytest.raises(LimitReached, match="stopped by the caller") as caught:
        cancellation.check()
    assert caught.value.end_reason == "interrupted"


def test_every_block_that_is_entered_is_called_back() -> None:
    cancellation, called = Cancellation(), list[str]()
    with (
        cancellation.on_cancel(lambda: called.append("outer")),
        cancellation.on_cancel(lambda: called.append("inner")),
    ):
        cancellation.cancel()
    assert called == ["outer", "inner"]


def test_a_second_cancel_calls_nothing_back() -> None:
    cancellation, called = Cancellation(), list[str]()
    with cancellation.on_cancel(lambda: called.append("once")):
        cancellation.cancel()
        cancellation.cancel()
    assert called == ["once"]


def test_a_block_that_was_left_is_not_called_back() -> None:
    cancellation, called = Cancellation(), list[str]()
    with cancellation.on_cancel(lambda: called.append("late")):
        pass
    cancellation.cancel()
    assert called == []


def test_no_block_is_entered_after_a_cancel() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(LimitReached), cancellation.on_cancel(lambda: None):
        pytest.fail("the block was entered")
