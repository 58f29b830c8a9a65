"""Kill a host or its helper processes at random moments, and count what is left of its containers after some seconds.

    python -m benchmarks.teardown [--isolation landlock] [--kills 200] [--load 4] [--within 2] [--seed 0]

Survivors are found by their mounts: every process in a container of the host has its private folder in
/proc/PID/mountinfo, whatever its name. In the landlock tier they are found by the user id of the sandbox, which it
shares with nobody if the host is root, or by their working folder. Folders and cgroups count as survivors too. The
guest of each host forks, daemonises, ignores signals and stops itself, and the host keeps opening further sessions.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from sandbox.policy import Tier

Victim: TypeAlias = Literal[
    "host", "zygote and host", "reaper and host", "supervisor and host", "bubblewrap and host"
]
_LIMIT_S = 2.0
_HOST = """
import sys
from sandbox import KernelStartError, Policy, Sandbox
sandbox = Sandbox(Policy(cell_timeout_s=600, isolation=sys.argv[1]))
session = sandbox.open()
session.run('''
import os, signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, signal.SIG_IGN)
for kind in range(4):
    if os.fork() == 0:
        os.setsid()
        if kind == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
        for _ in range(2000):
            if os.fork():
                os._exit(0)
        signal.pause()
''')
groups = sandbox._engine.limits.groups
print("ready", sandbox._engine.uid, *groups.folders if groups else (), flush=True)
while True:
    try:
        sandbox.open({}).close()
    except KernelStartError:
        continue  # its zygote was killed
"""


def survivors_of(
    victim: Victim, moment_s: float, tier: Tier = "bwrap", within_s: float = _LIMIT_S
) -> list[str]:
    """Start a host, kill the victim so long after it is ready, then the host; what is left after the time given."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:  # short enough for sockets in it
        Path(folder).chmod(0o711)  # the sandbox of root is another user
        command = [sys.executable, "-c", _HOST, tier]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": folder}) as host:
            try:
                assert host.stdout is not None
                ready, user, *groups = host.stdout.readline().decode().split() or ["", ""]
                if ready != "ready":
                    raise RuntimeError("the host did not start")
                if not any(each.startswith("process") for each in _find_survivors(folder, groups, int(user))):
                    raise RuntimeError("no process of the session was found: survivors would be missed")
                time.sleep(moment_s)
                for pid in _pids(victim, host.pid, tier):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                    while victim == "reaper and host" and not set(_pids(victim, host.pid, tier)) - {pid}:
                        time.sleep(0.01)  # until it is replaced: only both at once leave files behind
            finally:
                host.kill()
        end = time.monotonic() + within_s
        while (left := _find_survivors(folder, groups, int(user))) and time.monotonic() < end:
            time.sleep(0.02)
        return left


def _pids(victim: Victim, host: int, tier: Tier) -> Iterator[int]:
    """The pid of the first matching process below the host.

    The supervisor is the parent of the zygote; in the landlock tier that of one session, and a child of the zygote.
    """
    patterns = {
        "zygote": "guest.__main__",
        "supervisor": "guest.__main__",
        "reaper": "reaper",
        "bubblewrap": "bwrap",
    }
    wanted = victim.removesuffix(" and host")
    if wanted == "host":
        return
    found = [pid for pid in _below(host) if patterns[wanted] in _command(pid)]
    if wanted in ("zygote", "supervisor"):  # the outer of both, the inner one, and the kernels, in this order
        outer = "zygote" if tier == "landlock" else "supervisor"
        found = found[:1] if wanted == outer else found[1:2]
    yield from found[:1]


def _below(pid: int) -> list[int]:
    """The descendants of a process, parents first."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return [each for child in children for each in (child, *_below(child))]


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    return ""


def _find_survivors(folder: str, groups: Sequence[str], user: int) -> list[str]:
    """Processes in the folder, with it in their mounts, or of the sandbox's own user; files in it; cgroups."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if _is_of(process, folder, user):
                found.append(f"process {process.name} {_command(int(process.name))[:60]!r}")
    found += [f"folder {path}" for path in Path(folder).iterdir()]
    return found + [f"cgroup {path}" for path in groups if Path(path).exists()]


def _is_of(process: Path, folder: str, user: int) -> bool:
    """Raises OSError for a process that has ended, also one that its parent has not waited for."""
    mounts = (process / "mountinfo").read_text()
    if user != os.getuid() and f"\nUid:\t{user}\t" in (process / "status").read_text():
        return True
    return folder.removeprefix("/tmp") + "/" in mounts or (process / "cwd").readlink().is_relative_to(folder)


@contextlib.contextmanager
def _busy(loops: int) -> Iterator[None]:
    """Run `loops` processes that keep a core busy."""
    with ExitStack() as stack:
        for _ in range(loops):
            loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(loop.wait)
            stack.callback(loop.kill)
        yield


def main() -> int:
    """0 when nothing survived any kill, 1 otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.teardown", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--isolation", choices=("bwrap", "landlock"), default="bwrap", help="the tier")
    parser.add_argument("--kills", type=int, default=200, metavar="N")
    parser.add_argument("--load", type=int, default=4, metavar="N", help="busy loops beside it")
    parser.add_argument(
        "--within", type=float, default=_LIMIT_S, metavar="S", help="when to look, in seconds"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    bad = 0
    tier: Tier = options.isolation
    victims = [each for each in get_args(Victim) if tier == "bwrap" or not each.startswith("bubblewrap")]
    with _busy(options.load):
        for number in range(options.kills):
            victim = victims[number % len(victims)]
            left = survivors_of(victim, chance.uniform(0, 1), tier, options.within)
            bad += bool(left)
            if left:
                print(f"kill {number} ({victim}): {'; '.join(left)}", flush=True)
    print(
        f"{options.kills} kills beside {options.load} busy loops: something survived {bad} of them "
        f"by {options.within:g} s"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
