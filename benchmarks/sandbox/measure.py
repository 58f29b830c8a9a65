"""What all rows share: the sandbox under test, the number of rounds, the timing, and the printed table."""

from __future__ import annotations

import inspect
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TypeVar

from sandbox import CellResult, Policy, Sandbox

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table. None: not measured, `note` says why. The goal is printed, not enforced."""

    name: str
    unit: str
    ours: float | None
    plain: float | None = None
    goal: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours divided by plain, both from the same run."""
        return self.ours / self.plain if self.ours is not None and self.plain else None


def milliseconds(work: Callable[[], object]) -> float:
    """The duration of one call."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def alternate(rounds: int, *timers: Callable[[], T]) -> tuple[list[T], ...]:
    """The results of each timer in each round; they alternate, so that load on the machine affects all of them."""
    results = [[timer() for timer in timers] for _ in range(rounds)]
    return tuple(list(values) for values in zip(*results, strict=True))


def medians(columns: Iterable[Sequence[float]]) -> tuple[float, ...]:
    return tuple(statistics.median(column) for column in columns)


def percentile_95(values: Sequence[float]) -> float:
    """The measured value that 19 of 20 do not exceed."""
    return sorted(values)[-(-len(values) * 19 // 20) - 1]


POLICY = Policy(cell_timeout_s=600)  # large outputs take long on a loaded machine
TRIVIAL = "1"


@dataclass(frozen=True, slots=True)
class Effort:
    """How many rounds, sessions and bytes each row uses."""

    rounds: int  # where a plain kernel has to start
    cells: int  # rounds where both kernels are running
    starts: int  # of our sessions, for the 95th percentile
    idle: int  # sessions open at once, ours and then plain
    flood_mb: int
    flooding: int  # sessions that print at once
    each_flood_mib: int
    alive: tuple[int, ...]  # the points of the curve


FULL = Effort(7, 60, 100, 50, 250, 8, 1024, (1, 16, 64, 200))
QUICK = Effort(2, 10, 10, 4, 20, 2, 20, (1, 4))


@dataclass(frozen=True, slots=True)
class Setting:
    """`sandbox` is warm: it has opened a session before. `image` is a large JPEG."""

    sandbox: Sandbox
    effort: Effort
    image: Path


def make_sandbox(**parameters: int) -> Sandbox:
    """A sandbox with POLICY and those of the parameters that this version has."""
    make: Callable[..., Sandbox] = Sandbox
    return make(POLICY, **{name: value for name, value in parameters.items() if has(name, Sandbox)})


def has(parameter: str, callee: Callable[..., object]) -> bool:
    return parameter in inspect.signature(callee).parameters


def check(result: CellResult) -> CellResult:
    """The result of a successful cell: a failed cell must not be timed. Raises RuntimeError."""
    if result.status != "ok":
        raise RuntimeError(f"a benchmark cell ended with {result.status!r}, not 'ok': {result.error}")
    return result


_PACKAGES = ("ipykernel", "ipython", "jupyter_client", "pyzmq", "numpy", "matplotlib", "pillow")
_HEAD = f"{'':58}{'unit':>5}{'ours':>10}{'plain':>10}{'ratio':>8}  goal"


def machine() -> dict[str, str]:
    """The hardware and software that the results depend on."""
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    user = "root (containers run as ordinary users)" if os.getuid() == 0 else f"uid {os.getuid()}"
    return {
        "processor": f"{cores} cores, {_processor()}; load {load:.1f} before the run",
        "speed": f"a million additions in Python take {_additions_ms():.0f} ms",
        "memory": f"{memory:.1f} GiB",
        "system": f"Linux {platform.release()}, {_bubblewrap()}",
        "user": user,
        "python": f"{platform.python_version()} ({sys.executable})",
        "packages": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
    }


def format_text(facts: Mapping[str, str], measures: Sequence[Measure]) -> str:
    """The facts, a line for each measure, and the meaning of the columns."""
    return "\n".join(
        [
            *(f"{name:11}{fact}" for name, fact in facts.items()),
            "",
            _HEAD,
            *map(format_line, measures),
            "",
            "plain: jupyter_client and ipykernel over Unix sockets, without isolation, in the same run.",
            "MB: 2^20 bytes; memory is PSS. Goals with an x are ratios; the others are for 2 idle cores on which",
            "the trivial cell takes plain Jupyter 3 ms; on a slower machine they scale.",
        ]
    )


def format_json(facts: Mapping[str, str], measures: Sequence[Measure]) -> str:
    """A JSON object with the machine and the measures."""
    rows = [{**asdict(measure), "ratio": measure.ratio} for measure in measures]
    return json.dumps({"machine": facts, "measures": rows}, indent=2)


def format_line(measure: Measure) -> str:
    """One measure, with a dash for a missing value."""
    ratio = "–" if measure.ratio is None else f"{measure.ratio:.2f}"
    values = f"{_format_number(measure.ours):>10}{_format_number(measure.plain):>10}{ratio:>8}"
    return f"{measure.name:58}{measure.unit:>5}{values}  {measure.goal:9}{measure.note}".rstrip()


def _format_number(value: float | None) -> str:
    """At least three significant digits."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _additions_ms() -> float:
    """The median of five: a fixed amount of work, to compare tables of different machines."""

    def add() -> None:
        total = 0
        for number in range(1_000_000):
            total += number

    return median(milliseconds(add) for _ in range(5))


def _processor() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()


def _bubblewrap() -> str:
    path = shutil.which("bwrap")
    if path is None:
        return "no bubblewrap"
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.strip()
