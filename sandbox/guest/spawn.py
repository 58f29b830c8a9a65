"""Fork a kernel from the zygote into its container, and drop its privileges."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from . import app, confinement
from .container import Container

_FIRST_KEPT_FD = 200  # kept descriptors get numbers from here on; the zygote has fewer


class KernelSpawner:
    """Forks one kernel, which waits at a gate until its container is ready.

    The kernel keeps `descriptors`; a process that writes to one of `groups` joins that cgroup.
    """

    def __init__(
        self, setup: dict[str, Any], filters: list[bytes], descriptors: Sequence[int], groups: Sequence[int]
    ) -> None:
        self._setup = setup
        self._filters = filters
        self._descriptors = descriptors
        self.groups = groups
        self._gate, self._gate_writer = os.pipe()

    def release(self) -> None:
        """Let the kernel that `fork_kernel` has forked enter its container."""
        os.write(self._gate_writer, b"1")

    def close(self) -> None:
        """Close the gate. A kernel that was not released exits."""
        os.close(self._gate)
        os.close(self._gate_writer)

    def fork_kernel(self, container: Container | None, work: str) -> int:
        """Fork the kernel into this container, or with None beside the zygote, to run in `work`; return its pid."""
        if container:
            return confinement.fork_into(container.pidfd, lambda: self._run_child(container, work))
        return os.fork() or self._run_child(None, work)

    def _run_child(self, container: Container | None, work: str) -> NoReturn:
        """Run the kernel in the fork. Never returns into the code of the zygote."""
        stderr_fd = self._descriptors[1]
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._join_groups()
            if container:
                os.close(self._gate_writer)
                if not os.read(self._gate, 1):
                    os._exit(1)
                confinement.finish_mounts(container.pid, self._setup["container"]["files"])
                confinement.join_namespaces(container.pidfd)
            descriptors = _keep_only(self._descriptors)
            stderr_fd = descriptors[1]
            self._drop_privileges(work, is_isolated=container is not None)
            app.serve(descriptors)
        except BaseException:  # noqa: BLE001 - reports a failed start; a running guest is killed instead
            os.write(stderr_fd, traceback.format_exc()[-4000:].encode())  # the pipe holds 64 KiB
        finally:
            os._exit(1)

    def _join_groups(self) -> None:
        """Join while there is one thread: to move several, Linux waits until no process forks or exits."""
        try:
            for group in self.groups:
                os.write(group, b"0")
        except OSError as error:
            raise OSError(f"the kernel cannot be put into its cgroup: {error.strerror}") from error

    def _drop_privileges(self, work: str, *, is_isolated: bool) -> None:
        """Leave the session and the environment of the zygote, and drop all privileges."""
        os.setsid()
        os.chdir(work)
        confinement.set_limits(self._setup["limits"])
        if is_isolated:
            confinement.drop_privileges(self._filters)
        os.environ.clear()
        os.environ.update(self._setup["environment"])


def _keep_only(kept: Sequence[int]) -> list[int]:
    """Close every other descriptor; return the kept ones under new numbers. 0, 1 and 2 become /dev/null."""
    sink = os.open(os.devnull, os.O_RDWR)
    high = [
        os.dup2(descriptor, _FIRST_KEPT_FD + place, inheritable=False)
        for place, descriptor in enumerate(kept)
    ]
    for standard in (0, 1, 2):
        os.dup2(sink, standard)
    os.closerange(3, _FIRST_KEPT_FD)
    os.closerange(_FIRST_KEPT_FD + len(kept), os.sysconf("SC_OPEN_MAX"))
    return high
