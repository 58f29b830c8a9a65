"""What Linux says of this process and of those that it started, from /proc: memory, descriptors, threads."""

from __future__ import annotations

import gc
import os
from pathlib import Path

_PROC = Path("/proc")
_MIB = 2**20


def descendants(ancestor: int | None = None) -> frozenset[int]:
    """The pids of everything that a process, or else this one, has started, and what that has, and so on."""
    first = os.getpid() if ancestor is None else ancestor
    parents = {pid: parent for pid in _pids() if (parent := _parent(pid)) is not None}
    found, added = {first}, {first}
    while added:
        added = {pid for pid, parent in parents.items() if parent in added} - found
        found |= added
    return frozenset(found - {first})


def pss_mb(pids: frozenset[int]) -> float:
    """Their memory in MiB, where what n processes share counts 1/n for each.

    Raises PermissionError where one may not be looked into: a sum without it would flatter.
    """
    return sum(_pss_bytes(pid) for pid in pids) / _MIB


def rss_mb() -> float:
    """The resident memory of this process in MiB, garbage collected first."""
    gc.collect()
    return _status_kib("VmRSS") / 1024


def reset_peak() -> None:
    """Give free memory back to the system, and let `peak_mb` begin anew."""
    import ctypes

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """The most resident memory in MiB that this process had since `reset_peak`."""
    return _status_kib("VmHWM") / 1024


def thread_count() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def descriptor_count() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) - 1  # without the one that lists them


def _pids() -> list[int]:
    return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]


def _parent(pid: int) -> int | None:
    try:
        stat = Path(_PROC, str(pid), "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None  # it ended meanwhile
    return int(stat.rpartition(")")[2].split()[1])


def _pss_bytes(pid: int) -> int:
    try:
        lines = Path(_PROC, str(pid), "smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it ended meanwhile, or waits for its parent
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _status_kib(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
