"""The warm process of one Sandbox: it has everything imported, and forks a kernel into a container for each request.

It runs no code of a guest. A request is one packet on its socket, with the descriptors for the new kernel; the
answer carries a pidfd of the container and one of the kernel. The end of the socket is the end of the process.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import resource
import signal
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import app, confinement, pages
from .container import Container, ContainerBuilder, ContainerFailed
from .spawn import KernelSpawner

_PACKET = 65_536
_MOST_DESCRIPTORS = 16
_STACK_BYTES = 8 * 2**20


class Zygote:
    """`setup` is what sandbox/zygote.py sends as the first packet."""

    def __init__(self, control: socket.socket, setup: dict[str, Any]) -> None:
        self._control = control
        self._setup = setup
        self._filters = [base64.b64decode(program) for program in setup["filters"]]

    def serve(self) -> None:
        """Answer requests until nobody can send any."""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Linux reaps: a container is gone only then
        self._say({"landlock": confinement.landlock_abi()}, [os.pidfd_open(os.getpid())])
        while self._answer():
            continue

    def _answer(self) -> bool:
        """Whether there was a request."""
        packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, _MOST_DESCRIPTORS)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        try:
            if packet:
                self._open(json.loads(packet), descriptors)
        except (ContainerFailed, OSError) as error:
            self._say({"failed": f"{error}"[:1000]}, [])
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return bool(packet)

    def _open(self, request: dict[str, Any], descriptors: list[int]) -> None:
        kept = len(descriptors) - request["groups"]
        spawner = KernelSpawner(self._setup, self._filters, descriptors[:kept], descriptors[kept:])
        try:
            kernel, container = self._send(spawner, request)
        finally:
            spawner.close()
        self._say({}, [kernel, container])

    def _send(self, spawner: KernelSpawner, request: dict[str, Any]) -> tuple[int, int]:
        """A new kernel in a new container, which is built while the kernel is forked: pidfds of both."""
        setup = self._setup["container"]
        if not setup:
            kernel = self._fork(spawner, None, request["work"])
            return kernel, os.dup(kernel)
        builder = ContainerBuilder(setup, request["mounts"], self._filters, spawner.groups)
        container = builder.begun()
        with ExitStack() as unless_it_is_ready:
            unless_it_is_ready.callback(container.end)
            try:
                kernel = self._fork(spawner, container, request["work"])
                unless_it_is_ready.callback(os.close, kernel)
            finally:
                builder.finish(container)  # also to hear why there was no container to send it to
            unless_it_is_ready.pop_all()
        spawner.open()
        return kernel, container.pidfd

    def _fork(self, spawner: KernelSpawner, container: Container | None, work: str) -> int:
        """A pidfd of the fork. Raises OSError, also where it has ended already, with its container."""
        return os.pidfd_open(spawner.send(container, work))

    def _say(self, answer: dict[str, Any], descriptors: list[int]) -> None:
        """Send, and let go of the descriptors."""
        try:
            socket.send_fds(self._control, [json.dumps(answer).encode()], descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


def serve(control: socket.socket, setup: dict[str, Any]) -> None:
    """Become the zygote of a Sandbox, until its end."""
    threading.stack_size(_STACK_BYTES)  # of what becomes a kernel's first thread, whatever `ulimit -s` says
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # else guests could use up what may be in flight
    app.warm(setup)
    setup["limits"]["RLIMIT_AS"] += _address_space()  # what is mapped before a cell runs is not the cell's
    gc.collect()
    gc.freeze()  # so that a collection in a kernel does not copy the pages of all that is here
    pages.enlarge()
    Zygote(control, setup).serve()


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")
