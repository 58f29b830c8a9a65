"""One running container with its kernel: the certainty that all of it can be ended."""

from __future__ import annotations

import os
import select
import signal
import threading

from sandbox.runtime.signals import send_signal


class Container:
    """Two pidfds: `kernel` is readable once the kernel has ended, `container` once everything in the container has.

    Without isolation there is no container: both are of the kernel, and what it leaves behind in its process group
    is ended with it.
    """

    def __init__(self, container: int, kernel: int, pid: int, *, is_real: bool) -> None:
        self._room = container
        self._is_real = is_real
        self.kernel = kernel
        self.pid = pid  # of the kernel, on the host
        self._lock = threading.Lock()

    @property
    def pidfd(self) -> int:
        """Of the container's first process."""
        return self._room

    def is_alive(self) -> bool:
        return not _ended(self.kernel, 0)

    def kill(self) -> None:
        """Send the signal that ends every process in the container, and do not wait. From any thread."""
        with self._lock:
            if self._room >= 0 and not _ended(self._room, 0):
                send_signal(self._room, signal.SIGKILL)
            if self._room >= 0 and not self._is_real:
                _end_group(self.pid)

    def close(self) -> None:
        """End every process in the container and wait until they are gone. Twice is once."""
        self.kill()
        with self._lock:
            if self._room >= 0:
                _ended(self._room, 5)
                for descriptor in {self._room, self.kernel}:
                    os.close(descriptor)
                self._room = -1


def _ended(pidfd: int, wait_s: float) -> bool:
    poll = select.poll()  # `select` knows no descriptors above 1023
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(wait_s * 1000))


def _end_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return  # nothing was left of it
