from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

import pytest

from pyvision.errors import LimitReached, ModelError
from pyvision.models.cancellation import Cancellation, interruptible


def test_a_cancelled_run_raises_at_its_next_check() -> None:
    cancellation = Cancellation()
    cancellation.check()
    cancellation.cancel()
    with pytest.raises(LimitReached, match="stopped") as caught:
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


class Counted:
    """A stream of numbers that knows how many were read, and whether it was closed."""

    def __init__(self, end: Exception | None = None) -> None:
        self.read = 0
        self.is_closed = False
        self._end = end

    def open(self) -> Generator[int, None, None]:
        try:
            while self.read < 3:
                self.read += 1
                yield self.read
            if self._end is not None:
                raise self._end
        finally:
            self.is_closed = True


def test_an_interruptible_stream_gives_every_piece_in_order() -> None:
    assert list(interruptible(Counted().open, Cancellation())) == [1, 2, 3]


def test_an_interruptible_stream_reads_a_piece_only_when_asked() -> None:
    counted = Counted()
    with closing(interruptible(counted.open, Cancellation())) as stream:
        next(stream)
        assert counted.read == 1


def test_closing_an_interruptible_stream_closes_the_one_that_it_reads() -> None:
    counted = Counted()
    with closing(interruptible(counted.open, Cancellation())) as stream:
        next(stream)
    assert counted.is_closed


def test_an_interruptible_stream_raises_what_it_reads() -> None:
    with pytest.raises(ModelError, match="broken"):
        list(interruptible(Counted(ModelError("broken")).open, Cancellation()))


def test_a_cancelled_stream_is_closed() -> None:
    counted, cancellation = Counted(), Cancellation()
    stream = interruptible(counted.open, cancellation)
    next(stream)
    cancellation.cancel()
    with pytest.raises(LimitReached, match="stopped"):
        next(stream)
    assert counted.is_closed
