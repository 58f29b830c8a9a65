"""A host that is killed in the middle of a cell: how long until nothing of its sandbox is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.processes import descendants
from benchmarks.sandbox.measure import Measure
from benchmarks.sandbox.setting import Setting

_LONGEST_S = 60.0
_EXITING = 0x4  # PF_EXITING of linux/sched.h
_HOST = """
from sandbox import Sandbox
session = Sandbox(spare=1).open()
session.run("import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)")
print("ready", flush=True)
session.run("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\\nwhile True: pass")
"""


def killed_host(setting: Setting) -> list[Measure]:
    """With a cell that ignores its interruption, a child of an earlier cell's, and a spare container."""
    times = [_killed() for _ in range(setting.effort.rounds)]
    return [Measure("host killed: until no process and no file is left", "ms", median(times), goal="< 2000")]


def _killed() -> float:
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:  # short enough for sockets in it
        environment = {**os.environ, "TMPDIR": folder}
        command = [sys.executable, "-c", _HOST]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as host:
            assert host.stdout is not None
            host.stdout.readline()
            family = descendants(host.pid)
            started = time.perf_counter()
            host.send_signal(signal.SIGKILL)
            host.wait()
            while _is_anything_left(family, Path(folder)):
                if time.perf_counter() - started > _LONGEST_S:
                    raise RuntimeError(f"a killed host left something behind for more than {_LONGEST_S:g} s")
                time.sleep(0.005)
            return (time.perf_counter() - started) * 1000


def _is_anything_left(family: frozenset[int], folder: Path) -> bool:
    return any(map(_runs, family)) or any(folder.iterdir())


def _runs(pid: int) -> bool:
    """Not once it has ended and waits for the first process of the machine to take note of it."""
    try:
        flags = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[6])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not flags & _EXITING
