from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

import pytest

from pyvision.errors import LimitReached, ModelError
from pyvision.models.cancellation import Cancellation
from pyvision.models.scripted import Scripted
from pyvision.models.streaming import in_one_piece, interruptible, stream_of, whole
from pyvision.offline import Offline
from pyvision.types import Message, Reply, Restart, Sampling, Text

HELLO = (Message("user", (Text("hello"),)),)


class WholeOnly:
    """A caller's own model, from before there were streams."""

    name = "whole only"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        return Reply("hi")


def test_a_stream_is_its_text_and_then_the_reply() -> None:
    assert list(in_one_piece(Reply("hi"))) == ["hi", Reply("hi")]
    assert list(in_one_piece(Reply("", finish="refusal"))) == [Reply("", finish="refusal")]


def test_the_reply_of_a_stream_is_its_last_piece() -> None:
    assert whole(["a", Restart(), "b", Reply("b")]) == Reply("b")
    with pytest.raises(ModelError, match="without a reply"):
        whole(["a"])


def test_a_model_without_a_stream_has_one_of_one_piece() -> None:
    model: object = WholeOnly()
    assert list(stream_of(model, HELLO, Sampling())) == ["hi", Reply("hi")]  # type: ignore[arg-type]


def test_models_without_an_endpoint_stream_what_they_complete() -> None:
    stop = Sampling(stop=("</code>",))
    cell = "<code>\nprint(1)\n"
    assert list(Scripted([cell + "</code>"]).stream(HELLO, stop)) == [cell, Reply(cell, finish="stop")]
    *_, reply = Offline().stream(HELLO, stop)
    assert reply == Offline().complete(HELLO, stop)


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


def test_an_interruptible_stream_reads_no_piece_that_nobody_wants_yet() -> None:
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
    with pytest.raises(LimitReached, match="stopped by the caller"):
        next(stream)
    assert counted.is_closed
