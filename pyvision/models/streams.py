"""Streams of replies: make one of a whole reply, and a whole reply of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyvision.errors import ModelError
from pyvision.types import Message, Model, Reply, Restart, Sampling


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
) -> Iterator[str | Restart | Reply]:
    """The model's stream; in one piece where the model, which may be a caller's own, has none."""
    if hasattr(model, "stream"):
        return model.stream(messages, sampling)
    return in_one_piece(model.complete(messages, sampling))
