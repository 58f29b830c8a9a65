"""Build a container: bubblewrap makes the namespaces and the view of the file system, and holds them open."""

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
_NOT_JOINED = "echo the container cannot be put into its cgroup >&2; exit 1"
_LAST_WORDS_S = 1.0


class ContainerFailed(Exception):  # noqa: N818 - it names a state
    """bubblewrap did not build the container; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Container:
    """The host's pid of its first process, whose end is that of all in it, and a pidfd."""

    pid: int
    pidfd: int

    def end(self) -> None:
        """End all in it, and let go of it."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.close(self.pidfd)


class ContainerBuilder:
    """A container that bubblewrap is building.

    It joins the cgroups of the session before it does anything, and so does all that it starts.
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

    def begun(self) -> Container:
        """Wait until it has its namespaces, and a first process that goes on building. Raises ContainerFailed."""
        with os.fdopen(self._information, "rb") as information:
            if not _readable(information.fileno(), self._setup["timeout_s"]):
                self._fail()
            said = information.read()
        if not said:
            self._fail()
        first = int(json.loads(said)["child-pid"])
        try:
            return Container(first, os.pidfd_open(first))
        except ProcessLookupError:
            self._fail()

    def finish(self, container: Container) -> None:
        """Wait until it is ready. Raises ContainerFailed."""
        if not _readable(self._ready, self._setup["timeout_s"]) or not os.read(self._ready, 1):
            self._fail()
        self._close()
        confinement.limit(self._setup["limits"], container.pid)  # as everything that the guest can reach

    def _fail(self) -> NoReturn:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        said = os.read(self._errors, 4096) if _readable(self._errors, _LAST_WORDS_S) else b""
        self._close()
        lines = said.decode(errors="replace").strip().splitlines()
        raise ContainerFailed(lines[-1] if lines else "bubblewrap said nothing")

    def _close(self, *more: int) -> None:
        for file in (self._ready, self._errors, *more):
            os.close(file)


def _start(command: list[str], output: tuple[int, int], groups: Iterable[int], files: list[int]) -> int:
    """Start it in these cgroups; its pid. The zygote reaps it."""
    joined = list(enumerate(groups, start=_FIRST_GROUP))
    join = "".join(f"echo 0 >&{number} && exec {number}>&- && " for number, _ in joined)
    argv = ["/bin/sh", "-c", f'{join}exec "$@"; {_NOT_JOINED}', "sh", *command] if joined else command
    null = os.open(os.devnull, os.O_RDWR)
    kept = [*enumerate((null, *output)), *joined, *((file, file) for file in files)]
    try:
        return os.posix_spawn(
            argv[0],
            argv,
            {},  # the process of bubblewrap can be read from inside
            file_actions=[(os.POSIX_SPAWN_DUP2, file, number) for number, file in kept],
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
