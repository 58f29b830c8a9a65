"""Processes held by pidfds: a signal never reaches another process that got the same pid."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from pathlib import Path

from sandbox.policy import Tier


class Container:
    """Two pidfds: `kernel` is readable once the kernel has ended, `container` once every process in it has ended.

    In the landlock tier `container` is the supervisor of the session, which ends after all of its processes. Without
    isolation there is no container: both pidfds are the kernel's, and its process group is ended with it.
    """

    def __init__(self, container: int, kernel: int, pid: int, *, tier: Tier) -> None:
        self._container = container
        self._tier = tier
        self.kernel = kernel
        self.pid = pid  # of the kernel, on the host
        self._lock = threading.Lock()

    @property
    def pidfd(self) -> int:
        """The pidfd of the container's first process."""
        return self._container

    def is_alive(self) -> bool:
        return not has_ended(self.kernel)

    def kill(self) -> None:
        """Send the signal that ends every process in the container, without waiting. From any thread."""
        with self._lock:
            if self._container >= 0 and not has_ended(self._container):
                send_signal(self._container, signal.SIGTERM if self._tier == "landlock" else signal.SIGKILL)
            if self._container >= 0 and self._tier == "none":
                _kill_process_group(self.pid)

    def close(self) -> None:
        """End every process in the container and wait until they are gone. May be called twice."""
        self.kill()
        with self._lock:
            if self._container >= 0:
                has_ended(self._container, 5)
                for descriptor in {self._container, self.kernel}:
                    os.close(descriptor)
                self._container = -1


def _kill_process_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # the group has no process left
        if leader > 0:
            os.killpg(leader, signal.SIGKILL)


def send_signal(pidfd: int, number: int) -> None:
    """Send the signal, unless the process has ended, which can happen at any time."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def has_ended(pidfd: int, timeout_s: float = 0.0) -> bool:
    """Whether it has ended, or does so within this time."""
    poll = select.poll()  # `select` knows no descriptors above 1023
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))


def pid_of(pidfd: int) -> int:
    """Its pid in the PID namespace of this process; -1 once it has been reaped."""
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
