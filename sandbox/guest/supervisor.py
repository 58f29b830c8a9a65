"""Without a PID namespace: the process above the kernel of one session, which ends with all that the session started.

Linux gives it every orphan of the session (PR_SET_CHILD_SUBREAPER), so that it ends only when no process of the session
is left. It runs no code of a guest and is outside of the guest's Landlock domain.

Covered: what forks, starts new sessions, daemonises or forks faster than it is killed (RLIMIT_NPROC of each process is
first set to 0). The end of the host or of the zygote, however they end. Not covered: a supervisor that Linux ends
because the machine has no memory left: the guest then only loses PR_SET_PDEATHSIG, which it may have reset.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from .confinement import PR_SET_PDEATHSIG, call

PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE = 36, 4  # linux/prctl.h
_PASS_S = 0.001
_MAX_MESSAGE = 1000
_RESERVED_TASKS = 256  # of other sessions of this user, which start later


def fork_supervised(
    child: Callable[[], NoReturn], zygote: int, *, owns_user: bool = False
) -> tuple[int, int]:
    """Run `child` below a new supervisor; pidfds of both. Raises OSError.

    zygote: the end of a pipe that hangs up when the zygote has ended. The supervisor ends the session then, when it
    gets SIGTERM, and when `child` has ended. owns_user: nothing but the sandbox has its user id, so that all of that
    user can be ended with the zygote.
    """
    report, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with report:
        pid = os.fork()
        if pid == 0:
            _supervise(child, remote, zygote, owns_user=owns_user)
        remote.close()
        supervisor = os.pidfd_open(pid)
        failed, kernels, _, _ = socket.recv_fds(report, _MAX_MESSAGE, 1)
        if not kernels:
            os.close(supervisor)
            raise OSError(failed.decode() or "the supervisor of the session has ended")
    os.set_inheritable(kernels[0], False)
    return kernels[0], supervisor


def prepare_supervised() -> None:
    """In the child: end with the supervisor, and let the watchdog of the host read our memory (`zygote.serve`)."""
    call("prctl", PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)


def hide_memory() -> None:
    """Let only root read the memory of this process and of its forks."""
    call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def count_tasks() -> int:
    """How many processes and threads there are besides those of a new session.

    RLIMIT_NPROC counts all of a user, and those of this user are among them.
    """
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2]) + _RESERVED_TASKS


def end_user() -> None:
    """End all other processes of this user at once. Linux does it in one pass that no fork can escape.

    Never as root, whose processes are those of the machine.
    """
    if 0 in os.getresuid():
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _supervise(
    child: Callable[[], NoReturn], report: socket.socket, zygote: int, *, owns_user: bool
) -> NoReturn:
    try:
        call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        asked, asked_writer = os.pipe()
        os.set_blocking(asked_writer, False)
        signal.set_wakeup_fd(asked_writer)
        signal.signal(signal.SIGTERM, lambda number, frame: None)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Linux reaps the children
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(asked)
            os.close(asked_writer)
            report.close()
            child()
        kernel = os.pidfd_open(pid)
        socket.send_fds(report, [b"."], [kernel])
        _close_all_but(asked, asked_writer, zygote, kernel)
        if zygote in _wait_for_any(asked, zygote, kernel) and owns_user:
            end_user()
    except OSError as error:
        with contextlib.suppress(OSError):
            report.send(f"{error}".encode()[:_MAX_MESSAGE])
    finally:
        _end_descendants()
        os._exit(0)


def _wait_for_any(*descriptors: int) -> list[int]:
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll()]


def _close_all_but(*descriptors: int) -> None:
    first = 3
    for descriptor in sorted(descriptors):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _end_descendants() -> None:
    """End every process of the session. Orphans become our children, so without children there is none left."""
    while True:
        waiting = [os.getpid()]
        while waiting:
            parent = waiting.pop()
            for child in children_of(parent):
                waiting.append(child)
                _end(child, parent)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        time.sleep(_PASS_S)


def _end(child: int, parent: int) -> None:
    """Kill it, if it still is a child of this process after its pidfd was opened: the pid may have been reused."""
    with contextlib.suppress(OSError):
        pidfd = os.pidfd_open(child)
        try:
            if child in children_of(parent):
                resource.prlimit(child, resource.RLIMIT_NPROC, (0, 0))
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        finally:
            os.close(pidfd)


def children_of(pid: int) -> list[int]:
    """The children of all threads of a process; empty if it has ended."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - several times as fast
            with contextlib.suppress(OSError):  # this thread has ended
                found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found
