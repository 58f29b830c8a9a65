"""What was measured, on what: as text for people, as JSON for programs."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from statistics import median

from benchmarks.sandbox.measure import Measure, milliseconds

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
