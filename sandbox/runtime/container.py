"""One running container with its kernel, held by pidfds so that teardown is guaranteed."""

from __future__ import annotations

import contextlib
import os
import signal
import threading

from sandbox.runtime.pidfd import has_ended, send_signal


class Container:
    """Two pidfds: `kernel` is readable once the kernel has ended, `container` once every process in it has ended.

    Without isolation there is no container: both pidfds are the kernel's, and its process group is ended with it.
    """

    def __init__(self, container: int, kernel: int, pid: int, *, is_isolated: bool) -> None:
        self._container = container
        self._is_isolated = is_isolated
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
                send_signal(self._container, signal.SIGKILL)
            if self._container >= 0 and not self._is_isolated:
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
