"""Standard output and error in pieces that the channels carries, and of the cell that started the writer."""

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

_FLUSH_S = 0.02  # lines written longer ago than this outlive a crash, and code that holds the interpreter
_PIPE = 65_536
_PIECE = 2**20  # characters in one message: larger ones would be refused by the host


class CellStream(OutStream):
    """Sends large texts piece by piece, and waits until the pieces are on their way."""

    children: ClassVar[ChildOutput | None] = None
    _unsent = 0
    _flushed = 0.0

    def close(self) -> None:
        """Stay open: a cell that closes its standard output must not silence the next one."""

    def write(self, text: str) -> int:
        if os.getpid() != self._master_pid:  # a fork: it has the descriptors and no thread that sends
            return _write_all(1 if self.name == "stdout" else 2, text)
        if self.children is not None:
            self.children.catch_up()
        return self.send(text)

    def send(self, text: str) -> int:
        """Write without a look at what children have said before."""
        for at in range(0, len(text), _PIECE):
            piece = text[at : at + _PIECE]
            super().write(piece)
            self._unsent += len(piece)
            is_old = piece.endswith("\n") and time.monotonic() - self._flushed > _FLUSH_S
            if self._unsent >= _PIECE or is_old:
                self._unsent = 0
                self.flush()
                self.flush()  # the first one is over before the socket has the text, the second one is not
                self._flushed = time.monotonic()
        return len(text)


class ChildOutput:
    """What processes of a cell write to descriptors 1 and 2: two pipes for each cell, read by one thread.

    So what a process says that outlives its cell is still known to be of that cell.
    """

    def __init__(self, out: CellStream, err: CellStream) -> None:
        self._streams = {1: out, 2: err}
        self._lock = threading.RLock()
        self._pipes: dict[int, tuple[CellStream, contextvars.Context]] = {}
        self._current: tuple[int, ...] = ()
        self._poll = select.epoll()
        threading.Thread(target=self._read, name="children", daemon=True).start()

    def begin_cell(self) -> None:
        """Give the processes of this cell pipes of their own."""
        context = contextvars.copy_context()  # in it ipykernel keeps whose output it is
        with self._lock:
            self._current = tuple(self._pipe(at, stream, context) for at, stream in self._streams.items())

    def catch_up(self) -> None:
        """Pass on what processes of this cell have said up to now."""
        with self._lock:
            for pipe, _ in self._poll.poll(0):
                while pipe in self._current and pipe in self._pipes and self._pass_on(pipe):
                    continue

    def _pipe(self, at: int, stream: CellStream, context: contextvars.Context) -> int:
        read, write = map(_high, os.pipe())  # a cell may have closed 1 and 2, which are given out anew then
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
                        self._pass_on(pipe)

    def _pass_on(self, pipe: int) -> bool:
        """Whether there was anything."""
        try:
            said = os.read(pipe, _PIPE)
        except BlockingIOError:
            return False
        stream, context = self._pipes[pipe]
        if said:
            context.copy().run(stream.send, said.decode(errors="replace"))
        else:  # every process that had it has ended
            self._poll.unregister(pipe)
            del self._pipes[pipe]
            os.close(pipe)
        return bool(said)


def watch_children(events: Any) -> None:
    """Take in what the processes of each cell write, from the next cell on."""
    out, err = sys.stdout, sys.stderr
    assert isinstance(out, CellStream)
    assert isinstance(err, CellStream)
    children = CellStream.children = ChildOutput(out, err)
    events.register("pre_execute", children.begin_cell)
    events.register("post_execute", children.catch_up)


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


def _high(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def _write_all(descriptor: int, text: str) -> int:
    data = text.encode(errors="replace")
    while data:
        data = data[os.write(descriptor, data) :]
    return len(text)
