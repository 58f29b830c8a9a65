"""Let SIGTERM and Ctrl-C end a command in the same way, and let neither be lost."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import NoReturn


class Interrupts:
    """Lets SIGTERM end a run as Ctrl-C does: the kernel closed, the trajectory complete. Knows if one came.

    Python swallows what is raised in a callback of its own, as those of the garbage collector and the importer are:
    an interrupt that came to such an end is sent again.
    """

    def __init__(self) -> None:
        self.seen = False
        self._main_thread = threading.get_ident()  # signal.signal, below, works in no other
        self._unraisable = sys.unraisablehook
        sys.unraisablehook = self._send_again
        signal.signal(signal.SIGTERM, self._take)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell ignores it
            signal.signal(signal.SIGINT, self._take)

    def _take(self, number: int, frame: FrameType | None) -> NoReturn:
        self.seen = True
        raise KeyboardInterrupt

    def _send_again(self, swallowed: sys.UnraisableHookArgs) -> None:
        if not issubclass(swallowed.exc_type, KeyboardInterrupt):
            self._unraisable(swallowed)
            return
        # After the callback; and to the main thread, which a signal to another thread would not wake from a read.
        again = threading.Timer(0.01, signal.pthread_kill, [self._main_thread, signal.SIGTERM])
        again.daemon = True
        again.start()
