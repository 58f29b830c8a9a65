"""The processes of this machine that these tests need to find."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

_EXITING = 0x4  # PF_EXITING of linux/sched.h


def descendants(pid: int) -> dict[int, str]:
    """The pids below this process with their start times, which distinguish a reused pid."""
    family: dict[int, list[int]] = {}
    started: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        child = int(path.parent.name)
        family.setdefault(int(fields[1]), []).append(child)
        started[child] = fields[19]
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        for child in family.get(waiting.pop(), []):
            found[child] = started[child]
            waiting.append(child)
    return found


def alive(processes: dict[int, str]) -> list[int]:
    """Those that still run; a zombie does not."""
    return [pid for pid, started in processes.items() if _runs(pid, started)]


def name_of(pid: int) -> str:
    """The name of a process, which a cell may give to its kernel; none once it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether it became true; the limit is for a machine under load, so that only a failure reaches it."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _runs(pid: int, started: str) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[19] == started and not int(fields[6]) & _EXITING
