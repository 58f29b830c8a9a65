"""Memory, descriptors and threads of this process and its descendants, from /proc."""

from __future__ import annotations

import gc
import os
from pathlib import Path

_PROC = Path("/proc")
_MIB = 2**20


def descendants(ancestor: int | None = None) -> frozenset[int]:
    """The pids of all descendants of a process, by default of this one."""
    first = os.getpid() if ancestor is None else ancestor
    parents = {pid: parent for pid in _pids() if (parent := _parent(pid)) is not None}
    found, added = {first}, {first}
    while added:
        added = {pid for pid, parent in parents.items() if parent in added} - found
        found |= added
    return frozenset(found - {first})


def pss_mb(pids: frozenset[int]) -> float:
    """Their proportional set size in MiB: memory shared by n processes counts 1/n for each.

    Raises PermissionError if a process cannot be read, since the sum would then be too small.
    """
    return sum(_pss_bytes(pid) for pid in pids) / _MIB


def rss_mb() -> float:
    """The resident memory of this process in MiB, after garbage collection."""
    gc.collect()
    return _status_kib("VmRSS") / 1024


def reset_peak() -> None:
    """Return free memory to the system and reset `peak_mb`."""
    import ctypes

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """The peak resident memory of this process in MiB since `reset_peak`."""
    return _status_kib("VmHWM") / 1024


def thread_count() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def descriptor_count() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) - 1  # without that of the listing itself


def _pids() -> list[int]:
    return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]


def _parent(pid: int) -> int | None:
    try:
        stat = Path(_PROC, str(pid), "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None  # it has ended
    return int(stat.rpartition(")")[2].split()[1])


def _pss_bytes(pid: int) -> int:
    try:
        lines = Path(_PROC, str(pid), "smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it has ended, or is a zombie
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _status_kib(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
