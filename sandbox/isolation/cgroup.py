"""Cgroups: limits for the processes of one session, and of all sessions together, where this machine offers them.

Version 1 usually needs root. Version 2 needs a directory in which groups can be made beside our own. Where neither
works, `find_cgroups` says why, and isolation/watchdog.py limits memory by other means.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from sandbox.policy import KERNEL_BYTES, Exhausted, Policy

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "pyvision-sandbox-"
_CONTROLLERS = ("memory", "pids", "cpu")
_NEEDED = ("memory", "pids")
_PERIOD_US = 100_000
_TCP_BYTES = 64 * 2**20
_GONE_S = 2.0  # how long Linux may take to remove killed processes from a group
_HELPERS = 2  # bubblewrap and the first process of the container, which are in the group too
_USAGE_1 = ("max_usage_in_bytes", "limit_in_bytes")
_LARGE_PAGE = 2 * 2**20  # what may be charged at once
_LIMITS_1 = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")  # the second: memory and swap together


Urgency: TypeAlias = Literal["new", "long", "none"]
_PRIORITIES: dict[Urgency, tuple[str, str]] = {
    "new": ("1024", "100"),
    "long": ("64", "6"),
    "none": ("2", "1"),
}
"""cpu.shares and cpu.weight of a session whose cell is new, is long, or is absent, where there is no cpu.idle."""


class Cgroups:
    """The groups of one Sandbox: a directory of each controller, in which every session has its own.

    Version 2 has one directory for all controllers. Each directory is locked (flock) for as long as its host lives:
    Linux drops the lock with the host's last process, whatever its PID namespace. A pid in the name would denote
    another process, or none, to a host in another PID namespace; and a host without sessions has empty groups, which
    must not be removed either.
    """

    def __init__(
        self, parents: Mapping[str, Path], *, unified: bool, max_memory_bytes: int | None = None
    ) -> None:
        """Make them. max_memory_bytes: of all sessions together. Raises OSError."""
        self._unified = unified
        name = f"{_PREFIX}{os.urandom(8).hex()}"
        self._folders = {controller: parent / name for controller, parent in parents.items()}
        self._locks: list[int] = []
        try:
            for folder in self.folders:
                folder.mkdir()
                self._locks.append(_lock(folder))
            if unified:
                enabled = " ".join(f"+{controller}" for controller in self._folders)
                _write(self.folders[0] / "cgroup.subtree_control", enabled)
            self._limit_memory(max_memory_bytes)
        except OSError:
            self.close()
            raise

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self._folders.values()))

    @property
    def controllers(self) -> tuple[str, ...]:
        return tuple(self._folders)

    @property
    def version(self) -> int:
        return 2 if self._unified else 1

    def make(self, name: str, policy: Policy) -> Group:
        """Make an empty group with the limits of the Policy. Raises OSError."""
        group = Group({controller: folder / name for controller, folder in self._folders.items()})
        try:
            for folder in group.folders:
                folder.mkdir()
            for controller, folder in group.by_controller.items():
                limits = _limits_2(controller, policy) if self._unified else _limits_1(controller, policy)
                _write_limits(folder, limits)
        except OSError:
            group.remove()
            raise
        return group

    def close(self) -> None:
        """Remove the directories and the groups that are left in them. May be called twice."""
        for folder in self.folders:
            _remove_below(folder)
        while self._locks:
            os.close(self._locks.pop())

    def _limit_memory(self, max_memory_bytes: int | None) -> None:
        if max_memory_bytes is None or "memory" not in self._folders:
            return
        folder, limit = self._folders["memory"], str(max_memory_bytes)
        if self._unified:
            _write_limits(folder, {"memory.max": limit, "memory.swap.max": "0"})
            return
        hierarchy = folder / "memory.use_hierarchy"
        if hierarchy.exists() and hierarchy.read_text().strip() == "0":  # before Linux 5.11
            _write(hierarchy, "1")
        _write_limits(folder, dict.fromkeys(_LIMITS_1, limit))


@dataclass(frozen=True, slots=True)
class Group:
    """The cgroup of one session."""

    by_controller: Mapping[str, Path]

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self.by_controller.values()))

    def open_procs_files(self) -> list[int]:
        """Open its lists of processes: a process that writes "0" to each of them joins the group. Raises OSError.

        The caller closes the descriptors. Moving another process is slow, and in version 1 also one with several
        threads (kernel/cgroup/cgroup.c, cgroup_procs_write_start).
        """
        procs_files: list[int] = []
        try:
            for folder in self.folders:
                file = folder / "tasks"
                procs_files.append(os.open(file if file.exists() else folder / "cgroup.procs", os.O_WRONLY))
        except OSError:
            for procs_file in procs_files:
                os.close(procs_file)
            raise
        return procs_files

    def find_exhausted(self) -> Exhausted | None:
        """Which memory limit was reached when Linux killed a process of the group; None if it killed none."""
        folder = self.by_controller["memory"]
        if not _counter(folder, ("memory.events", "memory.oom_control"), "oom_kill"):
            return None
        if _has_reached_limit(folder, "memory.events"):
            return "session"
        return "sandbox" if _has_reached_limit(folder.parent, "memory.events.local") else "machine"

    def prioritize(self, urgency: Urgency) -> None:
        """Set its share of a busy processor: new cells first, then long ones and what runs after a cell.

        With cpu.idle, what a new cell wakes runs at once, and not when the time slice of a long one ends.
        """
        folder = self.by_controller.get("cpu")
        if folder is None:
            return
        share, weight = _PRIORITIES[urgency]
        with contextlib.suppress(OSError):  # the session is ending
            has_idle = (folder / "cpu.idle").exists()  # Linux 5.15; it fixes the share
            if has_idle:
                _write(folder / "cpu.idle", "0" if urgency == "new" else "1")
            if urgency == "new" or not has_idle:
                _write_limits(folder, {"cpu.shares": share, "cpu.weight": weight})

    def kill(self) -> None:
        """End every process in it, including those forked meanwhile; return when they are gone, or after 2 s."""
        for folder in self.folders:
            _kill(folder)

    def remove(self) -> None:
        """End its processes and remove it. May be called twice."""
        for folder in self.folders:
            _remove(folder)


def find_cgroups(max_memory_bytes: int | None = None) -> tuple[Cgroups | None, str]:
    """Groups for one Sandbox and their description; or None and the reason."""
    why = []
    for parents, unified in ((_parents_2(), True), (_parents_1(), False)):
        missing = [controller for controller in _NEEDED if controller not in parents]
        if missing:
            why.append(f"version {2 if unified else 1} offers no {' and no '.join(missing)}")
            continue
        sweep(parents.values())
        try:
            groups = Cgroups(parents, unified=unified, max_memory_bytes=max_memory_bytes)
        except OSError as error:
            why.append(f"{error.filename or next(iter(parents.values()))}: {error.strerror}")
            continue
        return groups, f"version {groups.version}: {', '.join(groups.controllers)}"
    return None, f"none for user {os.getuid()} ({'; '.join(why)}{_advise()})"


def _advise() -> str:
    """How an ordinary user gets cgroups: below the user's service manager they can be made, elsewhere not."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if os.getuid() == 0 or not runtime or not (Path(runtime) / "systemd" / "private").exists():
        return ""
    return "; start this program with `systemd-run --user --scope` to get them"


def limit_of_own_group() -> int | None:
    """The lowest memory limit of the cgroup of this process and of those above it; None if they set no limit."""
    limits = []
    for parents, file in ((_parents_1(), "memory.limit_in_bytes"), (_own_2(), "memory.max")):
        parent = parents.get("memory")
        while parent is not None and parent.is_relative_to(_ROOT):
            with contextlib.suppress(OSError, ValueError):  # the root group of version 2 has no such file
                limits.append(int((parent / file).read_text()))  # "max" is no number
            parent = parent.parent
    return min(limits, default=None)


def sweep(parents: Iterable[Path]) -> None:
    """Remove the groups of hosts that were killed together with their reapers, and end what still runs in them."""
    for parent in set(parents):
        for folder in parent.glob(f"{_PREFIX}*"):
            try:
                lock = _lock(folder)
            except OSError:
                continue  # its host lives, or it was removed already
            try:
                _remove_below(folder)
            finally:
                os.close(lock)


def _lock(folder: Path) -> int:
    """A descriptor that holds the lock of a directory. Raises OSError if another process holds it."""
    import fcntl

    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()  # a sweep may have removed it before it was locked
    except OSError:
        os.close(lock)
        raise
    return lock


def _parents_1() -> dict[str, Path]:
    """The directories of our own groups; groups made below them stay under their limits."""
    parents = {}
    for line in _own_groups():
        _, names, path = line.split(":", 2)
        for controller in set(names.split(",")) & set(_CONTROLLERS):
            mount = _ROOT / names
            mount = mount if mount.is_dir() else _ROOT / controller
            if (mount / path.lstrip("/") / "cgroup.procs").exists():
                parents[controller] = mount / path.lstrip("/")
    return parents


def _parents_2() -> dict[str, Path]:
    """The directory beside our own group: a group that has processes cannot contain groups with limits."""
    own = _own_2().get("memory")
    if own is None:
        return {}
    parent = own.parent if own != _ROOT else _ROOT
    try:
        offered = (parent / "cgroup.subtree_control").read_text().split()
    except OSError:
        return {}
    return {controller: parent for controller in _CONTROLLERS if controller in offered}


def _own_2() -> dict[str, Path]:
    own = next((line[3:] for line in _own_groups() if line.startswith("0::")), None)
    if own is None or not (_ROOT / "cgroup.controllers").exists():
        return {}
    return dict.fromkeys(_CONTROLLERS, _ROOT / own.lstrip("/"))


def _own_groups() -> list[str]:
    try:
        return Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []  # a Linux without cgroups, or without /proc


def _limits_1(controller: str, policy: Policy) -> dict[str, str]:
    match controller:
        case "memory":  # TCP buffers are not part of the other limits
            memory = str(policy.memory_bytes + KERNEL_BYTES)
            return {**dict.fromkeys(_LIMITS_1, memory), "memory.kmem.tcp.limit_in_bytes": str(_TCP_BYTES)}
        case "pids":
            return {"pids.max": str(policy.processes + _HELPERS)}
        case "cpu" if policy.cpus is not None:
            return {
                "cpu.cfs_period_us": str(_PERIOD_US),
                "cpu.cfs_quota_us": str(int(policy.cpus * _PERIOD_US)),
            }
    return {}


def _limits_2(controller: str, policy: Policy) -> dict[str, str]:
    match controller:
        case "memory":  # only a process that is too large is killed: the cell continues and can report it
            return {"memory.max": str(policy.memory_bytes + KERNEL_BYTES), "memory.swap.max": "0"}
        case "pids":
            return {"pids.max": str(policy.processes + _HELPERS)}
        case "cpu" if policy.cpus is not None:
            return {"cpu.max": f"{int(policy.cpus * _PERIOD_US)} {_PERIOD_US}"}
    return {}


def _write_limits(folder: Path, limits: Mapping[str, str]) -> None:
    for file, value in limits.items():
        if (folder / file).exists():  # swap accounting, for example, can be off
            _write(folder / file, value)


def _write(file: Path, value: str) -> None:
    file.write_text(value)


def _has_reached_limit(folder: Path, events: str) -> bool:
    """Whether the limit of this group was reached. Version 1 reports only how near its usage came to it."""
    if _counter(folder, (events,), "oom"):
        return True
    with contextlib.suppress(OSError):
        most, limit = (int((folder / f"memory.{name}").read_text()) for name in _USAGE_1)
        return most + _LARGE_PAGE > limit
    return False


def _counter(folder: Path, files: Iterable[str], name: str) -> int:
    for file in files:
        with contextlib.suppress(OSError):
            lines = (folder / file).read_text().splitlines()
            return next((int(line.split()[1]) for line in lines if line.startswith(f"{name} ")), 0)
    return 0


def _remove_below(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        for child in folder.iterdir():
            if child.is_dir():
                _remove(child)
    _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a group, which is possible once Linux has removed its last process."""
    end = time.monotonic() + _GONE_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > end:
                return  # the reaper or the next host's `sweep` removes it
            _kill(folder)
            time.sleep(0.002)
        else:
            return


def _kill(folder: Path) -> None:
    """Use cgroup.kill where Linux has it (5.14); else forbid forks and kill one process after the other."""
    with contextlib.suppress(OSError):
        if (folder / "cgroup.kill").exists():
            _write(folder / "cgroup.kill", "1")
        elif (folder / "pids.max").exists():
            _write(folder / "pids.max", "0")
    end = time.monotonic() + _GONE_S
    while _kill_all(folder) and time.monotonic() < end:
        time.sleep(0.002)


def _kill_all(folder: Path) -> bool:
    """Kill every process; whether there was any.

    A process is killed only if the group still lists it after its pidfd was opened: otherwise its pid may have been
    reused. Processes outside of our PID namespace are listed as 0, and cannot be killed from here.
    """
    pidfds = {}
    for pid in _members(folder):
        with contextlib.suppress(OSError):
            pidfds[pid] = os.pidfd_open(pid)
    still = _members(folder)
    for pid, pidfd in pidfds.items():
        if pid in still:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)
    return bool(pidfds)


def _members(folder: Path) -> set[int]:
    try:
        return {int(pid) for pid in (folder / "cgroup.procs").read_text().split()} - {0}
    except OSError:
        return set()
