"""Standard output and error, in pieces within the message limit, attributed to the cell that started the writer."""

# ipykernel is typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextvars
import fcntl
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

from ipykernel.iostream import OutStream

_FLUSH_S = 0.02  # older lines are sent, so that they survive a crash, and code that holds the GIL
_PIPE = 65_536
_PIECE = 2**20  # characters in one message; the host refuses larger ones


class CellStream(OutStream):
    """Sends large texts piece by piece, and waits until the pieces are on their way."""

    children: ClassVar[ChildOutput | None] = None
    _unsent = 0
    _flushed = 0.0

    def close(self) -> None:
        """Do nothing: a cell that closes its standard output must not silence the next one."""

    def write(self, text: str) -> int:
        if os.getpid() != self._master_pid:  # a forked process has the descriptors but no sending thread
            return _write_all(1 if self.name == "stdout" else 2, text)
        if self.children is not None:
            self.children.forward_pending()
        return self.send(text)

    def send(self, text: str) -> int:
        """Write without forwarding earlier output of child processes."""
        for at in range(0, len(text), _PIECE):
            piece = text[at : at + _PIECE]
            super().write(piece)
            self._unsent += len(piece)
            is_old = piece.endswith("\n") and time.monotonic() - self._flushed > _FLUSH_S
            if self._unsent >= _PIECE or is_old:
                self._unsent = 0
                self.flush()
                self.flush()  # the first flush returns before the socket has the text, the second one does not
                self._flushed = time.monotonic()
        return len(text)


class ChildOutput:
    """What child processes write to descriptors 1 and 2: two pipes for each cell, read by one thread.

    The output of a process that outlives its cell is therefore still attributed to that cell.
    """

    def __init__(self, out: CellStream, err: CellStream) -> None:
        self._streams = {1: out, 2: err}
        self._lock = threading.RLock()
        self._pipes: dict[int, tuple[CellStream, contextvars.Context]] = {}
        self._current: tuple[int, ...] = ()
        self._poll = select.epoll()
        threading.Thread(target=self._read, name="children", daemon=True).start()

    def begin_cell(self) -> None:
        """Create the pipes for the processes of this cell."""
        context = contextvars.copy_context()  # ipykernel keeps the parent message of the output in it
        with self._lock:
            self._current = tuple(self._pipe(at, stream, context) for at, stream in self._streams.items())

    def forward_pending(self) -> None:
        """Forward what processes of this cell have written so far."""
        with self._lock:
            for pipe, _ in self._poll.poll(0):
                while pipe in self._current and pipe in self._pipes and self._forward(pipe):
                    continue

    def _pipe(self, at: int, stream: CellStream, context: contextvars.Context) -> int:
        read, write = map(
            _move_to_high_fd, os.pipe()
        )  # if a cell has closed 1 or 2, the pipe would get that number
        os.set_blocking(read, False)
        os.dup2(write, at)
        os.close(write)
        self._pipes[read] = (stream, context)
        self._poll.register(read, select.EPOLLIN)
        return read

    def _read(self) -> None:
        while True:
            for pipe, _ in self._poll.poll():
                with self._lock:
                    if pipe in self._pipes:
                        self._forward(pipe)

    def _forward(self, pipe: int) -> bool:
        """Forward one read; whether there was any data."""
        try:
            data = os.read(pipe, _PIPE)
        except BlockingIOError:
            return False
        stream, context = self._pipes[pipe]
        if data:
            context.copy().run(stream.send, data.decode(errors="replace"))
        else:  # every process that held it has ended
            self._poll.unregister(pipe)
            del self._pipes[pipe]
            os.close(pipe)
        return bool(data)


def capture_children(events: Any) -> None:
    """Capture what the child processes of each cell write, from the next cell on."""
    out, err = sys.stdout, sys.stderr
    assert isinstance(out, CellStream)
    assert isinstance(err, CellStream)
    children = CellStream.children = ChildOutput(out, err)
    events.register("pre_execute", children.begin_cell)
    events.register("post_execute", children.forward_pending)


def build_restorer() -> Callable[[], None]:
    """A function that restores the current standard streams after a cell has replaced them."""
    out, err = sys.stdout, sys.stderr

    def restore() -> None:
        sys.stdout, sys.stderr = out, err

    return restore


def attribute_threads_to_cells() -> None:
    """Attribute the output of a thread to the cell that started it, even if it is late.

    A worker of a pool that an earlier cell created also belongs to that cell.
    """
    start: Callable[[threading.Thread], None] = threading.Thread.start

    def start_in_context(thread: threading.Thread) -> None:
        context, run = contextvars.copy_context(), thread.run
        thread.run = lambda: context.run(run)  # type: ignore[method-assign]
        start(thread)

    threading.Thread.start = start_in_context  # type: ignore[method-assign, assignment]


def _move_to_high_fd(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def _write_all(descriptor: int, text: str) -> int:
    data = text.encode(errors="replace")
    while data:
        data = data[os.write(descriptor, data) :]
    return len(text)
