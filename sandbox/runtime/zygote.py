"""The host's side of the zygote process of a Sandbox: start it, request kernels, end it.

The zygote has everything imported; kernels are forks of it (guest/zygote.py). It holds no resource of the host except
one end of a socket, and ends when the other end is closed.
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.errors import KernelStartError
from sandbox.isolation.cleanup import explain_start_error
from sandbox.isolation.confinement import Confinement, limits
from sandbox.isolation.processes import Container, pid_of, send_signal
from sandbox.isolation.seccomp import filter_programs, zygote_filter

_PACKET = 65_536


@dataclass(frozen=True, slots=True)
class ZygoteReply:
    """An answer of the zygote. failed: why there is no kernel. landlock: the ABI in force, 0 for none."""

    failed: str | None
    landlock: int


class Zygote:
    """One running zygote. Thread-safe; raises KernelStartError once it has ended."""

    def __init__(
        self,
        confinement: Confinement,
        sessions: Path,
        uid: int,
        watch: Callable[[int], None] = lambda pid: None,
    ) -> None:
        """Start it; `sessions` is the folder that holds the image folders of sessions.

        `watch` is called with the pid of the process that must not outlive the host.
        """
        self._watch = watch
        self._lock = threading.Lock()
        self._tier = confinement.tier
        self._deadline_s = confinement.policy.start_timeout_s
        self._stderr = os.memfd_create("zygote")
        self._control, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            command = [
                *confinement.policy.wrap,
                *confinement.zygote_command(sessions, uid, remote.fileno()),
            ]
            # bubblewrap sets the environment inside of its container: its own can be read from there
            environment = {} if self._tier == "bwrap" else confinement.environment()
            self._process = _start(command, environment, remote.fileno(), self._stderr)
            watch(self._process.pid)  # until it is ready it does not notice that its host has ended
        finally:
            remote.close()
        self._pidfd = -1
        self._ready = False
        self._landlock_abi = 0
        host = os.pidfd_open(os.getpid())
        try:
            self._send(_build_setup(confinement), [host])
        except BaseException:
            self.close()
            raise
        finally:
            os.close(host)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def start_kernel(self, request: dict[str, Any], descriptors: Sequence[int]) -> Container:
        """Start a kernel in a new container; it waits until its setup arrives on its first descriptor."""
        with self._lock:
            self._wait_until_ready()
            self._send(request, descriptors)
            answer, pidfds = self._receive("gave no kernel", 2)
        if answer.failed is not None:
            raise KernelStartError(f"the container did not start: {explain_start_error(answer.failed)}")
        kernel, container = pidfds
        return Container(container, kernel, pid_of(kernel), tier=self._tier)

    @property
    def landlock_abi(self) -> int:
        """The Landlock ABI of the guests' domains, 0 for none; waits for the zygote. Raises KernelStartError."""
        with self._lock:
            self._wait_until_ready()
        return self._landlock_abi

    def close(self) -> None:
        """End it; the containers end with it. May be called twice."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._kill()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._stderr >= 0:
            os.close(self._stderr)
            self._stderr = -1

    def _wait_until_ready(self) -> None:
        if not self._ready:
            answer, (self._pidfd,) = self._receive("did not become ready", 1)
            self._watch(pid_of(self._pidfd))
            self._landlock_abi = answer.landlock
            self._ready = True

    def _send(self, packet: dict[str, Any], descriptors: Sequence[int]) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(packet).encode()], descriptors)
        except OSError as error:
            raise KernelStartError(
                f"the zygote process has ended: {self._last_stderr_line() or error}"
            ) from error

    def _receive(self, failure: str, count: int) -> tuple[ZygoteReply, list[int]]:
        """The next answer, with `count` descriptors unless it is a failure."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        if not poll.poll(self._deadline_s * 1000):
            raise KernelStartError(f"the zygote process {failure} in time; raise Policy.start_timeout_s")
        try:
            packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, 4)
        except ConnectionResetError:  # it ended before it had read everything that was sent
            packet, descriptors = b"", []
        if not packet:
            raise KernelStartError(f"the zygote process {failure}: {self._last_stderr_line() or 'it ended'}")
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        try:
            answer = parse_answer(packet)
            if answer.failed is None and len(descriptors) != count:
                raise KernelStartError(
                    f"the zygote process {failure}: it sent {len(descriptors)} descriptors"
                )
        except KernelStartError:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        return answer, descriptors

    def _last_stderr_line(self) -> str:
        """The last line that it wrote to standard error, with what may fix it; empty while it runs."""
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            return ""
        size = os.fstat(self._stderr).st_size
        lines = (
            os.pread(self._stderr, 65_536, max(0, size - 65_536))
            .decode(errors="replace")
            .strip()
            .splitlines()
        )
        return explain_start_error(lines[-1].strip()) if lines else ""

    def _kill(self) -> None:
        if self._pidfd >= 0:
            send_signal(self._pidfd, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


def parse_answer(packet: bytes) -> ZygoteReply:
    """Parse a packet of the zygote. Raises KernelStartError if it is malformed."""
    try:
        answer = json.loads(packet)
        failed, landlock = answer.get("failed"), answer.get("landlock", 0)
    except (ValueError, AttributeError, RecursionError) as error:
        raise KernelStartError("the zygote process sent a malformed answer") from error
    if not (failed is None or isinstance(failed, str)) or type(landlock) is not int:
        raise KernelStartError("the zygote process sent a malformed answer")
    return ZygoteReply(failed, landlock)


def _start(
    command: Sequence[str], environment: dict[str, str], control: int, stderr: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=environment,  # no secret of the host may reach a guest
        cwd="/",
        pass_fds=(control,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        start_new_session=True,  # Ctrl-C in the terminal is for the host alone
    )


def _build_setup(confinement: Confinement) -> dict[str, Any]:
    policy = confinement.policy
    is_isolated = confinement.tier != "none"
    abi = confinement.required_landlock_abi
    programs = filter_programs(is_measured=confinement.is_measured, landlock_abi=abi) if is_isolated else ()
    return {
        "packages": (*confinement.interpreter.packages, *confinement.module_folders()),
        "preload": policy.preload,
        "libraries": confinement.interpreter.libraries,
        "figure_pixels": policy.figure_pixels,
        "figure_bytes": policy.figure_bytes,
        "environment": confinement.environment(),
        "limits": limits(policy),
        "filters": [base64.b64encode(program).decode() for program in programs],
        "zygote_filter": base64.b64encode(zygote_filter()).decode() if is_isolated else "",
        "container": confinement.setup(),
    }
