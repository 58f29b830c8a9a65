"""Cells that print without end: what they cost the host."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from benchmarks.processes import peak_mb, reset_peak, rss_mb
from benchmarks.sandbox.measure import Measure
from benchmarks.sandbox.plain import PlainKernel
from benchmarks.sandbox.setting import Setting


def flood(setting: Setting) -> list[Measure]:
    """One cell prints much in lines of 1 MB; the plain caller keeps it all, as callers do."""
    megabytes = setting.effort.flood_mb
    code = _flood(megabytes, 10**6)
    with setting.sandbox.open() as session:
        ours = _cost(lambda: session.run(code))
    with PlainKernel() as kernel:
        plain = _cost(lambda: kernel.run(code))
    labels = (("time", "s"), ("CPU time of the host", "s"), ("growth of the host", "MB"))
    return [
        Measure(f"{megabytes} MB printed: {label}", unit, of_ours, of_plain)
        for (label, unit), of_ours, of_plain in zip(labels, ours, plain, strict=True)
    ]


def floods_at_once(setting: Setting) -> list[Measure]:
    """Several sessions do so at once; plain would need memory for all of it."""
    count, mebibytes = setting.effort.flooding, setting.effort.each_flood_mib
    code = _flood(mebibytes, 2**20)
    with ExitStack() as stack:
        sessions = [stack.enter_context(setting.sandbox.open()) for _ in range(count)]
        with ThreadPoolExecutor(count) as pool:
            seconds, busy, growth = _cost(lambda: list(pool.map(lambda one: one.run(code), sessions)))
    label = f"{count} sessions print {mebibytes} MiB each:"
    return [
        Measure(f"{label} time", "s", seconds),
        Measure(f"{label} CPU time of the host", "s", busy),
        Measure(f"{label} growth of the host", "MB", growth, goal="<= 64"),
    ]


def _flood(lines: int, line_bytes: int) -> str:
    return f"for _ in range({lines}):\n    print('x' * {line_bytes - 1})"


def _cost(work: Callable[[], object]) -> tuple[float, float, float]:
    """Seconds by the clock, seconds of this process on the cores, and its largest growth in MiB."""
    reset_peak()
    before, started, busy = rss_mb(), time.perf_counter(), time.process_time()
    result = work()
    cost = time.perf_counter() - started, time.process_time() - busy, peak_mb() - before
    del result  # held until now, as a caller would
    return cost
