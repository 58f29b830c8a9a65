"""The way of a kernel from the template into its room, in two forks: only a child is in a new pid namespace."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from typing import Any

from . import app, wall

_FIRST = 200  # the number of the first descriptor that a kernel keeps; the template has fewer


class Entrant:
    """A fork of the template, made while its room is still being built, that waits for it at the door."""

    def __init__(
        self, setup: dict[str, Any], filters: list[bytes], work: str, descriptors: list[int]
    ) -> None:
        self._setup = setup
        self._filters = filters
        self._work = work
        self._descriptors = descriptors
        self._door, self._open = os.pipe()
        self._told, self._tell = os.pipe()
        if os.fork() == 0:
            _never_return(self._go)
        os.close(self._door)
        os.close(self._tell)

    def enter(self, room: int) -> int:
        """Let it into the room of this process, or go on where it is for 0; the host's pid of the kernel."""
        os.write(self._open, str(room).encode())
        said = os.read(self._told, 1000).decode()
        if not said.isdigit():
            raise OSError(said or "the kernel ended before it was in its room")
        return int(said)

    def close(self) -> None:
        """Send away one that was not let in."""
        os.close(self._open)
        os.close(self._told)

    def _go(self) -> None:
        os.close(self._open)
        room = int(os.read(self._door, 100) or -1)
        if room < 0:
            return
        try:
            if room:
                inside = os.pidfd_open(room)
                wall.limit_files(room, self._setup["room"]["files"])
                wall.enter(inside)
            pid = os.fork()
        except OSError as error:
            os.write(self._tell, str(error).encode())
            return
        if pid:
            os.write(self._tell, str(pid).encode())
        else:
            self._settle(is_room=bool(room))

    def _settle(self, *, is_room: bool) -> None:
        """Keep nothing of the template's, give up every right, and become the kernel."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.chdir(self._work)
        descriptors = _only(self._descriptors)
        wall.limit(self._setup["limits"])
        if is_room:
            wall.give_up_rights(self._filters)
        os.environ.clear()
        os.environ.update(self._setup["environment"])
        try:
            app.serve(descriptors)
        except BaseException:  # while it starts: a guest's own end is another, it is killed
            os.write(descriptors[1], traceback.format_exc()[-4000:].encode())  # a pipe, which holds 64 KiB
            raise


def _never_return(function: Callable[[], None]) -> None:
    """Run in a fork, which must not go on where its parent does."""
    try:
        function()
    finally:
        os._exit(1)


def _only(kept: list[int]) -> list[int]:
    """Close every descriptor but these, which come back with new numbers, and nothing on 0, 1 and 2."""
    sink = os.open(os.devnull, os.O_RDWR)
    high = [os.dup2(descriptor, _FIRST + place, inheritable=False) for place, descriptor in enumerate(kept)]
    for standard in (0, 1, 2):
        os.dup2(sink, standard)
    os.closerange(3, _FIRST)
    os.closerange(_FIRST + len(kept), os.sysconf("SC_OPEN_MAX"))
    return high
