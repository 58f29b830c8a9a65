"""Canaries among the processes of the host: one that sleeps, to be attacked, and one that is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any


class Victims:
    def __init__(self, secret: str) -> None:
        self._victim = _sleep({"CANARY": secret})
        self._stopped = _sleep({})
        self._stopped.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._stopped.pid, os.WSTOPPED)
        self._before = _settings(self._victim.pid)
        self.target: dict[str, Any] = {"victim_pid": self._victim.pid}

    def harm(self, marker: str) -> str | None:
        """Whether the victim was ended, stopped or traced, its settings changed, or a signal sent to everybody."""
        state = _state(self._victim.pid)
        if state not in ("S", "R", "D"):
            return f"process {self._victim.pid} of the host was ended, stopped or traced ({state})"
        if _settings(self._victim.pid) != self._before:
            return f"the settings of process {self._victim.pid} of the host were changed"
        if _state(self._stopped.pid) != "T":
            return "every process of the host was sent a signal"
        return None

    def close(self) -> None:
        """End them."""
        for process in (self._victim, self._stopped):
            process.kill()
            process.wait()


def _sleep(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sleep", "3600"],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _state(pid: int) -> str:
    return _stat(pid)[0]


def _settings(pid: int) -> tuple[str, ...]:
    """Its priority, its scheduling and its limits."""
    stat = _stat(pid)
    return stat[16], stat[38], Path(f"/proc/{pid}/limits").read_text(), str(sorted(os.sched_getaffinity(pid)))


def _stat(pid: int) -> list[str]:
    """What follows the name of the process in its status."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
