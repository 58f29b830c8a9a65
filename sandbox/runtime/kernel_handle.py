"""A handle that guarantees teardown: the container, the cgroup and the socket folder of one kernel."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.errors import KernelStartError
from sandbox.isolation.bubblewrap import WORK_FOLDER
from sandbox.isolation.cleanup import explain_start_error, remove_tree
from sandbox.isolation.processes import Container
from sandbox.policy import Exhausted, Policy
from sandbox.protocol.channels import Listeners

if TYPE_CHECKING:
    from sandbox.isolation.cgroup import Group
    from sandbox.isolation.watchdog import Watchdog
    from sandbox.runtime.zygote import Zygote


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What one kernel uses on the host. The socket folder and the cgroup belong to it alone; the images do not."""

    images: Path
    sockets: Path
    mounts: tuple[str, ...]
    group: Group | None = None
    watchdog: Watchdog | None = None
    work_folder: str = WORK_FOLDER

    def release(self) -> None:
        """Remove the socket folder and the cgroup, once the processes have ended. May be called twice."""
        remove_tree(self.sockets)
        if self.group is not None:
            self.group.remove()

    def remove_files(self) -> None:
        """Remove what can be removed of the socket folder while processes of the session may still be alive."""
        with contextlib.suppress(RecursionError):
            shutil.rmtree(self.sockets, ignore_errors=True)


class KernelHandle:
    """A running kernel that serves every client which connects to its sockets."""

    def __init__(self, resources: KernelResources, container: Container, stderr_fd: int) -> None:
        self.resources = resources
        self.container = container
        self._stderr_fd = stderr_fd
        self._watched_session = (
            resources.watchdog.watch(container.pidfd, container.kill, resources.work_folder)
            if resources.watchdog
            else None
        )

    def find_exhausted(self) -> Exhausted | None:
        """Which memory limit was reached, if processes were killed for that."""
        if self._watched_session is not None and (found := self._watched_session.exhausted):
            return found
        return self.resources.group.find_exhausted() if self.resources.group else None

    def read_stderr(self, timeout_s: float = 0.0) -> bytes:
        """What the kernel wrote to standard error since the last read; b"" if nothing comes within `timeout_s`."""
        poll = select.poll()
        poll.register(self._stderr_fd, select.POLLIN)
        return os.read(self._stderr_fd, 65_536) if poll.poll(timeout_s * 1000) else b""

    def build_start_error(self) -> KernelStartError:
        """The error to raise for a kernel that ended before its first request."""
        lines = self.read_stderr().decode(errors="replace").strip().splitlines()
        reason = explain_start_error(lines[-1]) if lines else "it printed no error"
        return KernelStartError(f"the kernel ended while it started: {reason}")

    def close(self) -> None:
        """End every process in the container and remove the kernel's resources. May be called twice."""
        if self.resources.watchdog is not None and self._watched_session is not None:
            self.resources.watchdog.forget(self._watched_session)
        self.container.kill()
        self.resources.remove_files()  # while the container ends
        self.container.close()
        if self._stderr_fd >= 0:
            os.close(self._stderr_fd)
            self._stderr_fd = -1
        self.resources.release()


def build_guest_setup(key: str, policy: Policy, *, rich: bool = False) -> dict[str, Any]:
    """The setup that guest/kernel.py reads, without the channels. `rich`: for a notebook, not for a model."""
    trace = {
        "events": policy.trace_events,
        "chars": policy.trace_chars,
        "value_chars": policy.trace_value_chars,
        "steps": policy.trace_steps,
    }
    return {"key": key, "trace": trace, "rich": rich, "seed": policy.seed}


def start_kernel(
    zygote: Zygote, resources: KernelResources, paths: Mapping[str, Path], setup: Mapping[str, Any]
) -> KernelHandle:
    """Fork a new kernel from the zygote. It serves `paths`, one socket per channel. Raises KernelStartError."""
    try:
        listeners = Listeners(paths)
    except OSError as error:
        raise KernelStartError(f"no sockets can be made: {error.strerror}; see ulimit -n") from error
    try:
        full_setup = {**setup, "channels": tuple(paths)}
        return _request_kernel(zygote, resources, list(listeners.descriptors.values()), full_setup)
    finally:
        listeners.close()


def _request_kernel(
    zygote: Zygote, resources: KernelResources, sockets: Sequence[int], setup: Mapping[str, Any]
) -> KernelHandle:
    groups = resources.group.open_procs_files() if resources.group else []
    setup_read, setup_write = os.pipe()
    stderr_fd, stderr_write = os.pipe()
    os.set_blocking(stderr_fd, False)
    try:
        request = {"mounts": resources.mounts, "work": resources.work_folder, "groups": len(groups)}
        container = zygote.start_kernel(request, [setup_read, stderr_write, *sockets, *groups])
        handle = _build_handle(resources, container, stderr_fd)
        os.write(setup_write, json.dumps(setup).encode())
    except BaseException:
        os.close(stderr_fd)
        raise
    finally:
        for descriptor in (setup_read, setup_write, stderr_write, *groups):
            os.close(descriptor)
    return handle


def _build_handle(resources: KernelResources, container: Container, stderr_fd: int) -> KernelHandle:
    """Start to watch the container before any code of the kernel runs in it. Raises KernelStartError."""
    try:
        return KernelHandle(resources, container, stderr_fd)
    except OSError as error:
        container.close()
        raise KernelStartError(f"the memory of the container cannot be measured: {error}") from error
