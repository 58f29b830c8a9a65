"""Run recorded cells again in a fresh kernel, with the images of the question and the recorded results of tools.

Figures get the names that they had in the recording, but show what the cells draw now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pyvision.agent.episode import Session
from pyvision.errors import ImageError, ToolError
from pyvision.events import CellRun, Event, ToolRun
from pyvision.images.read import decode
from pyvision.runs.replay.comparison import CellDifference, difference
from pyvision.runs.replay.fork import Fork, policy_of, with_figures
from pyvision.runs.run import Names, Run, pair_figures
from pyvision.solve import offer_offline_modules
from pyvision.tools.cell_functions import CALLS, host_functions
from pyvision.types import Observation, ToolRequest
from sandbox import CellResult, HostFunction, Sandbox, View
from sandbox import ImageError as SandboxImageError


@dataclass(frozen=True, slots=True)
class Rerun:
    """One cell, run again. turn, cell: numbers from 1; cells are counted through the whole run."""

    turn: int
    cell: int
    recorded: CellRun
    now: CellResult
    difference: CellDifference | None


def rerun(run: Run) -> Iterator[Rerun]:
    """Every cell of the run, in a new sandbox. Raises sandbox.SandboxError if no cell can run."""
    with open_session(run) as session:
        yield from rerun_cells(run, session)


@contextmanager
def open_session(run: Run, fork: Fork | None = None) -> Iterator[Session]:
    """A fresh kernel under the recorded policy, with the images of the question and the figures of the fork."""
    pictures = {name: picture.data for name, picture in run.inputs.items()}
    with Sandbox(offer_offline_modules(policy_of(run))) as sandbox:
        opener = with_figures(run, fork, sandbox) if fork else sandbox
        with closing(opener.open(pictures)) as session:
            session.define({}, {name: run.views[name] for name in pictures if name in run.views})
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
            define_figures(session, now, names, run.views)
            yield Rerun(turn.number, number, recorded, now, difference(recorded.result, now))


def define_figures(session: Session, now: CellResult, names: Names, views: Mapping[str, View]) -> None:
    """Give the new figures of a cell the names that its figures had in the recording. views: as recorded."""
    for figure, named in zip(now.figures, names, strict=False):
        if named is None:
            continue
        try:
            view = replace(views.get(named[0], View()), regions=figure.regions)
            session.define({named[0]: decode(figure.data, "figure").data}, {named[0]: view})
        except (
            ImageError,
            SandboxImageError,
        ):  # not an image or not a valid name; a cell that needs it fails
            continue


def functions_of(events: Sequence[Event], strategy: str) -> Mapping[int, Mapping[str, HostFunction]]:
    """The functions that each cell may call as `host.NAME(…)`, by the `id` of its event."""
    found: dict[int, Mapping[str, HostFunction]] = {}
    calls: list[ToolRun] = []
    for event in events:
        match event:
            case ToolRun():
                calls.append(event)
            case CellRun():
                found[id(event)] = _cell_functions(RecordedTools(calls), strategy)
                calls = []
    return found


class RecordedTools:
    """The results of the tools in one cell, in order. `tools` and `call_tool` are those of an Episode."""

    def __init__(self, calls: Sequence[ToolRun]) -> None:
        used = {call.tool for call in calls}  # runs before `verify` existed ranked with `match`
        self.tools: Mapping[str, None] = dict.fromkeys(
            name for name in CALLS if name != "verify" or name in used
        )
        self._results: dict[str, deque[Observation]] = {}
        for call in calls:
            self._results.setdefault(call.tool, deque()).append(call.observation)

    def call_tool(self, tool: str, request: ToolRequest) -> Observation:
        """The next result of this tool, for any request. Raises ToolError when none is left."""
        results = self._results.get(tool)
        if not results:
            raise ToolError(f"{tool}: the recording has no further call of this tool in this cell")
        return results.popleft()


def _cell_functions(recorded: RecordedTools, strategy: str) -> Mapping[str, HostFunction]:
    if strategy == "vdebugger":
        from pyvision.strategies.vdebugger.execution import Services

        return {**Services(recorded).functions, "conclude": _ignore}
    return host_functions(recorded.call_tool, recorded.tools)


def _ignore(result: Any) -> None:
    """What a program concludes is already recorded."""
