"""Model servers for benchmarks, in a process of their own: what is measured does not share their interpreter."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.servers.conversation import Request, ServedReply
from tests.servers.server import ModelServer


@dataclass(frozen=True, slots=True)
class Steady:
    """A Brain that thinks for a while and then says the n-th text to the n-th turn of a conversation; the last one
    again.
    """

    texts: Sequence[str]
    think_s: float = 0.0

    def __call__(self, request: Request) -> str | ServedReply:
        time.sleep(self.think_s)
        turn = sum(turn.role == "assistant" for turn in request.turns)
        return self.texts[min(turn, len(self.texts) - 1)]


@contextmanager
def served(brain: Steady) -> Iterator[str]:
    """The address of a server in another process, which ends with the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(brain, theirs))
    process.start()
    try:
        yield str(ours.recv())
    finally:
        ours.send("end")
        process.join()
        ours.close()
        theirs.close()


def _serve(brain: Steady, pipe: Connection) -> None:
    with ModelServer(brain) as server:
        pipe.send(server.base_url)
        pipe.recv()
