"""The zygote of one Sandbox: it has everything imported, and forks a kernel into a container for each request.

It runs no code of a guest. A request is one packet on its socket, with the descriptors for the new kernel; the
answer carries pidfds of the container and of the kernel. The process exits when the socket is closed.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import resource
import signal
import socket
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn

from . import confinement, kernel, landlock, supervisor
from .container import ContainerBuilder, ContainerFailed, ContainerProcess

_PACKET = 65_536
_MAX_DESCRIPTORS = 16
_STACK_BYTES = 8 * 2**20
_FIRST_KEPT_FD = 200  # kept descriptors get numbers from here on; the zygote has fewer


class ZygoteServer:
    """Serves requests. `setup` is the first packet, which sandbox/runtime/zygote.py sends."""

    def __init__(self, control: socket.socket, setup: dict[str, Any]) -> None:
        self._control = control
        self._setup = setup
        self._filters = [base64.b64decode(program) for program in setup["filters"]]
        self._alive, self._alive_writer = os.pipe()  # hangs up when this process has ended

    def serve(self) -> None:
        """Answer requests until the socket is closed; then wait for the supervisors, which end their sessions."""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Linux reaps children: only then a container is gone
        self._send_answer({"landlock": landlock.landlock_abi()}, [os.pidfd_open(os.getpid())])
        with suppress(ConnectionError):  # the host ended before it had read an answer
            while self._serve_request():
                continue
        if self._owns_user:
            supervisor.end_user()
        os.close(self._alive_writer)
        if self._is_supervised:
            with suppress(ChildProcessError):
                os.waitpid(-1, 0)  # returns, or fails, when there is no child left

    @property
    def _owns_user(self) -> bool:
        """Whether no other process of this machine has its user id."""
        return self._is_supervised and self._setup["container"]["uid"] is not None

    @property
    def _is_supervised(self) -> bool:
        container = self._setup["container"]
        return bool(container) and container["kind"] == "landlock"

    def _serve_request(self) -> bool:
        """Serve one request; False if the socket was closed."""
        packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, _MAX_DESCRIPTORS)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        try:
            if packet:
                self._open_session(json.loads(packet), descriptors)
        except (ContainerFailed, OSError) as error:
            self._send_answer({"failed": f"{error}"[:1000]}, [])
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return bool(packet)

    def _open_session(self, request: dict[str, Any], descriptors: list[int]) -> None:
        first_group = len(descriptors) - request["groups"]
        spawner = KernelSpawner(
            self._setup, self._filters, descriptors[:first_group], descriptors[first_group:]
        )
        try:
            kernel, container = self._start_kernel(spawner, request)
        finally:
            spawner.close()
        self._send_answer({}, [kernel, container])

    def _start_kernel(self, spawner: KernelSpawner, request: dict[str, Any]) -> tuple[int, int]:
        """Build a container and fork a kernel at the same time; return pidfds of both."""
        setup = self._setup["container"]
        if self._is_supervised:
            rules = landlock.Rules(
                (*setup["read"], *request["mounts"]), tuple(setup["write"]), request["work"]
            )
            return supervisor.fork_supervised(
                lambda: self._run_supervised(spawner, rules), self._alive, owns_user=self._owns_user
            )
        if not setup:
            kernel = self._fork(spawner, None, request["work"])
            return kernel, os.dup(kernel)
        builder = ContainerBuilder(setup, request["mounts"], self._filters, spawner.groups)
        container = builder.wait_until_created()
        with ExitStack() as on_failure:
            on_failure.callback(container.end)
            try:
                kernel = self._fork(spawner, container, request["work"])
                on_failure.callback(os.close, kernel)
            finally:  # also after a failed fork: the container may say why
                builder.wait_until_ready(container)
            on_failure.pop_all()
        spawner.release()
        return kernel, container.pidfd

    def _run_supervised(self, spawner: KernelSpawner, rules: landlock.Rules) -> NoReturn:
        os.close(self._alive_writer)
        spawner.run_supervised(rules)

    def _fork(self, spawner: KernelSpawner, container: ContainerProcess | None, work: str) -> int:
        """Fork the kernel and return its pidfd. Raises OSError, also if it has already ended with its container."""
        return os.pidfd_open(spawner.fork_kernel(container, work))

    def _send_answer(self, answer: dict[str, Any], descriptors: list[int]) -> None:
        """Send an answer and close the descriptors."""
        try:
            socket.send_fds(self._control, [json.dumps(answer).encode()], descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


def serve(control: socket.socket, setup: dict[str, Any]) -> None:
    """Become the zygote of a Sandbox, until it is closed."""
    threading.stack_size(_STACK_BYTES)  # for the first thread of a kernel, whatever `ulimit -s` says
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (most, most)
    )  # otherwise guests could exhaust the descriptors in flight
    kernel.warm_up(setup)
    setup["limits"]["RLIMIT_AS"] += (
        _address_space()
    )  # memory mapped before a cell runs does not count as the cell's
    gc.collect()
    gc.freeze()  # so that a garbage collection in a kernel does not copy all pages
    if setup["container"] and setup["container"]["kind"] == "landlock":
        supervisor.hide_memory()
    ZygoteServer(control, setup).serve()


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


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

    def run_supervised(self, rules: landlock.Rules) -> NoReturn:
        """In a fork below a supervisor: run the kernel in a domain of these rules."""
        setup = self._setup["container"]

        def confine() -> None:
            supervisor.prepare_supervised()
            _make_own_folders(rules.work, setup["fonts"])
            filters = [confinement.name_own_pid(program, setup["own_pid"]) for program in self._filters]
            confinement.drop_privileges(
                filters, lambda: landlock.enter_file_domain(rules, setup["abi"]), setup["capabilities"]
            )
            for name, value in setup["environment"].items():
                self._setup["environment"][name] = value.format(work=rules.work)

        limits = self._setup["limits"]
        limits["RLIMIT_NPROC"] += supervisor.count_tasks()
        self._run_child(rules.work, confine)

    def fork_kernel(self, container: ContainerProcess | None, work: str) -> int:
        """Fork the kernel into this container, or with None beside the zygote, to run in `work`; return its pid."""
        if container is None:
            return os.fork() or self._run_child(work, None)
        return confinement.fork_into(container.pidfd, lambda: self._run_contained(container, work))

    def _run_contained(self, container: ContainerProcess, work: str) -> NoReturn:
        def enter() -> None:
            os.close(self._gate_writer)
            if not os.read(self._gate, 1):
                os._exit(1)
            confinement.finish_mounts(container.pid, self._setup["container"]["files"])
            confinement.join_namespaces(container.pidfd)

        self._run_child(
            work,
            lambda: confinement.drop_privileges(self._filters, landlock.enter_process_domain),
            enter,
        )

    def _run_child(
        self, work: str, confine: Callable[[], None] | None, enter: Callable[[], None] | None = None
    ) -> NoReturn:
        """Run the kernel in the fork. Never returns into the code of the zygote.

        enter: joins the container, while all descriptors are open. confine: gives up all privileges, at the end.
        """
        stderr_fd = self._descriptors[1]
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._join_groups()
            if enter:
                enter()
            descriptors = _keep_only(self._descriptors)
            stderr_fd = descriptors[1]
            self._drop_privileges(work, confine)
            kernel.serve(descriptors)
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

    def _drop_privileges(self, work: str, confine: Callable[[], None] | None) -> None:
        """Leave the session and the environment of the zygote, and drop all privileges."""
        os.setsid()
        os.chdir(work)
        confinement.set_limits(self._setup["limits"])
        if confine:
            confine()
        os.environ.clear()
        os.environ.update(self._setup["environment"])


def _make_own_folders(work: str, fonts: Sequence[str]) -> None:
    """What a container has in its /tmp: a folder for temporary files, and one of matplotlib with the font lists."""
    for name in (".tmp", ".matplotlib"):
        Path(work, name).mkdir()
    for path in fonts:
        Path(work, ".matplotlib", Path(path).name).symlink_to(path)
    tempfile.tempdir = None  # it was found before the fork


def _keep_only(descriptors: Sequence[int]) -> list[int]:
    """Close every other descriptor; return the kept ones under new numbers. 0, 1 and 2 become /dev/null."""
    sink = os.open(os.devnull, os.O_RDWR)
    high = [
        os.dup2(descriptor, _FIRST_KEPT_FD + place, inheritable=False)
        for place, descriptor in enumerate(descriptors)
    ]
    for standard in (0, 1, 2):
        os.dup2(sink, standard)
    os.closerange(3, _FIRST_KEPT_FD)
    os.closerange(_FIRST_KEPT_FD + len(descriptors), os.sysconf("SC_OPEN_MAX"))
    return high
