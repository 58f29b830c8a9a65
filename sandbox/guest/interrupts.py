"""Interrupts of a cell: each request becomes one KeyboardInterrupt, and only in the code of the cell.

ipykernel's handler raises wherever the kernel is at that moment: in the middle of a message, whose rest then
stays in the socket, or while the reply is sent, which is then lost.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, TypeAlias

Later: TypeAlias = Callable[[float, Callable[[], None]], object]

_WAKE_S = 0.02
_INTERRUPTED = compile("raise KeyboardInterrupt", "<interrupt>", "exec")


class Interrupts:
    """The interrupts of one kernel. Cells run in the main thread, requests arrive in another one."""

    def __init__(self) -> None:
        self._running = ""  # the id of the request whose cell runs
        self._early = ""  # of the request that was interrupted before its cell began
        self._pending = False  # an interrupt came while none may be raised
        self._noticed = True  # whether Python has run the handler since the last request
        self._deferred = 0
        self._cancel: Callable[[], object] | None = None
        self.has_cancelled = False  # whether it has ended the running cell by a CancelledError

    @contextmanager
    def cell(self, request: str) -> Iterator[None]:
        """While the cell of this request is prepared, runs, and is reported. Only in the main thread."""
        self._pending, self._running, self.has_cancelled = request == self._early, request, False
        previous = signal.signal(signal.SIGINT, self._handle)
        signal.signal(signal.SIGURG, _wake)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)  # also if the cell has set another handler
            self._running = ""

    def request(self, request: str, send: Callable[[], None], later: Later) -> None:
        """Interrupt the cell of this request, or with "" the one that runs; remember it if it has not begun yet.

        send: sends SIGINT. later: calls a function after so many seconds, in this thread.
        """
        if request and request != self._running:
            self._early = request
            return
        if running := self._running:
            self._noticed = False
            send()
            later(_WAKE_S, lambda: self._wake_until_noticed(running, later))

    @contextmanager
    def defer(self) -> Iterator[None]:
        """Raise an interrupt after this block instead of within it. In other threads nothing is raised anyway."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._deferred += 1
        try:
            yield
        finally:
            self._deferred -= 1
        if self._pending and not self._deferred:
            self._pending = False
            raise KeyboardInterrupt

    @contextmanager
    def cancelling(self, cancel: Callable[[], object]) -> Iterator[None]:
        """Call this instead of raising while the cell waits in the event loop, where none of its code runs."""
        self._cancel = cancel
        try:
            yield
        finally:
            self._cancel = None

    def replace_interrupted(self, code: CodeType) -> CodeType:
        """The code to run instead of this code of a cell, if the cell was interrupted before it got here."""
        interrupted, self._pending = self._pending, False
        return _INTERRUPTED if interrupted else code

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._noticed = True
        if not self._deferred and _is_in_cell(frame):
            raise KeyboardInterrupt
        if self._cancel is not None:
            self.has_cancelled = True
            self._cancel()
        else:
            self._pending = True

    def _wake_until_noticed(self, request: str, later: Later) -> None:
        """End the system call of the main thread, which it may have entered after SIGINT and before the handler ran.

        Python runs handlers between instructions, and a call that blocks, such as `time.sleep`, is one instruction.
        """
        if self._running == request and not self._noticed:
            os.kill(os.getpid(), signal.SIGURG)
            later(_WAKE_S, lambda: self._wake_until_noticed(request, later))


def _wake(number: int, frame: Any) -> None:
    """A handler that only ends a system call."""


def _is_in_cell(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<cell "):
            return True
        frame = frame.f_back
    return False
