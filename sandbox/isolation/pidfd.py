"""Processes held by a pidfd: a signal never reaches another process that got the same pid."""

from __future__ import annotations

import contextlib
import select
import signal
from pathlib import Path


def send_signal(pidfd: int, number: int) -> None:
    """Send the signal, unless the process has ended, which can happen at any time."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def has_ended(pidfd: int, wait_s: float = 0.0) -> bool:
    """Whether it has ended, or does so within this time."""
    poll = select.poll()  # `select` knows no descriptors above 1023
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(wait_s * 1000))


def pid_of(pidfd: int) -> int:
    """Its pid in the PID namespace of this process; -1 once it has been reaped."""
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
