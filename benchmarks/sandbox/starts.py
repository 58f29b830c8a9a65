"""Sessions from their start to their end: how long each takes, and how many a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import NamedTuple

from benchmarks.sandbox.measure import Measure, in_turns, medians, milliseconds, percentile_95
from benchmarks.sandbox.plain import PlainKernel
from benchmarks.sandbox.setting import TRIVIAL, Setting, checked, has, make_sandbox
from sandbox import Sandbox

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
