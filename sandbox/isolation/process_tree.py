"""Measure a session that has no container: its processes are the descendants of its supervisor (guest/supervisor.py).

Covered: memory of every process, buffers of sockets that a process holds, the number of processes and threads, and what
the session keeps on the disk: its working folder, and removed files that are open or mapped, also by a process whose
first thread has ended and by a thread with descriptors of its own. Descriptors on their way over a socket cannot be
found: the filter refuses to send them (`_refuse_without_namespaces` in seccomp.py). A session over a limit is ended,
also one with so many descriptors and mappings that looking through them would keep the host busy.
Not covered: what it writes or starts between two looks; RLIMIT_FSIZE and RLIMIT_NPROC bound that. Processes are counted
every 50 to 250 ms. So are files, unless there are so many that this would take more than a fifth of a processor.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.isolation.confinement import CAP_SYS_PTRACE, has_capability
from sandbox.isolation.processes import pid_of
from sandbox.isolation.unowned_memory import buffer_default, read
from sandbox.isolation.watchdog import KCMP_FILES, WatchedSession, names, share, tasks_of
from sandbox.policy import Exhausted, Policy

_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
_BLOCK = 512  # bytes, the unit of st_blocks
_LONG_PATH = "a path that is too long to be shown"
_PAUSES = 4  # as long as it takes to look through the files, before the next time
_DESCRIPTORS, _MAPPINGS = 64, 1024  # of a process on average; a kernel has 40 and 600
_MOST_MAPPINGS = 65_536  # of one process: vm.max_map_count, as Linux sets it


@dataclass(slots=True, eq=False)
class WatchedTree(WatchedSession):
    """The processes below a supervisor, and their files in one folder. `root` is not used."""

    supervisor: int = -1
    work: str = ""
    disk_bytes: int = 0
    disk_files: int = 0
    file_bytes: int = 0
    tasks: int = 0
    descriptors: int = 0
    mappings: int = 0
    files_due: float = 0.0  # when to look through its files again
    user: int | None = None  # of the session, if its processes can only be measured as this user

    def measure_exactly(self) -> int:
        # not super(): `dataclass(slots=True)` makes the class again, and super() would look for the first one
        with _as_user(self.user):
            return WatchedSession.measure_exactly(self)

    def find_excess(self) -> Exhausted | None:
        """Whether it has more processes, or keeps more on the disk, than the Policy allows, or too much to look at."""
        processes = self.list_processes()
        if sum(len(names(f"{process}/task")) for process in processes) > self.tasks:
            return "processes"
        started = time.monotonic()
        if started < self.files_due:
            return None
        try:
            return self._find_excess_of_files(processes)
        finally:
            ended = time.monotonic()
            self.files_due = ended + _PAUSES * (ended - started)

    def list_processes(self) -> list[str]:
        """The folders in /proc of its processes, without the supervisor."""
        return [f"/proc/{pid}" for pid in descendants(self.supervisor)]

    def list_members(self, known: set[str]) -> list[str]:
        """Those that are not known yet."""
        new = [process for process in self.list_processes() if process not in known]
        known.update(new)
        return new

    def measure_unowned(self) -> int:
        """What the sockets of its processes may hold."""
        with _as_user(self.user):
            opened = [link for each in self.list_processes() for _, link in _open(each)]
        sockets = {link for link in opened if link.startswith("socket:")}
        return len(sockets) * 2 * buffer_default()

    def close(self) -> None:
        """It holds nothing."""

    def _find_excess_of_files(self, processes: list[str]) -> Exhausted | None:
        used, files = 0, 0
        try:
            for status in _statuses(self.work):
                used, files = used + status.st_blocks * _BLOCK, files + 1
                if used > self.disk_bytes or files > self.disk_files:
                    return "disk"
        except OSError:
            return "disk"  # a folder that cannot be measured: unreadable, or too deep
        with _as_user(self.user):
            if _count_descriptors(processes) > self.descriptors:
                return "handles"
            removed = self._find_removed_files(processes)
        if removed is None:
            return "handles"
        return "disk" if used + sum(removed.values()) > self.disk_bytes else None

    def _find_removed_files(self, processes: list[str]) -> dict[tuple[int, int], int] | None:
        """The size of each removed file of the session that a process keeps, by device and inode.

        A file that is mapped without a descriptor shows its size to root alone; for others it counts as the largest.
        None if there are too many mappings to look through.
        """
        found: dict[tuple[int, int], int] = {}
        mappings = 0
        for process in processes:
            for path, link in _open(process):
                if link == _LONG_PATH or (link.startswith(self.work) and link.endswith(" (deleted)")):
                    with contextlib.suppress(OSError):
                        status = os.stat(path)  # noqa: PTH116 - the file behind the descriptor
                        found[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK
            task, lines = _mappings(process)
            mappings += len(lines)
            if mappings > self.mappings:
                return None
            for file, size in _find_mapped_files(task, lines, self.work):
                found.setdefault(file, self.file_bytes if size is None else size)
        return found


def watch_tree(policy: Policy) -> Callable[[int, Callable[[], None], str], WatchedSession]:
    """How a Watchdog watches sessions of this policy."""

    def watch(supervisor: int, kill: Callable[[], None], work: str) -> WatchedSession:
        return WatchedTree(
            -1,
            kill,
            supervisor=pid_of(supervisor),
            work=work,
            disk_bytes=policy.disk_bytes,
            disk_files=policy.disk_files,
            file_bytes=policy.file_bytes,
            tasks=policy.processes,
            descriptors=policy.open_files + _DESCRIPTORS * policy.processes,
            mappings=_MOST_MAPPINGS + _MAPPINGS * policy.processes,
            user=None if os.getuid() or has_capability(CAP_SYS_PTRACE) else Path(work).stat().st_uid,
        )

    return watch


@contextlib.contextmanager
def _as_user(user: int | None) -> Iterator[None]:
    """Let this thread, of a root without CAP_SYS_PTRACE, read what /proc shows to the user of a process alone.

    Linux compares the file system ids, which each thread has for itself (ptrace_may_access, PTRACE_MODE_FSCREDS).
    """
    if user is None:
        yield
        return
    libc = ctypes.CDLL(None)
    header, held = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, held)
    group_before, user_before = libc.setfsgid(user), libc.setfsuid(user)
    libc.capset(header, held)  # setfsuid drops CAP_DAC_READ_SEARCH, which the processes of a session may have
    try:
        yield
    finally:
        libc.setfsuid(user_before)
        libc.setfsgid(group_before)


def descendants(pid: int) -> list[int]:
    """All processes below this one, as far as they can be listed while they start and end."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for task in names(f"/proc/{parent}/task"):
            with contextlib.suppress(OSError):
                children = [int(child) for child in read(f"/proc/{parent}/task/{task}/children").split()]
                found += children
                waiting += children
    return found


def _open(process: str) -> Iterator[tuple[str, str]]:
    """The path of each descriptor of a process, and what it refers to."""
    for table in _descriptor_tables(process):
        for name in names(table):
            yield f"{table}/{name}", _target(f"{table}/{name}")


def _target(descriptor: str) -> str:
    """What it refers to; nothing once it is closed."""
    try:
        return os.readlink(descriptor)  # noqa: PTH115 - the text, not a path
    except OSError as error:
        return _LONG_PATH if error.errno == errno.ENAMETOOLONG else ""


def _descriptor_tables(process: str) -> Iterator[str]:
    """The folder of every table of descriptors: one that has ended has none, and threads need not share theirs."""
    seen: list[int] = []
    for name in names(f"{process}/task"):
        if not any(share(KCMP_FILES, int(name), other) for other in seen):
            seen.append(int(name))
            yield f"{process}/task/{name}/fd"


def _count_descriptors(processes: list[str]) -> int:
    return sum(len(names(table)) for process in processes for table in _descriptor_tables(process))


def _find_mapped_files(
    task: str, lines: list[bytes], folder: str
) -> Iterator[tuple[tuple[int, int], int | None]]:
    """Device and inode of the removed files of this folder that a process has mapped, and their size if it is known."""
    for line in lines:
        if line.endswith(b" (deleted)") and os.fsencode(folder) in line:
            addresses, _, _, device, inode, _ = line.split(maxsplit=5)
            major, minor = (int(part, 16) for part in device.split(b":"))
            yield (os.makedev(major, minor), int(inode)), _measure_mapped_files(task, addresses.decode())


def _measure_mapped_files(task: str, addresses: str) -> int | None:
    try:
        process = f"/proc/{task.rpartition('/')[2]}"  # which has this folder for every thread
        return os.stat(f"{process}/map_files/{addresses}").st_blocks * _BLOCK  # noqa: PTH116 - behind the link
    except OSError:
        return None


def _mappings(process: str) -> tuple[str, list[bytes]]:
    """The first thread that shows the memory of a process, with a line about each mapping."""
    for task in tasks_of(process):
        with contextlib.suppress(OSError):
            if text := Path(f"{task}/maps").read_bytes():
                return task, text.split(b"\n")
    return process, []


def _statuses(folder: str) -> Iterator[os.stat_result]:
    """The status of everything below a folder, without following links. Raises OSError.

    Not covered: what is moved meanwhile may be missed, until the next time.
    """
    root, waiting = "", [folder]
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), _open_folder(path) as opened:
            place = os.readlink(f"/proc/self/fd/{opened}")  # noqa: PTH115 - the text, not a path
            root = root or place
            if not f"{place}/".startswith(f"{root}/"):
                continue  # a folder on the way was replaced by a link
            with os.scandir(opened) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISDIR(status.st_mode):
                            waiting.append(f"{path}/{entry.name}")
                        yield status


@contextlib.contextmanager
def _open_folder(folder: str) -> Iterator[int]:
    """A descriptor of a folder, but not of a link to one. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
