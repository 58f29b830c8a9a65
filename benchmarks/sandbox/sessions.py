"""Sessions from their start to their end: how long each takes, and how many a second."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.processes import descendants, descriptor_count, pss_mb, thread_count
from benchmarks.sandbox.measure import (
    TRIVIAL,
    Measure,
    Setting,
    checked,
    has,
    in_turns,
    make_sandbox,
    medians,
    milliseconds,
    percentile_95,
)
from benchmarks.sandbox.plain import PlainKernel
from sandbox import Sandbox, Session

_CLIENTS = (1, 2, 4)
_REFILL_S = 0.5  # a spare container that was taken is made again meanwhile
_EACH = 2  # plain kernels that a client starts


def first_start(setting: Setting) -> list[Measure]:
    """The first session of a new sandbox, its zygote included, once."""
    with make_sandbox(spare=0) as sandbox:
        ours = _life(sandbox).reply
    return [Measure("first session of a sandbox, to its first reply", "ms", ours)]


def start_and_close(setting: Setting) -> list[Measure]:
    """From `open` to the first reply, which is to `kernel_info`, and to a first cell's; the zygote is warm."""
    effort = setting.effort
    each = -(-effort.starts // effort.rounds)
    ours, plain = in_turns(
        effort.rounds,
        lambda: [_life(setting.sandbox) for _ in range(each)],
        lambda: [_plain_life()],
    )
    (reply, cell, close), (plain_reply, plain_cell, plain_close) = (
        zip(*(life for lives in side for life in lives), strict=True) for side in (ours, plain)
    )
    within, plain_within = percentile_95(reply), percentile_95(plain_reply)
    return [
        Measure("start to first reply, median", "ms", median(reply), median(plain_reply), "< 45"),
        Measure("start to first reply, 95 % within", "ms", within, plain_within, "< 100"),
        Measure("start to the result of a first cell", "ms", median(cell), median(plain_cell)),
        Measure("close", "ms", median(close), median(plain_close), "< 5"),
    ]


def warm_session(setting: Setting) -> list[Measure]:
    """From `open` to the result of a first cell, where a container was kept ready."""
    name, goal = "first cell in a spare container", "< 10"
    if not has("spare", Sandbox):
        return [Measure(name, "ms", None, goal=goal, note="this version keeps no spare containers")]
    results = []
    with make_sandbox(spare=1) as sandbox:
        for _ in range(setting.effort.rounds + 1):
            results.append(_life(sandbox).cell)
            time.sleep(_REFILL_S)
    return [Measure(name, "ms", median(results[1:]), goal=goal)]  # the first found none ready


def rate(setting: Setting) -> list[Measure]:
    """Whole lives a second: open, one trivial cell, close, by several client threads."""
    return [_rate(setting, clients) for clients in _CLIENTS]


def _rate(setting: Setting, clients: int) -> Measure:
    each = -(-setting.effort.starts // max(_CLIENTS))
    ours, plain = medians(
        in_turns(
            2,
            lambda: _per_second(clients, each, lambda: _life(setting.sandbox)),
            lambda: _per_second(clients, _EACH, _plain_life),
        )
    )
    goal = ">= 35" if clients == max(_CLIENTS) else ""
    return Measure(f"sessions per second, {clients} client threads", "1/s", ours, plain, goal)


class _Life(NamedTuple):
    """Milliseconds from the start to the first reply and to the result of a first cell, and of the close."""

    reply: float
    cell: float
    close: float


def _life(sandbox: Sandbox) -> _Life:
    started = time.perf_counter()
    with sandbox.open() as session:
        reply = _since(started)
        checked(session.run(TRIVIAL))
        return _Life(reply, _since(started), milliseconds(session.close))


def _plain_life() -> _Life:
    started = time.perf_counter()
    with PlainKernel() as kernel:
        reply = _since(started)
        kernel.run(TRIVIAL)
        return _Life(reply, _since(started), milliseconds(kernel.close))


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _per_second(clients: int, each: int, life: Callable[[], object]) -> float:
    """`clients` threads that live `each` lives, one after another."""
    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        for done in [pool.submit(life) for _ in range(clients * each)]:
            done.result()
    return clients * each / (time.perf_counter() - started)


# ---- A host that is killed in the middle of a cell: how long until nothing of its sandbox is left.


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


# ---- Many sessions alive at once: what one more costs, and whether the others make it slow.


_IMPORTS = "import matplotlib.pyplot, numpy, PIL.Image"  # which a session of ours has from the start
_PROBES = 10  # sessions or cells at each point of the curve


def idle_memory(setting: Setting) -> list[Measure]:
    """Memory (PSS) of the processes that came with the sessions, by session; those of the zygote apart.

    A plain kernel counts with the libraries that it needs before it can look at a picture.
    """
    count = setting.effort.idle
    before = descendants()
    with ExitStack() as stack:
        for _ in range(count):
            _enter(stack, setting.sandbox)
        ours, zygote = pss_mb(descendants() - before) / count, pss_mb(before)
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(PlainKernel()).run(_IMPORTS)
        plain = pss_mb(descendants() - before) / count
    return [
        Measure(f"memory of an idle session, of {count}", "MB", ours, plain, "< 17"),
        Measure(f"memory of what they share (zygote), beside {count}", "MB", zygote),
    ]


def curve(setting: Setting) -> list[Measure]:
    """Start, trivial cell and memory with ever more sessions alive; the host's threads and descriptors."""
    before = descendants()
    alive: list[Session] = []
    measures: list[Measure] = []
    with ExitStack() as stack:
        for count in sorted(setting.effort.alive):
            while len(alive) < count:
                alive.append(_enter(stack, setting.sandbox))
            memory = pss_mb(descendants() - before) / count
            measures += _at(setting.sandbox, alive, memory)
    return measures


def _at(sandbox: Sandbox, alive: list[Session], memory: float) -> list[Measure]:
    label = f"{len(alive)} alive:"
    threads, descriptors = thread_count(), descriptor_count()
    cell = median([_cell(alive[at % len(alive)]) for at in range(_PROBES)])
    return [
        Measure(
            f"{label} start to a first cell", "ms", median([_first_cell(sandbox) for _ in range(_PROBES)])
        ),
        Measure(f"{label} trivial cell", "ms", cell),
        Measure(f"{label} memory of a session", "MB", memory),
        Measure(f"{label} threads of the host", "", threads),
        Measure(f"{label} descriptors of the host", "", descriptors),
    ]


def _enter(stack: ExitStack, sandbox: Sandbox) -> Session:
    session = stack.enter_context(sandbox.open())
    checked(session.run(TRIVIAL))
    return session


def _cell(session: Session) -> float:
    return milliseconds(lambda: checked(session.run(TRIVIAL)))


def _first_cell(sandbox: Sandbox) -> float:
    with ExitStack() as stack:
        return milliseconds(lambda: _enter(stack, sandbox))
