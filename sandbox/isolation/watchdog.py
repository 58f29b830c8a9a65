"""Limit the memory of a session where no cgroup can be made: a thread measures sessions and ends those over the limit.

A measurement adds the private memory of the processes of a session, the contents of its tmpfs, and what its sockets may
hold. It finds the processes in the container's own /proc, which lists them all. It reads /proc/PID/statm first, which
costs microseconds and counts a page shared by several processes once for each. Only if that is over the limit it reads
/proc/PID/smaps_rollup, which divides such a page by the number of processes (PSS). Pages of files are not counted:
Linux can drop them, and a container has no file that is both on a disk and writable.

Covered, together with what isolation/seccomp.py refuses in a measured container: anonymous memory of every process
and child, also of one that is not dumpable (the host's user owns the container's user namespace, so ptrace_may_access
allows it) and of one whose first thread has ended; files in /tmp and /dev/shm, open or not; buffers of sockets.
Refused, because they can hold pages outside of every address space: memfd_create, shmget, msgget, semget, vmsplice,
mmap with MAP_SHARED | MAP_ANONYMOUS, setsockopt with SO_ZEROCOPY, SO_SNDBUF or SO_RCVBUF, and /dev/zero (a shared
mapping of it is shared anonymous memory).

Not covered: memory touched between two measurements. The next one comes before a session could fill its remaining
memory at 4 GiB/s per processor, but at most every 50 ms, and later on a busy machine, unless root gave the thread a
higher priority: a session can briefly exceed its limit by what it touches in that time, when RLIMIT_AS of each process
is the only limit. Memory of Linux itself (page tables, mappings, file locks, pipes) is bounded by RLIMIT_NPROC,
RLIMIT_NOFILE and Linux's own limits, not here.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from sandbox.errors import IsolationError
from sandbox.isolation.processes import pid_of
from sandbox.isolation.unowned_memory import read, socket_bytes, tmpfs_bytes
from sandbox.policy import KERNEL_BYTES, Exhausted

_PAGE = os.sysconf("SC_PAGE_SIZE")
_FILL_BYTES_PER_S = 4 * 2**30  # by one processor
_SHORTEST_S, _LONGEST_S = 0.05, 0.25  # between two measurements
_NICE = -10  # of the thread that measures
_FRESH_S = 1.0  # how long an exact measurement corrects the next ones
_ROUNDS = 8  # of listing the processes of a container that may be forking
_KCMP = {"x86_64": 312, "aarch64": 272}
KCMP_VM, KCMP_FILES = 1, 2  # linux/kcmp.h


@dataclass(slots=True, eq=False)
class WatchedSession:
    """One session, in a container. `exhausted` is the limit for which the watchdog ended it, if it did.

    WatchedTree (process_tree.py) measures one without a container.
    """

    root: int  # a descriptor of the container's root directory
    kill: Callable[[], None]
    exhausted: Exhausted | None = None
    bytes: int = 0  # its memory at the last measurement
    shared_bytes: int = 0  # what `measure` overestimated when `measure_exactly` was last called
    measured_at: float = -_FRESH_S  # when `measure_exactly` was last called
    due: float = 0.0  # when to measure again

    def measure(self) -> int:
        """An upper bound of its memory. Sets `bytes`, corrected by a recent exact measurement."""
        bound = self.measure_unowned() + sum(_processes(self.list_processes).values())
        is_fresh = time.monotonic() - self.measured_at < _FRESH_S
        self.bytes = max(bound - self.shared_bytes, 0) if is_fresh else bound
        return bound

    def measure_exactly(self) -> int:
        """Its memory, with its share of shared pages; ten times as slow, or more with many processes."""
        bound = self.measure()
        self.bytes = self.measure_unowned() + _exact_bytes(self.list_members)
        self.shared_bytes = max(bound - self.bytes, 0)
        self.measured_at = time.monotonic()
        return self.bytes

    def find_excess(self) -> Exhausted | None:
        """Which limit other than memory it exceeds: none, because Linux enforces those of a container."""
        return None

    def list_processes(self) -> list[str]:
        """The folders in /proc of its processes."""
        proc = f"{self._path}/proc"
        return [f"{proc}/{name}" for name in names(proc)]

    def list_members(self, known: set[str]) -> list[str]:
        """The same by the host's pids, which kcmp needs, and without the known ones; adds to these what it saw."""
        namespace = _link(f"{self._path}/proc/1/ns/pid")
        new = (
            [f"/proc/{name}" for name in names("/proc") if f"/proc/{name}" not in known] if namespace else []
        )
        known.update(new)
        return [process for process in new if _link(f"{process}/ns/pid") == namespace]

    def measure_unowned(self) -> int:
        """Memory that belongs to no process."""
        return tmpfs_bytes(self._path) + socket_bytes(f"{self._path}/proc/1/net")

    def close(self) -> None:
        os.close(self.root)

    @property
    def _path(
        self,
    ) -> str:  # paths are strings here: creating Path objects takes longer than reading the files
        return f"/proc/self/fd/{self.root}"


def watch_container(container: int, kill: Callable[[], None], work: str) -> WatchedSession:
    """Watch the container of this pidfd. Raises OSError."""
    root = os.open(f"/proc/{pid_of(container)}/root", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return WatchedSession(root, kill)


StartWatching: TypeAlias = Callable[[int, Callable[[], None], str], WatchedSession]


class Watchdog:
    """Watches sessions from a private thread, which runs while there are any. Thread-safe."""

    def __init__(
        self, memory_bytes: int, max_memory_bytes: int, start: StartWatching = watch_container
    ) -> None:
        """The limits of each session, and of all together. Raises IsolationError if memory cannot be measured."""
        self._start = start
        self._limit_bytes = memory_bytes + KERNEL_BYTES
        self._max_memory_bytes = max_memory_bytes
        self._rate = _FILL_BYTES_PER_S * (os.cpu_count() or 1)
        self._changed = threading.Condition()
        self._sessions: list[WatchedSession] = []
        self._is_closed = False
        self._thread: threading.Thread | None = None
        _check_proc()

    def watch(self, container: int, kill: Callable[[], None], work: str = "") -> WatchedSession:
        """Watch a session until `forget`; `kill` must not wait. `work`: its working folder. Raises OSError."""
        watched = self._start(container, kill, work)
        with self._changed:
            self._sessions.append(watched)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sandbox-watchdog", daemon=True)
                self._thread.start()
            self._changed.notify()
        return watched

    def forget(self, watched: WatchedSession) -> None:
        """Stop watching a session that has ended. May be called twice."""
        with self._changed:
            if watched in self._sessions:
                self._sessions.remove(watched)
                watched.close()

    def close(self) -> None:
        """Stop watching all sessions. May be called twice."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        for watched in tuple(self._sessions):
            self.forget(watched)

    def _run(self) -> None:
        """Ends all sessions if it fails: none may go on without a limit. The next one starts another thread."""
        _precede_sessions()
        try:
            self._watch()
        except BaseException:
            with self._changed:
                self._thread = None
                for watched in self._sessions:
                    watched.kill()
            raise

    def _watch(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._sessions or self._is_closed)
                self._changed.wait_for(lambda: self._is_closed, timeout=self._pause_s())
                if self._is_closed:
                    return
                sessions = tuple(self._sessions)
            for watched in sessions:
                self._check_session(watched)
            self._check_total(sessions)

    def _pause_s(self) -> float:
        due = min((watched.due for watched in self._sessions), default=0.0)
        return max(due - time.monotonic(), _SHORTEST_S)

    def _check_session(self, watched: WatchedSession) -> None:
        """Measure one session if it is due, and end it if it is over its limit."""
        with self._changed:  # held during the measurement: `forget` closes the descriptor
            if watched not in self._sessions or watched.exhausted or time.monotonic() < watched.due:
                return
            if excess := watched.find_excess():
                self._end(watched, excess)
                return
            if watched.measure() > self._limit_bytes:
                # Twice: while a process forks, parent and child may both have been counted in full.
                watched.measure_exactly()
                if watched.bytes > self._limit_bytes and watched.measure_exactly() > self._limit_bytes:
                    self._end(watched, "session")
            watched.due = time.monotonic() + self._until_full_s(self._limit_bytes - watched.bytes)

    def _check_total(self, sessions: Iterable[WatchedSession]) -> None:
        living = [watched for watched in sessions if not watched.exhausted]
        if sum(watched.bytes for watched in living) > self._max_memory_bytes:
            for watched in living:
                self._refresh(watched)
        total = sum(watched.bytes for watched in living)
        if total > self._max_memory_bytes:
            self._end(max(living, key=lambda watched: watched.bytes), "sandbox")
        soon = time.monotonic() + self._until_full_s(self._max_memory_bytes - total)
        for watched in living:
            watched.due = min(watched.due, soon)

    def _refresh(self, watched: WatchedSession) -> None:
        """Measure it exactly, unless that was done within `_FRESH_S`."""
        with self._changed:
            if watched in self._sessions and time.monotonic() - watched.measured_at > _FRESH_S:
                watched.measure_exactly()

    def _end(self, watched: WatchedSession, why: Exhausted) -> None:
        watched.exhausted = why
        watched.kill()

    def _until_full_s(self, left_bytes: int) -> float:
        return min(max(left_bytes / self._rate, _SHORTEST_S), _LONGEST_S)


def _precede_sessions() -> None:
    """Let this thread run before the others of its cgroup, or with autogroups of its session; needs CAP_SYS_NICE."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def _check_proc() -> None:
    """Check that processes can be measured. Raises IsolationError."""
    try:
        _statm("/proc/self")
        _anonymous_bytes("/proc/self")
        Path("/proc/self/ns/pid").readlink()
    except (OSError, ValueError, IndexError) as error:
        raise IsolationError(f"/proc does not show the memory of processes ({error})") from error


def _processes(list_processes: Callable[[], list[str]]) -> dict[str, int]:
    """An upper bound of the private memory of each process. Lists again while new processes appear."""
    found: dict[str, int] = {}
    for _ in range(_ROUNDS):
        new = [process for process in list_processes() if process not in found]
        if not new:
            break
        for process in new:
            found[process] = _own_bytes(process)
    return found


def _own_bytes(process: str) -> int:
    own = 0
    for task in tasks_of(process):
        with contextlib.suppress(OSError):
            own = max(own, _statm(task))
            if own:
                break
    return own


def _statm(task: str) -> int:
    """Resident memory that belongs to no file; 0 for a thread that has ended."""
    _, resident, shared, *_ = read(f"{task}/statm").split()
    return (int(resident) - int(shared)) * _PAGE


def tasks_of(process: str) -> Iterator[str]:
    """The process, then its threads: once the first thread has ended, only the others show its memory and files."""
    yield process
    for name in names(f"{process}/task"):
        yield f"{process}/task/{name}"


def names(folder: str) -> list[str]:
    """The ids of processes or threads; empty once they have ended."""
    try:
        return [name for name in os.listdir(folder) if name.isdigit()]  # noqa: PTH208 - four times as fast
    except OSError:
        return []


def _exact_bytes(list_members: Callable[[set[str]], list[str]]) -> int:
    """The PSS of all processes of the session, each address space once."""
    total, measured, known = 0, list[int](), set[str]()
    for _ in range(_ROUNDS):
        members = list_members(known)
        if not members:
            break
        for process in members:
            leader = int(process.rpartition("/")[2])
            shared_before = _shares_with(leader, measured)  # it may call exec meanwhile
            task, used = _first_measured(process)
            # Threads that have ended all "share" no memory: what is said of the first thread counts only if it lives.
            if used and not (shared_before and task == leader) and not _shares_with(task, measured):
                total += used
                measured.append(task)
    return total


def _first_measured(process: str) -> tuple[int, int]:
    """The first thread that shows the memory of a process, and that memory."""
    for task in tasks_of(process):
        used = _task_bytes(task)
        if used:
            return int(task.rpartition("/")[2]), used
    return 0, 0


def _task_bytes(task: str) -> int:
    try:
        return _anonymous_bytes(task)
    except OSError:
        with contextlib.suppress(OSError):
            return _statm(task)  # it cannot be read: use the upper bound
        return 0  # it has ended


def _anonymous_bytes(task: str) -> int:
    """Anonymous memory, resident or in swap, with a proportional share of shared pages. Raises OSError, ValueError."""
    lines = read(f"{task}/smaps_rollup").splitlines()
    counts = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines[1:])}
    return (counts.get("Pss_Anon", counts.get("Pss", 0)) + counts.get("SwapPss", 0)) * 1024


def _shares_with(pid: int, others: Iterable[int]) -> bool:
    return any(share(KCMP_VM, pid, other) for other in others)


def share(resource: int, pid: int, other: int) -> bool:
    """Whether two threads share an address space (KCMP_VM) or their descriptors (KCMP_FILES).

    Parent and child share an address space after vfork until the child calls exec. Only kcmp(2) can tell. Without it
    (CONFIG_KCMP) what is shared counts more than once.
    """
    number = _KCMP.get(platform.machine())
    return number is not None and _libc().syscall(number, pid, other, resource, 0, 0) == 0


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)  # noqa: PTH115 - the text, not a path
    except OSError:
        return None


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
