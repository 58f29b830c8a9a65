"""The gauges that must stay flat: read between batches, when no session is open, and judged at the end."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import descendants, descriptor_count, pss_mb, rss_mb, thread_count

_CGROUPS = Path("/sys/fs/cgroup")
_SETTLE_S = 2.0  # whatever is left after this time counts
_WARM_UP = 0.2  # of the samples: caches fill and allocators grow


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value that is read after each batch, and how much it may grow over the whole soak."""

    name: str
    read: Callable[[], float]
    allowed: float


@dataclass(frozen=True, slots=True)
class Flatness:
    """The growth of one gauge: by a line fitted to the samples after the warm-up, and last minus first."""

    name: str
    fitted: float
    difference: float
    allowed: float

    @property
    def is_flat(self) -> bool:
        return max(self.fitted, self.difference) <= self.allowed


def _file_count() -> int:
    return len(list(Path(tempfile.gettempdir()).rglob("*")))


def _cgroup_count() -> int:
    return sum(len(folders) for _, folders, _ in os.walk(_CGROUPS))


GAUGES = (
    Gauge("host MB", rss_mb, 16),
    Gauge("children MB", lambda: pss_mb(descendants()), 16),
    Gauge("descriptors", descriptor_count, 2),
    Gauge("threads", thread_count, 1),
    Gauge("processes", lambda: len(descendants()), 0),
    Gauge("files", _file_count, 0),
    Gauge("cgroups", _cgroup_count, 0),
)


def sample() -> tuple[float, ...]:
    """A value for each gauge, after a pause in which ended processes can disappear."""
    time.sleep(_SETTLE_S)
    return tuple(gauge.read() for gauge in GAUGES)


def judge(counts: Sequence[int], samples: Sequence[Sequence[float]]) -> list[Flatness]:
    """The growth of each gauge after the warm-up. counts: the sessions done at each sample."""
    start = min(round(len(samples) * _WARM_UP), max(0, len(samples) - 2))
    counts, samples = counts[start:], samples[start:]
    return [
        Flatness(gauge.name, _fit_rise(counts, values), values[-1] - values[0], gauge.allowed)
        for gauge, values in zip(GAUGES, zip(*samples, strict=True), strict=True)
    ]


def _fit_rise(counts: Sequence[int], values: Sequence[float]) -> float:
    """The rise of the least-squares line from the first count to the last."""
    if len(counts) < 2:
        return 0.0
    return statistics.linear_regression(counts, values).slope * (counts[-1] - counts[0])
