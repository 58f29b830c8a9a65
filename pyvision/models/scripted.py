"""A model that gives prepared replies in order: for tests, demonstrations and dry runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from pyvision.errors import ModelError
from pyvision.models.streaming import in_one_piece, truncate_at_stop
from pyvision.types import Message, Reply, Restart, Sampling


class Scripted:
    """Returns its replies one after the other and keeps the requests it saw; safe to share between threads.

    A text becomes a Reply, an exception is raised, and a call past the last reply raises ModelError.
    """

    def __init__(self, replies: Sequence[str | Reply | Exception], name: str = "scripted") -> None:
        self.replies = tuple(replies)
        self.requests: list[tuple[Message, ...]] = []
        self.samplings: list[Sampling] = []
        self._name = name
        self._turn = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The next reply of the script, cut before the first stop string as an endpoint would cut it."""
        with self._turn:
            turn = len(self.requests)
            self.requests.append(tuple(messages))
            self.samplings.append(sampling)
        if turn >= len(self.replies):
            raise ModelError(
                f"{self.name}: the script of {len(self.replies)} replies is used up; add the next one"
            )
        match self.replies[turn]:
            case Exception() as error:
                raise error
            case str() as text:
                return truncate_at_stop(Reply(text), sampling.stop)
            case reply:
                return reply

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """The next reply, its text in one piece."""
        return in_one_piece(self.complete(messages, sampling))

    def close(self) -> None:
        """Nothing is open."""
