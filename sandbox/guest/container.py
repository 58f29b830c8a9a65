"""Build a container: bubblewrap makes the namespaces and the view of the file system, and holds them open."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from . import confinement

_HOLD = ("/bin/sh", "-c", "echo; exec sleep infinity")  # says that the container is ready, and keeps it


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
    """A container that bubblewrap is at work on."""

    def __init__(self, setup: Mapping[str, Any], mounts: Iterable[str], filters: Iterable[bytes]) -> None:
        self._setup = setup
        self._information, written = os.pipe()
        files = [written]
        try:
            arguments = [*setup["arguments"], *mounts, "--info-fd", str(written)]
            for program in filters:
                files.append(_file(program))
                arguments += ["--add-seccomp-fd", str(files[-1])]
            files.append(_file("\0".join(arguments).encode()))
            self._process = _start([setup["bwrap"], "--args", str(files[-1]), "--", *_HOLD], files)
        except BaseException:
            os.close(self._information)
            raise
        finally:
            for file in files:
                os.close(file)

    def begun(self) -> Container:
        """Wait until it has its namespaces, and a first process that goes on builder. Raises ContainerFailed."""
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
        out = self._process.stdout
        assert out is not None
        if not _readable(out.fileno(), self._setup["timeout_s"]) or not out.read(1):
            self._fail()
        self._close()
        confinement.limit(
            self._setup["limits"], container.pid
        )  # else its own process would be the way around them

    def _fail(self) -> NoReturn:
        self._process.kill()
        assert self._process.stderr is not None
        said = self._process.stderr.read(4096).decode(errors="replace").strip().splitlines()
        self._close()
        raise ContainerFailed(said[-1] if said else "bubblewrap said nothing")

    def _close(self) -> None:
        for file in (self._process.stdout, self._process.stderr):
            assert file is not None
            file.close()


def _start(command: list[str], files: list[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env={},  # the process of bubblewrap can be read from inside
        cwd="/",
        pass_fds=files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


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
