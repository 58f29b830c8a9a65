"""The way of a kernel from the zygote into its container: a fork, born there, that keeps no right."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from . import app, confinement
from .container import Container

_FIRST = 200  # the number of the first descriptor that a kernel keeps; the zygote has fewer


class KernelSpawner:
    """For one kernel, which waits at a gate until its container is ready.

    `descriptors` are its own; a process that writes into one of `groups` joins that cgroup.
    """

    def __init__(
        self, setup: dict[str, Any], filters: list[bytes], descriptors: Sequence[int], groups: Sequence[int]
    ) -> None:
        self._setup = setup
        self._filters = filters
        self._descriptors = descriptors
        self.groups = groups
        self._gate, self._opener = os.pipe()

    def open(self) -> None:
        """Let the kernel that `send` has forked into its container."""
        os.write(self._opener, b"1")

    def close(self) -> None:
        """A kernel that was not let in ends."""
        os.close(self._gate)
        os.close(self._opener)

    def send(self, container: Container | None, work: str) -> int:
        """Fork it into this container, or with None where the zygote is, to work in this folder; its pid."""
        if container:
            return confinement.fork_into(container.pidfd, lambda: self._go(container, work))
        return os.fork() or self._go(None, work)

    def _go(self, container: Container | None, work: str) -> NoReturn:
        """Does not go on where its parent does, whatever happens."""
        stderr_fd = self._descriptors[1]
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._join_groups()
            if container:
                os.close(self._opener)
                if not os.read(self._gate, 1):
                    os._exit(1)
                confinement.finish_mounts(container.pid, self._setup["container"]["files"])
                confinement.enter(container.pidfd)
            descriptors = _only(self._descriptors)
            stderr_fd = descriptors[1]
            self._settle(work, is_isolated=container is not None)
            app.serve(descriptors)
        except BaseException:  # noqa: BLE001 - while it starts: a guest's own end is another, it is killed
            os.write(stderr_fd, traceback.format_exc()[-4000:].encode())  # a pipe, which holds 64 KiB
        finally:
            os._exit(1)

    def _join_groups(self) -> None:
        """While it has one thread, which goes in at once: Linux moves several only when no process forks or ends."""
        try:
            for group in self.groups:
                os.write(group, b"0")
        except OSError as error:
            raise OSError(f"the kernel cannot be put into its cgroup: {error.strerror}") from error

    def _settle(self, work: str, *, is_isolated: bool) -> None:
        """Keep nothing of the zygote's, and give up every right."""
        os.setsid()
        os.chdir(work)
        confinement.limit(self._setup["limits"])
        if is_isolated:
            confinement.give_up_rights(self._filters)
        os.environ.clear()
        os.environ.update(self._setup["environment"])


def _only(kept: Sequence[int]) -> list[int]:
    """Close every descriptor but these, which come back with new numbers, and nothing on 0, 1 and 2."""
    sink = os.open(os.devnull, os.O_RDWR)
    high = [os.dup2(descriptor, _FIRST + place, inheritable=False) for place, descriptor in enumerate(kept)]
    for standard in (0, 1, 2):
        os.dup2(sink, standard)
    os.closerange(3, _FIRST)
    os.closerange(_FIRST + len(kept), os.sysconf("SC_OPEN_MAX"))
    return high
