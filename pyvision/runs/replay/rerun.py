"""Run recorded cells in a fresh kernel: with the images of the question, and each figure under its name again.

The names that cells rely on are given as they were on record, but to what the figures show now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from pyvision.agent.episode import Session
from pyvision.errors import ImageError, ToolError
from pyvision.events import CellRun, Event, ToolRun
from pyvision.images.read import decode
from pyvision.runs.replay.comparison import Difference, difference
from pyvision.runs.replay.fork import Fork, policy_of, with_figures
from pyvision.runs.report.run import Run, pair_figures
from pyvision.tools.cell_functions import CALLS, host_functions
from pyvision.types import Observation, Picture, ToolRequest
from sandbox import CellResult, HostFunction, Sandbox
from sandbox import ImageError as NotInjected


@dataclass(frozen=True, slots=True)
class Rerun:
    """One cell, run again. turn, cell: their numbers, counted from 1; cells are counted through the run."""

    turn: int
    cell: int
    recorded: CellRun
    now: CellResult
    difference: Difference | None


def rerun(run: Run) -> Iterator[Rerun]:
    """Every cell of the run in a sandbox of its own. Raises sandbox.SandboxError where nothing can run."""
    with open_session(run) as session:
        yield from rerun_cells(run, session)


@contextmanager
def open_session(run: Run, fork: Fork | None = None) -> Iterator[Session]:
    """A fresh kernel under the policy on record, with the images of the question, and the figures of the fork."""
    pictures = {name: picture.data for name, picture in run.inputs.items()}
    with Sandbox(policy_of(run)) as sandbox:
        rooms = with_figures(run, fork, sandbox) if fork else sandbox
        with closing(rooms.open(pictures)) as session:
            yield session


def rerun_cells(run: Run, session: Session, *, before_turn: int | None = None) -> Iterator[Rerun]:
    """The cells of the run, or those before a turn, in this session."""
    functions = functions_of(run.events, run.began.strategy if run.began else "")
    number = 0
    for turn in run.turns:
        if before_turn is not None and turn.number >= before_turn:
            return
        for recorded, names in pair_figures(turn.events):
            number += 1
            now = session.run(recorded.code, functions=functions[id(recorded)])
            define_figures(session, now, names)
            yield Rerun(turn.number, number, recorded, now, difference(recorded.result, now))


def define_figures(session: Session, now: CellResult, names: tuple[tuple[str, Picture] | None, ...]) -> None:
    """Give the figures that a cell shows now the names that its figures had on record."""
    for figure, named in zip(now.figures, names, strict=False):
        if named is None:
            continue
        try:
            session.define({named[0]: decode(figure.data, "figure").data})
        except (
            ImageError,
            NotInjected,
        ):  # no picture, or a name that is none: a cell that wants it fails and says so
            continue


# ---- The functions of the host for cells that run again: they give what the tools gave on record, in that order.


def functions_of(events: Sequence[Event], strategy: str) -> Mapping[int, Mapping[str, HostFunction]]:
    """For each cell of a run, by `id` of its event, what it may call as `host.NAME(…)`."""
    found: dict[int, Mapping[str, HostFunction]] = {}
    uses: list[ToolRun] = []
    for event in events:
        match event:
            case ToolRun():
                uses.append(event)
            case CellRun():
                found[id(event)] = _functions(RecordedTools(uses), strategy)
                uses = []
    return found


class RecordedTools:
    """What the tools gave in one cell. `tools` and `use` are those of an Episode."""

    def __init__(self, uses: Sequence[ToolRun]) -> None:
        self.tools: Mapping[str, None] = dict.fromkeys(CALLS)
        self._given: dict[str, deque[Observation]] = {}
        for used in uses:
            self._given.setdefault(used.tool, deque()).append(used.observation)

    def use(self, tool: str, request: ToolRequest) -> Observation:
        """The next one of this tool, whatever is asked. Raises ToolError when there is none left."""
        given = self._given.get(tool)
        if not given:
            raise ToolError(f"{tool}: the record holds no further use of it in this cell")
        return given.popleft()


def _functions(recorded: RecordedTools, strategy: str) -> Mapping[str, HostFunction]:
    if strategy == "vdebugger":
        from pyvision.strategies.vdebugger.services import Services

        return {**Services(recorded).functions, "conclude": _take}
    return host_functions(recorded.use, recorded.tools)


def _take(result: Any) -> None:
    """What a program concludes is on record already."""
