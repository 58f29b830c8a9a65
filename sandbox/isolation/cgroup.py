"""Cgroups: what all processes of a session may use together, where this machine lets us have them.

Version 1 needs root, as a rule. Version 2 needs a place where groups can be made beside our own: systemd gives
one to every user who is logged in. Without either, limits hold for each process alone (`find_cgroups`
says why), and the sandbox works all the same.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.policy import Policy

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "pyvision-sandbox-"
_CONTROLLERS = ("memory", "pids", "cpu")
_NEEDED = ("memory", "pids")
_PERIOD_US = 100_000
_TCP_BYTES = 64 * 2**20
_OWN_BYTES = (
    64 * 2**20
)  # of a kernel, beside its cells: else it would be ended before a cell is refused memory
_GONE_S = 1.0  # how long Linux may take to forget processes that were killed


class Cgroups:
    """The groups of one Sandbox: a directory of each controller, in which every session has its own.

    Version 2 has one directory for all controllers.
    """

    def __init__(self, places: Mapping[str, Path], *, unified: bool) -> None:
        """Make them. Raises OSError."""
        self._unified = unified
        name = f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        self._folders = {controller: place / name for controller, place in places.items()}
        try:
            for folder in set(self._folders.values()):
                folder.mkdir()
            if unified:
                enabled = " ".join(f"+{controller}" for controller in self._folders)
                _write(self.folders[0] / "cgroup.subtree_control", enabled)
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
        """A group with the limits of the Policy and nobody in it. Raises OSError."""
        group = Group({controller: folder / name for controller, folder in self._folders.items()})
        try:
            for folder in group.folders:
                folder.mkdir()
            for controller, folder in group.by_controller.items():
                limits = _limits_2(controller, policy) if self._unified else _limits_1(controller, policy)
                for file, value in limits.items():
                    if (folder / file).exists():  # accounting of swap, for one, can be off
                        _write(folder / file, value)
        except OSError:
            group.remove()
            raise
        return group

    def close(self) -> None:
        """Remove the directories, and the groups that are left in them. Twice is once."""
        for folder in self.folders:
            _remove_below(folder)


@dataclass(frozen=True, slots=True)
class Group:
    """The cgroup of one session."""

    by_controller: Mapping[str, Path]

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self.by_controller.values()))

    def doors(self) -> list[int]:
        """Descriptors, to be closed: a process that writes "0" to each of them is in the group. Raises OSError.

        Linux takes long to move another one, and in version 1 also one with several threads (kernel/cgroup/cgroup.c,
        cgroup_procs_write_start).
        """
        doors: list[int] = []
        try:
            for folder in self.folders:
                file = folder / "tasks"
                doors.append(os.open(file if file.exists() else folder / "cgroup.procs", os.O_WRONLY))
        except OSError:
            for door in doors:
                os.close(door)
            raise
        return doors

    def ran_out_of_memory(self) -> bool:
        """Whether Linux has ended a process of it for its memory."""
        folder = self.by_controller["memory"]
        for file in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                lines = (folder / file).read_text().splitlines()
                return any(line.startswith("oom_kill ") and line.split()[1] != "0" for line in lines)
        return False

    def remove(self) -> None:
        """End what is in it, and remove it."""
        for folder in self.folders:
            _remove(folder)


def find_cgroups() -> tuple[Cgroups | None, str]:
    """Groups for one Sandbox, and how they are had; or None, and why there are none."""
    why = []
    for places, unified in ((_places_2(), True), (_places_1(), False)):
        missing = [controller for controller in _NEEDED if controller not in places]
        if missing:
            why.append(f"version {2 if unified else 1} offers no {' and no '.join(missing)}")
            continue
        sweep(places.values())
        try:
            groups = Cgroups(places, unified=unified)
        except OSError as error:
            why.append(f"{error.filename or next(iter(places.values()))}: {error.strerror}")
            continue
        return groups, f"version {groups.version}: {', '.join(groups.controllers)}"
    return None, f"none for user {os.getuid()} ({'; '.join(why)}): memory is limited for each process alone"


def sweep(places: Iterable[Path]) -> None:
    """Remove the empty groups of hosts that were killed together with their reapers."""
    for place in set(places):
        for folder in place.glob(f"{_PREFIX}*"):
            owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                _remove_below(folder)


def _places_1() -> dict[str, Path]:
    """Below our own groups, whose limits go on to hold."""
    places = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        for controller in set(names.split(",")) & set(_CONTROLLERS):
            mount = _ROOT / names
            mount = mount if mount.is_dir() else _ROOT / controller
            if (mount / path.lstrip("/") / "cgroup.procs").exists():
                places[controller] = mount / path.lstrip("/")
    return places


def _places_2() -> dict[str, Path]:
    """Beside our own group: one that has processes can have no groups with limits in it."""
    own = next(
        (line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")),
        None,
    )
    if own is None or not (_ROOT / "cgroup.controllers").exists():
        return {}
    place = (_ROOT / own.lstrip("/")).parent if own != "/" else _ROOT
    try:
        offered = (place / "cgroup.subtree_control").read_text().split()
    except OSError:
        return {}
    return {controller: place for controller in _CONTROLLERS if controller in offered}


def _limits_1(controller: str, policy: Policy) -> dict[str, str]:
    memory = str(policy.memory_bytes + _OWN_BYTES)
    match controller:
        case "memory":  # the second one is memory and swap together; the third is not part of the first
            return {
                "memory.limit_in_bytes": memory,
                "memory.memsw.limit_in_bytes": memory,
                "memory.kmem.tcp.limit_in_bytes": str(_TCP_BYTES),
            }
        case "pids":
            return {"pids.max": str(policy.processes)}
        case "cpu" if policy.cpus is not None:
            return {
                "cpu.cfs_period_us": str(_PERIOD_US),
                "cpu.cfs_quota_us": str(int(policy.cpus * _PERIOD_US)),
            }
    return {}


def _limits_2(controller: str, policy: Policy) -> dict[str, str]:
    match controller:
        case "memory":  # a child that is too large ends alone: then the cell goes on and can tell of it
            return {"memory.max": str(policy.memory_bytes + _OWN_BYTES), "memory.swap.max": "0"}
        case "pids":
            return {"pids.max": str(policy.processes)}
        case "cpu" if policy.cpus is not None:
            return {"cpu.max": f"{int(policy.cpus * _PERIOD_US)} {_PERIOD_US}"}
    return {}


def _write(file: Path, value: str) -> None:
    file.write_text(value)


def _remove_below(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        for child in folder.iterdir():
            if child.is_dir():
                _remove(child)
    _remove(folder)


def _remove(folder: Path) -> None:
    """A group can be removed once Linux has forgotten its last process."""
    end = time.monotonic() + _GONE_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > end:
                return  # the reaper, or the next host's sweep, gets it
            _end_all(folder)
            time.sleep(0.002)


def _end_all(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
