"""Standard output and error in pieces that the wire carries, and of the cell that started the writer."""

# ipykernel is typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable

from ipykernel.iostream import OutStream

_PIECE = 2**20  # characters in one message: larger ones would be refused by the host


class CellStream(OutStream):
    """Sends large texts piece by piece, and waits until the pieces are on their way."""

    _unsent = 0

    def close(self) -> None:
        """Stay open: a cell that closes its standard output must not silence the next one."""

    def write(self, text: str) -> int:
        for at in range(0, len(text), _PIECE):
            piece = text[at : at + _PIECE]
            super().write(piece)
            self._unsent += len(piece)
            if self._unsent >= _PIECE:
                self._unsent = 0
                self.flush()
        return len(text)


def keeper() -> Callable[[], None]:
    """What puts the present standard streams back into their place, whatever a cell did to it."""
    out, err = sys.stdout, sys.stderr

    def restore() -> None:
        sys.stdout, sys.stderr = out, err

    return restore


def give_threads_their_cell() -> None:
    """Let a thread write as the cell that started it, so that what it says too late is never another cell's.

    A worker of a pool that an earlier cell made belongs to that cell too.
    """
    start: Callable[[threading.Thread], None] = threading.Thread.start

    def start_in_context(thread: threading.Thread) -> None:
        context, run = contextvars.copy_context(), thread.run
        thread.run = lambda: context.run(run)  # type: ignore[method-assign]
        start(thread)

    threading.Thread.start = start_in_context  # type: ignore[method-assign, assignment]
