"""What every row measures in: the sandbox, how long to look, and what this version of it can do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox import CellResult, Policy, Sandbox

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
