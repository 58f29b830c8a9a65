"""Send a signal to a process that is held by a descriptor: never to a stranger, and no error when it is gone."""

from __future__ import annotations

import contextlib
import signal


def send_signal(pidfd: int, number: int) -> None:
    """Send it, unless the process has ended: it may do so at any time, also right after one has looked."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)
