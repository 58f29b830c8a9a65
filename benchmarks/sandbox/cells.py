"""Cells in a running kernel: a trivial one, much text, many figures, calls to the host, a trace."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.sandbox.measure import Measure, in_turns, medians, milliseconds
from benchmarks.sandbox.plain import PlainKernel
from benchmarks.sandbox.setting import TRIVIAL, Setting, checked, has
from sandbox import CellResult, Session

_TEXT = "for _ in range(5_000):\n    print('x' * 999)"
_FIGURES = """
import matplotlib.pyplot as plt
for number in range(10):
    plt.plot(range(number + 2))
    plt.show()
"""
_LOOP = "total = 0\nfor number in range(2_000):\n    total += number"
_CALLS = 100


def trivial_cell(setting: Setting) -> list[Measure]:
    """The cell `1`."""
    return [_beside("trivial cell", TRIVIAL, setting, setting.effort.cells, "<= 1.1 x")]


def much_text(setting: Setting) -> list[Measure]:
    """5 MB on standard output in 5,000 lines; of ours a caller gets what the Policy keeps, of plain all."""
    return [_beside("5 MB of text in 5,000 lines", _TEXT, setting, setting.effort.rounds)]


def ten_figures(setting: Setting) -> list[Measure]:
    """Ten plots, each shown."""
    return [_beside("ten figures", _FIGURES, setting, setting.effort.rounds)]


def host_call(setting: Setting) -> list[Measure]:
    """A cell calls a function of the host: the time of one call, without the cell's own."""
    name, goal = "call of a host function", "< 2"
    if not has("functions", Session.run):
        return [Measure(name, "ms", None, goal=goal, note="this version has no bridge")]
    functions: dict[str, Callable[[int], int]] = {"double": lambda number: 2 * number}
    calls = f"for _ in range({_CALLS}):\n    host.double(1)"
    with setting.sandbox.open() as session:
        long, short = medians(
            in_turns(
                setting.effort.rounds,
                lambda: milliseconds(lambda: _run(session, calls, functions=functions)),
                lambda: milliseconds(lambda: _run(session, "host.double(1)", functions=functions)),
            )
        )
    return [Measure(name, "ms", (long - short) / (_CALLS - 1), goal=goal)]


def traced_cell(setting: Setting) -> list[Measure]:
    """A loop of 4,000 lines with a trace, beside the same cell of ours without."""
    name = "loop of 4,000 lines with a trace (plain: ours without)"
    if not has("trace", Session.run):
        return [Measure(name, "ms", None, note="this version does not trace")]
    with setting.sandbox.open() as session:
        traced, untraced = in_turns(
            setting.effort.rounds,
            lambda: milliseconds(lambda: _run(session, _LOOP, trace=True)),
            lambda: milliseconds(lambda: _run(session, _LOOP)),
        )
    return [Measure(name, "ms", median(traced), median(untraced))]


def _beside(name: str, code: str, setting: Setting, rounds: int, goal: str = "") -> Measure:
    """The same cell in a session and in a plain kernel; the first run in each does not count."""
    with setting.sandbox.open() as session, PlainKernel() as kernel:
        checked(session.run(code))
        kernel.run(code)
        ours, plain = medians(
            in_turns(
                rounds,
                lambda: milliseconds(lambda: checked(session.run(code))),
                lambda: milliseconds(lambda: kernel.run(code)),
            )
        )
    return Measure(name, "ms", ours, plain, goal)


def _run(session: Session, code: str, **options: Any) -> CellResult:
    """`session.run` with parameters that not every version has."""
    run: Callable[..., CellResult] = session.run
    return checked(run(code, **options))
