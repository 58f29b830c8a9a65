from __future__ import annotations

import threading
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


def reading_thread(cancellation: Cancellation) -> threading.Thread:
    """The thread in which a stream with this token is read."""

    def name_thread() -> Generator[threading.Thread, None, None]:
        yield threading.current_thread()

    [thread] = interruptible(name_thread, cancellation)
    return thread


def test_streams_with_one_token_share_a_thread() -> None:
    cancellation = Cancellation()
    assert reading_thread(cancellation) is reading_thread(cancellation)


def test_streams_that_are_open_at_the_same_time_have_their_own_threads() -> None:
    cancellation = Cancellation()
    with closing(interruptible(Counted().open, cancellation)) as outer:
        next(outer)
        assert list(interruptible(Counted().open, cancellation)) == [1, 2, 3]
        assert next(outer) == 2


def test_a_thread_is_reused_after_a_stream_that_failed() -> None:
    cancellation = Cancellation()
    before = reading_thread(cancellation)
    with pytest.raises(ModelError, match="broken"):
        list(interruptible(Counted(ModelError("broken")).open, cancellation))
    assert reading_thread(cancellation) is before


def test_the_thread_ends_with_its_token() -> None:
    cancellation = Cancellation()
    thread = reading_thread(cancellation)
    del cancellation
    thread.join(10)
    assert not thread.is_alive()


def test_a_stream_that_does_not_answer_is_left_at_once_when_it_is_cancelled() -> None:
    cancellation, asked, answer = Cancellation(), threading.Event(), threading.Event()

    def wait() -> Generator[int, None, None]:
        asked.set()
        yield int(answer.wait(60))

    def cancel_once_asked() -> None:
        asked.wait(60)
        cancellation.cancel()

    threading.Thread(target=cancel_once_asked, daemon=True).start()
    with pytest.raises(LimitReached, match="stopped"):
        next(interruptible(wait, cancellation))
    assert not answer.is_set()
    answer.set()
