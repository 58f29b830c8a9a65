"""A kernel's hold on its container, its cgroup and its folder of sockets: begun in one go, ended together."""

from __future__ import annotations

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
from sandbox.policy import Policy
from sandbox.protocol.channels import Listeners

if TYPE_CHECKING:
    from sandbox.isolation.cgroup import Group
    from sandbox.isolation.memory import Exhausted, Watchdog
    from sandbox.runtime.container import Container
    from sandbox.runtime.zygote import Zygote


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a kernel starts: with these images; the private folder for its sockets and its group are its own."""

    images: Path
    sockets: Path
    mounts: tuple[str, ...]
    group: Group | None = None
    watchdog: Watchdog | None = None
    work: str = WORK_FOLDER

    def clear(self) -> None:
        """Remove what is its own. Twice is once."""
        self.clear_files()
        if self.group is not None:
            self.group.remove()

    def clear_files(self) -> None:
        """Remove the folder alone: a group that somebody is in stays."""
        shutil.rmtree(self.sockets, ignore_errors=True)


class KernelHandle:
    """Of one kernel, which serves whoever connects to its sockets."""

    def __init__(self, place: Placement, container: Container, stderr_fd: int) -> None:
        self.place = place
        self.container = container
        self._stderr_fd = stderr_fd
        self._watched = place.watchdog.watch(container.pidfd, container.kill) if place.watchdog else None

    def exhausted(self) -> Exhausted | None:
        """Whose memory ran out, if processes were ended for that."""
        if self._watched is not None:
            return self._watched.exhausted
        return self.place.group.exhausted() if self.place.group else None

    def words(self, wait_s: float = 0.0) -> bytes:
        """What the kernel has said in stderr_fd, as far as nobody has read it."""
        poll = select.poll()
        poll.register(self._stderr_fd, select.POLLIN)
        return os.read(self._stderr_fd, 65_536) if poll.poll(wait_s * 1000) else b""

    def ended_early(self) -> KernelStartError:
        """What to raise when the kernel is no more before anyone has asked it for anything."""
        words = self.words().decode(errors="replace").strip().splitlines()
        return KernelStartError(
            f"the kernel ended while it started: {words[-1] if words else 'it said nothing'}"
        )

    def close(self) -> None:
        """End every process in the container and remove what was the kernel's. Twice is once."""
        if self.place.watchdog is not None and self._watched is not None:
            self.place.watchdog.forget(self._watched)
        self.container.kill()
        self.place.clear_files()  # while the container ends
        self.container.close()
        if self._stderr_fd >= 0:
            os.close(self._stderr_fd)
            self._stderr_fd = -1
        self.place.clear()


def guest_setup(key: str, policy: Policy, *, rich: bool = False) -> dict[str, Any]:
    """What guest/app.py wants to know, but for the channels. `rich`: for a notebook, not for a model."""
    trace = {
        "events": policy.trace_events,
        "chars": policy.trace_chars,
        "value_chars": policy.trace_value_chars,
        "steps": policy.trace_steps,
    }
    return {"key": key, "trace": trace, "rich": rich, "seed": policy.seed}


def begin(
    zygote: Zygote, place: Placement, paths: Mapping[str, Path], setup: Mapping[str, Any]
) -> KernelHandle:
    """A new kernel out of the zygote, which serves these paths by channel. Raises KernelStartError."""
    try:
        listeners = Listeners(paths)
    except OSError as error:
        raise KernelStartError(f"no sockets can be made: {error.strerror}; see ulimit -n") from error
    try:
        told = {**setup, "channels": tuple(paths)}
        return _enter(zygote, place, list(listeners.descriptors.values()), told)
    finally:
        listeners.close()


def _enter(
    zygote: Zygote, place: Placement, sockets: Sequence[int], setup: Mapping[str, Any]
) -> KernelHandle:
    groups = place.group.doors() if place.group else []
    told, tell = os.pipe()
    stderr_fd, written = os.pipe()
    os.set_blocking(stderr_fd, False)
    try:
        request = {"mounts": place.mounts, "work": place.work, "groups": len(groups)}
        container = zygote.kernel(request, [told, written, *sockets, *groups])
        handle = _handle(place, container, stderr_fd)
        os.write(tell, json.dumps(setup).encode())
    except BaseException:
        os.close(stderr_fd)
        raise
    finally:
        for descriptor in (told, tell, written, *groups):
            os.close(descriptor)
    return handle


def _handle(place: Placement, container: Container, stderr_fd: int) -> KernelHandle:
    """Before the kernel begins: nothing of it runs without being watched. Raises KernelStartError."""
    try:
        return KernelHandle(place, container, stderr_fd)
    except OSError as error:
        container.close()
        raise KernelStartError(f"the memory of the container cannot be measured: {error}") from error
