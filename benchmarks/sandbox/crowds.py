"""Many sessions alive at once: what one more costs, and whether the others make it slow."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median

from benchmarks.processes import descendants, descriptor_count, pss_mb, thread_count
from benchmarks.sandbox.measure import Measure, milliseconds
from benchmarks.sandbox.plain import PlainKernel
from benchmarks.sandbox.setting import TRIVIAL, Setting, checked
from sandbox import Sandbox, Session

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
