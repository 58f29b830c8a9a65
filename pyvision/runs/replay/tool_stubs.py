"""The functions of the host for cells that run again: they give what the tools gave on record, in that order."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from pyvision.errors import ToolError
from pyvision.events import CellRun, Event, ToolRun
from pyvision.tools.cell_functions import CALLS, host_functions
from pyvision.types import Observation, ToolRequest
from sandbox import HostFunction


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
        from pyvision.strategies.vdebugger.execution import Services

        return {**Services(recorded).functions, "conclude": _take}
    return host_functions(recorded.use, recorded.tools)


def _take(result: Any) -> None:
    """What a program concludes is on record already."""
