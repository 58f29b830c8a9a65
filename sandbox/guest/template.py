"""The warm process of one Sandbox: it has everything imported, and forks a kernel into a room for each request.

It runs no code of a guest. A request is one packet on its socket, with the descriptors for the new kernel; the
answer carries a pidfd of the room and one of the kernel. The end of the socket is the end of the process.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import resource
import select
import signal
import socket
from pathlib import Path
from typing import Any

from . import app, wall
from .entrance import Entrant
from .room import Building, RoomFailed

_PACKET = 65_536
_MOST_DESCRIPTORS = 16


class Template:
    """`setup` is what sandbox/template.py sends as the first packet."""

    def __init__(self, control: socket.socket, setup: dict[str, Any]) -> None:
        self._control = control
        self._setup = setup
        self._filters = [base64.b64decode(program) for program in setup["filters"]]

    def serve(self) -> None:
        """Answer requests until nobody can send any."""
        wake, ended = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(ended, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ended)
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        self._say({"ready": os.getpid()}, [os.pidfd_open(os.getpid())])
        while True:
            ready = {file for file, _ in poll.poll()}
            if wake in ready:
                os.read(wake, 4096)
                _reap()
            if self._control.fileno() in ready and not self._answer():
                return

    def _answer(self) -> bool:
        """Whether there was a request."""
        packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, _MOST_DESCRIPTORS)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        try:
            if packet:
                self._open(json.loads(packet), descriptors)
        except (RoomFailed, OSError) as error:
            self._say({"failed": f"{error}"[:1000]}, [])
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return bool(packet)

    def _open(self, request: dict[str, Any], descriptors: list[int]) -> None:
        setup = self._setup["room"]
        building = Building(setup, request["mounts"], self._filters) if setup else None
        entrant = Entrant(self._setup, self._filters, request["work"], descriptors)
        try:
            first = building.finish() if building else 0
            pid = entrant.enter(first)
        finally:
            entrant.close()
        self._say({"kernel": pid}, [os.pidfd_open(pid), os.pidfd_open(first or pid)])

    def _say(self, answer: dict[str, Any], descriptors: list[int]) -> None:
        """Send, and let go of the descriptors."""
        try:
            socket.send_fds(self._control, [json.dumps(answer).encode()], descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


def serve(control: socket.socket, setup: dict[str, Any]) -> None:
    """Become the template of a Sandbox, until its end."""
    wall.adopt_orphans()  # a kernel's own parent ends at once
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # else guests could use up what may be in flight
    app.warm(setup)
    setup["limits"]["RLIMIT_AS"] += _address_space()  # what is mapped before a cell runs is not the cell's
    gc.collect()
    gc.freeze()  # so that a collection in a kernel does not copy the pages of all that is here
    Template(control, setup).serve()


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _reap() -> None:
    """Take leave of every child that has ended: a room is gone only then."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return
