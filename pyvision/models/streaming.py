"""Streams of replies: make one of a whole reply, a whole reply of one, and read one that can be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Literal, TypeVar

from pyvision.errors import ModelError
from pyvision.models.cancellation import Cancellation
from pyvision.types import Message, Model, Reply, Restart, Sampling

T = TypeVar("T")


def in_one_piece(reply: Reply) -> Iterator[str | Reply]:
    """The stream of a reply that is there as a whole."""
    if reply.text:
        yield reply.text
    yield reply


def whole(pieces: Iterable[str | Restart | Reply]) -> Reply:
    """The reply at the end of a stream. Raises ModelError where there is none."""
    for piece in pieces:
        if isinstance(piece, Reply):
            return piece
    raise ModelError("the stream ended without a reply", retry=True)


def stream_of(
    model: Model, messages: Sequence[Message], sampling: Sampling
) -> Generator[str | Restart | Reply, None, None]:
    """The model's stream; in one piece where the model, which may be a caller's own, has none.

    Closing it closes the connection.
    """
    if hasattr(model, "stream"):
        yield from model.stream(messages, sampling)
    else:
        yield from in_one_piece(model.complete(messages, sampling))


def interruptible(
    open_stream: Callable[[], Generator[T, None, None]], cancellation: Cancellation
) -> Generator[T, None, None]:
    """A stream that a cancellation ends at once, even while its next piece is awaited.

    A thread opens, reads and closes it, one piece ahead of nobody: when this generator is closed between two pieces,
    so is the stream; when it is cancelled while the thread waits, the stream is closed after that wait.
    Raises what the stream raises, and LimitReached when it is cancelled.
    """
    wanted: SimpleQueue[Literal["piece", "end"]] = SimpleQueue()
    pieces: SimpleQueue[T | _End] = SimpleQueue()
    reader = threading.Thread(
        target=_read, args=(open_stream, wanted, pieces), name="model-stream", daemon=True
    )
    is_waiting = False
    with cancellation.on_cancel(lambda: pieces.put(_End())):
        reader.start()
        try:
            while True:
                cancellation.check()
                wanted.put("piece")
                is_waiting = True
                piece = pieces.get()
                cancellation.check()
                is_waiting = False
                if isinstance(piece, _End):
                    break
                yield piece
        finally:
            wanted.put("end")
            if not is_waiting:
                reader.join()
    if piece.error is not None:
        raise piece.error


@dataclass(frozen=True, slots=True)
class _End:
    """Nothing more comes; what the stream failed with, if it did."""

    error: BaseException | None = None


def _read(
    open_stream: Callable[[], Generator[T, None, None]],
    wanted: SimpleQueue[Literal["piece", "end"]],
    pieces: SimpleQueue[T | _End],
) -> None:
    """Hand over a piece each time that one is wanted."""
    try:
        with closing(open_stream()) as stream:
            while wanted.get() == "piece":
                pieces.put(next(stream))
    except StopIteration:
        pieces.put(_End())
    except BaseException as error:  # noqa: BLE001 - it is for the asking thread to raise
        pieces.put(_End(error))


def close_model(model: Model) -> None:
    """Close a model that holds connections; the others have nothing to close."""
    close = getattr(model, "close", None)
    if close is not None:
        close()
