"""Build a container: bubblewrap creates the namespaces and mounts, and keeps them open."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from . import confinement

_FIRST_GROUP = 3  # the shell takes descriptors of one digit
_JOIN_FAILED = "echo the container cannot be put into its cgroup >&2; exit 1"
_STDERR_TIMEOUT_S = 1.0


class ContainerFailed(Exception):  # noqa: N818 - it names a state
    """bubblewrap did not build the container. The message is the last line of its standard error."""


@dataclass(frozen=True, slots=True)
class ContainerProcess:
    """The host's pid of its first process, with which all others end, and a pidfd of it."""

    pid: int
    pidfd: int

    def end(self) -> None:
        """End every process in it and close the pidfd."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.close(self.pidfd)


class ContainerBuilder:
    """A container that bubblewrap is building.

    bubblewrap joins the cgroups of the session first, so that all processes it starts are in them.
    """

    def __init__(
        self, setup: Mapping[str, Any], mounts: Iterable[str], filters: Iterable[bytes], groups: Iterable[int]
    ) -> None:
        self._setup = setup
        self._information, written = os.pipe()
        self._ready, ready = os.pipe()
        self._errors, errors = os.pipe()
        files = [written]
        try:
            arguments = [*setup["arguments"], *mounts, "--info-fd", str(written)]
            for program in filters:
                files.append(_file(program))
                arguments += ["--add-seccomp-fd", str(files[-1])]
            files.append(_file("\0".join(arguments).encode()))
            command = [setup["bwrap"], "--args", str(files[-1]), "--", *setup["first_process"]]
            self._pid = _start(command, (ready, errors), groups, files)
        except BaseException:
            self._close(self._information)
            raise
        finally:
            for file in (ready, errors, *files):
                os.close(file)

    def wait_until_created(self) -> ContainerProcess:
        """Wait until its namespaces and its first process exist. Raises ContainerFailed."""
        with os.fdopen(self._information, "rb") as information:
            if not _readable(information.fileno(), self._setup["timeout_s"]):
                self._fail()
            output = information.read()
        if not output:
            self._fail()
        first = int(json.loads(output)["child-pid"])
        try:
            return ContainerProcess(first, os.pidfd_open(first))
        except ProcessLookupError:
            self._fail()

    def wait_until_ready(self, container: ContainerProcess) -> None:
        """Wait until its file system is mounted and it is ready. Raises ContainerFailed."""
        if not _readable(self._ready, self._setup["timeout_s"]) or not os.read(self._ready, 1):
            self._fail()
        self._close()
        confinement.set_limits(
            self._setup["limits"], container.pid
        )  # like every process that the guest can reach

    def _fail(self) -> NoReturn:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        output = os.read(self._errors, 4096) if _readable(self._errors, _STDERR_TIMEOUT_S) else b""
        self._close()
        lines = output.decode(errors="replace").strip().splitlines()
        raise ContainerFailed(lines[-1] if lines else "bubblewrap reported no error")

    def _close(self, *more: int) -> None:
        for file in (self._ready, self._errors, *more):
            os.close(file)


def _start(command: list[str], output: tuple[int, int], groups: Iterable[int], files: list[int]) -> int:
    """Start the command in these cgroups and return its pid. The zygote reaps it."""
    numbered = list(enumerate(groups, start=_FIRST_GROUP))
    join = "".join(f"echo 0 >&{number} && exec {number}>&- && " for number, _ in numbered)
    argv = ["/bin/sh", "-c", f'{join}exec "$@"; {_JOIN_FAILED}', "sh", *command] if numbered else command
    null = os.open(os.devnull, os.O_RDWR)
    chosen = [*enumerate((null, *output)), *numbered, *((file, file) for file in files)]
    try:
        return os.posix_spawn(
            argv[0],
            argv,
            {},  # the guest can read the environment of the bubblewrap process
            file_actions=[(os.POSIX_SPAWN_DUP2, file, number) for number, file in chosen],
            setsid=True,
            setsigdef=[signal.SIGCHLD],
        )
    finally:
        os.close(null)


def _readable(file: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _file(data: bytes) -> int:
    """A descriptor from which `data` can be read, once."""
    file = os.memfd_create("container")
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file
