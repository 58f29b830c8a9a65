"""Rows about whole sessions: start, close, throughput, a killed host, and many open sessions."""

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
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.processes import descendants, descriptor_count, pss_mb, thread_count
from benchmarks.sandbox.measure import (
    POLICY,
    TRIVIAL,
    Effort,
    Measure,
    Setting,
    alternate,
    check,
    has,
    make_sandbox,
    medians,
    milliseconds,
    percentile_95,
)
from benchmarks.sandbox.plain import PlainKernel
from sandbox import IsolationError, Sandbox, Session

_CLIENTS = (1, 2, 4)
_REPLACE_S = 0.5  # in which the spare container is replaced
_EACH = 2  # plain kernels that each client starts


def first_start(setting: Setting) -> list[Measure]:
    """The first session of a new sandbox, including its zygote, once."""
    with make_sandbox(spare=0) as sandbox:
        ours = _time_session(sandbox).reply
    return [Measure("first session of a sandbox, to its first reply", "ms", ours)]


def start_and_close(setting: Setting) -> list[Measure]:
    """From `open` to the reply to `kernel_info`, and to the result of a first cell, with a running zygote."""
    effort = setting.effort
    each = -(-effort.starts // effort.rounds)
    ours, plain = alternate(
        effort.rounds,
        lambda: [_time_session(setting.sandbox) for _ in range(each)],
        lambda: [_time_plain_kernel()],
    )
    (reply, cell, close), (plain_reply, plain_cell, plain_close) = (
        zip(*(times for group in side for times in group), strict=True) for side in (ours, plain)
    )
    within, plain_within = percentile_95(reply), percentile_95(plain_reply)
    return [
        Measure("start to first reply, median", "ms", median(reply), median(plain_reply), "< 45"),
        Measure("start to first reply, 95 % within", "ms", within, plain_within, "< 100"),
        Measure("start to the result of a first cell", "ms", median(cell), median(plain_cell)),
        Measure("close", "ms", median(close), median(plain_close), "< 5"),
    ]


def tiers(setting: Setting) -> list[Measure]:
    """Each tier of isolation that works here beside plain kernels: start, throughput, memory."""
    measures: list[Measure] = []
    for tier in ("bwrap", "landlock"):
        try:
            with Sandbox(replace(POLICY, isolation=tier), max_sessions=1024) as sandbox:
                _time_session(sandbox)  # the zygote starts
                measures += _measure_tier(tier, sandbox, setting.effort)
        except IsolationError as error:
            measures.append(Measure(f"{tier}: start to first reply", "ms", None, note=f"{error}"))
    return measures


def _measure_tier(tier: str, sandbox: Sandbox, effort: Effort) -> list[Measure]:
    clients = max(_CLIENTS)
    each = -(-effort.starts // clients)
    ours, plain = alternate(
        effort.rounds, lambda: _time_session(sandbox).reply, lambda: _time_plain_kernel().reply
    )
    per_second = _per_second(clients, each, lambda: _time_session(sandbox))
    plain_per_second = _per_second(clients, _EACH, _time_plain_kernel)
    before = descendants()
    with ExitStack() as stack:
        for _ in range(effort.idle):
            _enter(stack, sandbox)
        memory = pss_mb(descendants() - before) / effort.idle
    return [
        Measure(f"{tier}: start to first reply", "ms", median(ours), median(plain)),
        Measure(
            f"{tier}: sessions per second, {clients} client threads", "1/s", per_second, plain_per_second
        ),
        Measure(f"{tier}: memory of an idle session, of {effort.idle}", "MB", memory),
    ]


def warm_session(setting: Setting) -> list[Measure]:
    """From `open` to the result of a first cell, with a spare container."""
    name, goal = "first cell in a spare container", "< 10"
    if not has("spare", Sandbox):
        return [Measure(name, "ms", None, goal=goal, note="this version keeps no spare containers")]
    results = []
    with make_sandbox(spare=1) as sandbox:
        for _ in range(setting.effort.rounds + 1):
            results.append(_time_session(sandbox).cell)
            time.sleep(_REPLACE_S)
    return [Measure(name, "ms", median(results[1:]), goal=goal)]  # the first had no spare container


def rate(setting: Setting) -> list[Measure]:
    """Sessions per second, each with one trivial cell, by several client threads."""
    return [_rate(setting, clients) for clients in _CLIENTS]


def _rate(setting: Setting, clients: int) -> Measure:
    each = -(-setting.effort.starts // max(_CLIENTS))
    ours, plain = medians(
        alternate(
            2,
            lambda: _per_second(clients, each, lambda: _time_session(setting.sandbox)),
            lambda: _per_second(clients, _EACH, _time_plain_kernel),
        )
    )
    goal = ">= 35" if clients == max(_CLIENTS) else ""
    return Measure(f"sessions per second, {clients} client threads", "1/s", ours, plain, goal)


class _Times(NamedTuple):
    """Milliseconds from the start to the first reply and to the result of a first cell, and for closing."""

    reply: float
    cell: float
    close: float


def _time_session(sandbox: Sandbox) -> _Times:
    started = time.perf_counter()
    with sandbox.open() as session:
        reply = _ms_since(started)
        check(session.run(TRIVIAL))
        return _Times(reply, _ms_since(started), milliseconds(session.close))


def _time_plain_kernel() -> _Times:
    started = time.perf_counter()
    with PlainKernel() as kernel:
        reply = _ms_since(started)
        kernel.run(TRIVIAL)
        return _Times(reply, _ms_since(started), milliseconds(kernel.close))


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _per_second(clients: int, each: int, run: Callable[[], object]) -> float:
    """The rate at which `clients` threads complete `each` runs per thread."""
    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        for done in [pool.submit(run) for _ in range(clients * each)]:
            done.result()
    return clients * each / (time.perf_counter() - started)


_TIMEOUT_S = 60.0
_EXITING = 0x4  # PF_EXITING of linux/sched.h
_HOST = """
from sandbox import Sandbox
session = Sandbox(spare=1).open()
session.run("import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)")
print("ready", flush=True)
session.run("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\\nwhile True: pass")
"""


def killed_host(setting: Setting) -> list[Measure]:
    """With a cell that ignores interrupts, a child process of an earlier cell, and a spare container."""
    times = [_time_cleanup() for _ in range(setting.effort.rounds)]
    return [Measure("host killed: until no process and no file is left", "ms", median(times), goal="< 2000")]


def _time_cleanup() -> float:
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:  # short enough for socket paths
        environment = {**os.environ, "TMPDIR": folder}
        command = [sys.executable, "-c", _HOST]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as host:
            assert host.stdout is not None
            host.stdout.readline()
            processes = descendants(host.pid)
            started = time.perf_counter()
            host.send_signal(signal.SIGKILL)
            host.wait()
            while _is_anything_left(processes, Path(folder)):
                if time.perf_counter() - started > _TIMEOUT_S:
                    raise RuntimeError(f"a killed host left something behind for more than {_TIMEOUT_S:g} s")
                time.sleep(0.005)
            return (time.perf_counter() - started) * 1000


def _is_anything_left(processes: frozenset[int], folder: Path) -> bool:
    return any(map(_is_running, processes)) or any(folder.iterdir())


def _is_running(pid: int) -> bool:
    """Whether a process is running, and not a zombie waiting for init."""
    try:
        flags = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[6])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not flags & _EXITING


_IMPORTS = "import matplotlib.pyplot, numpy, PIL.Image"  # preloaded in our sessions
_PROBES = 10  # sessions or cells at each point of the curve


def idle_memory(setting: Setting) -> list[Measure]:
    """The memory (PSS) of each idle session, and of the zygote that they share.

    A plain kernel is measured after importing the libraries it needs to read images.
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
    """Start, trivial cell and memory with a growing number of sessions; threads and descriptors of the host."""
    before = descendants()
    sessions: list[Session] = []
    measures: list[Measure] = []
    with ExitStack() as stack:
        for count in sorted(setting.effort.alive):
            while len(sessions) < count:
                sessions.append(_enter(stack, setting.sandbox))
            memory = pss_mb(descendants() - before) / count
            measures += _measure_point(setting.sandbox, sessions, memory)
    return measures


def _measure_point(sandbox: Sandbox, sessions: list[Session], memory: float) -> list[Measure]:
    label = f"{len(sessions)} open:"
    threads, descriptors = thread_count(), descriptor_count()
    cell = median([_cell(sessions[index % len(sessions)]) for index in range(_PROBES)])
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
    check(session.run(TRIVIAL))
    return session


def _cell(session: Session) -> float:
    return milliseconds(lambda: check(session.run(TRIVIAL)))


def _first_cell(sandbox: Sandbox) -> float:
    with ExitStack() as stack:
        return milliseconds(lambda: _enter(stack, sandbox))
