"""A measured value, and how the values of one row are taken: in turns, by the clock."""

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
    """One line of the table. None: not measured, and `note` says why. `goal` is printed, not judged."""

    name: str
    unit: str
    ours: float | None
    plain: float | None = None
    goal: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours by plain, both in the same run."""
        return self.ours / self.plain if self.ours is not None and self.plain else None


def milliseconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def in_turns(rounds: int, *takers: Callable[[], T]) -> tuple[list[T], ...]:
    """What each taker gave in each round; they alternate, so that a busy machine is busy for all of them."""
    taken = [[taker() for taker in takers] for _ in range(rounds)]
    return tuple(list(values) for values in zip(*taken, strict=True))


def medians(columns: Iterable[Sequence[float]]) -> tuple[float, ...]:
    return tuple(statistics.median(column) for column in columns)


def percentile_95(values: Sequence[float]) -> float:
    """The value that 19 of 20 do not exceed, one that was measured."""
    return sorted(values)[-(-len(values) * 19 // 20) - 1]


# ---- What every row measures in: the sandbox, how long to look, and what this version of it can do.


POLICY = Policy(cell_timeout_s=600)  # on a loaded machine a flood takes long, and its end is not the point
TRIVIAL = "1"


@dataclass(frozen=True, slots=True)
class Effort:
    """How often and how much. The first number is what `rounds` alternate."""

    rounds: int  # of ours and plain in turns, where a plain kernel has to start
    cells: int  # rounds where both are running already
    starts: int  # of ours, for the 95th percentile
    idle: int  # sessions alive at once, of ours and then of plain
    flood_mb: int
    flooding: int  # sessions that flood at once
    each_flood_mib: int
    alive: tuple[int, ...]  # the points of the curve


FULL = Effort(7, 60, 100, 50, 250, 8, 1024, (1, 16, 64, 200))
QUICK = Effort(2, 10, 10, 4, 20, 2, 20, (1, 4))


@dataclass(frozen=True, slots=True)
class Setting:
    """`sandbox` is warm: it has opened a session before. `picture` is a large JPEG."""

    sandbox: Sandbox
    effort: Effort
    picture: Path


def make_sandbox(**wanted: int) -> Sandbox:
    """A sandbox under POLICY, with those of the wanted parameters that this version has."""
    make: Callable[..., Sandbox] = Sandbox
    return make(POLICY, **{name: value for name, value in wanted.items() if has(name, Sandbox)})


def has(parameter: str, callee: Callable[..., object]) -> bool:
    return parameter in inspect.signature(callee).parameters


def checked(result: CellResult) -> CellResult:
    """The result, if the cell went well: the time of one that failed must not get into the table."""
    if result.status != "ok":
        raise RuntimeError(f"a benchmark cell ended with {result.status!r}, not 'ok': {result.error}")
    return result


# ---- What was measured, on what: as text for people, as JSON for programs.


_PACKAGES = ("ipykernel", "ipython", "jupyter_client", "pyzmq", "numpy", "matplotlib", "pillow")
_HEAD = f"{'':58}{'unit':>5}{'ours':>10}{'plain':>10}{'ratio':>8}  goal"


def machine() -> dict[str, str]:
    """What the figures depend on."""
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


def as_text(facts: Mapping[str, str], measures: Sequence[Measure]) -> str:
    """The facts, then a line for each measure, then what the columns mean."""
    return "\n".join(
        [
            *(f"{name:11}{fact}" for name, fact in facts.items()),
            "",
            _HEAD,
            *map(line, measures),
            "",
            "plain: jupyter_client and ipykernel over Unix sockets, without isolation, in the same run.",
            "MB: 2^20 bytes; memory is PSS. Goals with an x are ratios; the others are for 2 idle cores on which",
            "the trivial cell takes plain Jupyter 3 ms: where it takes longer, so may the rest.",
        ]
    )


def as_json(facts: Mapping[str, str], measures: Sequence[Measure]) -> str:
    """One object: the machine, and the measures with their ratios."""
    rows = [{**asdict(measure), "ratio": measure.ratio} for measure in measures]
    return json.dumps({"machine": facts, "measures": rows}, indent=2)


def line(measure: Measure) -> str:
    """One measure; a dash where there is no value."""
    ratio = "–" if measure.ratio is None else f"{measure.ratio:.2f}"
    values = f"{number(measure.ours):>10}{number(measure.plain):>10}{ratio:>8}"
    return f"{measure.name:58}{measure.unit:>5}{values}  {measure.goal:9}{measure.note}".rstrip()


def number(value: float | None) -> str:
    """With three digits or more, and none that say nothing."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _additions_ms() -> float:
    """The median of five: the same work on every machine, so that tables of two can be compared."""

    def add() -> None:
        total = 0
        for number in range(1_000_000):
            total += number

    return median(milliseconds(add) for _ in range(5))


def _processor() -> str:
    names = [one for one in Path("/proc/cpuinfo").read_text().splitlines() if one.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()


def _bubblewrap() -> str:
    path = shutil.which("bwrap")
    if path is None:
        return "no bubblewrap"
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.strip()
