"""Build a room: bubblewrap makes the namespaces and the view of the file system, and holds them open."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import wall

_HOLD = ("/bin/sh", "-c", "echo; exec sleep infinity")  # says that the room is ready, and keeps it


class RoomFailed(Exception):  # noqa: N818 - it names a state
    """bubblewrap did not build the room; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Room:
    """A room that is ready: the host's pid of its first process, whose end is that of all in it, and a pidfd."""

    pid: int
    pidfd: int


class Building:
    """A room that bubblewrap is at work on."""

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

    def finish(self) -> Room:
        """Wait until it is ready. Raises RoomFailed."""
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        with out, err, os.fdopen(self._information, "rb") as information:
            if not _readable(out.fileno(), self._setup["timeout_s"]) or not out.read(1):
                self._process.kill()
                said = err.read(4096).decode(errors="replace").strip().splitlines()
                raise RoomFailed(said[-1] if said else "bubblewrap said nothing")
            first = int(json.loads(information.read())["child-pid"])
        wall.limit(self._setup["limits"], first)  # else its own process would be the way around them
        return Room(first, os.pidfd_open(first))


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
    file = os.memfd_create("room")
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file
