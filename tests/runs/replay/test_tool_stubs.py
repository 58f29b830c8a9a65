from __future__ import annotations

import pytest

from pyvision.errors import ToolError
from pyvision.events import CellRun, Event, Note, ToolRun
from pyvision.runs.replay.rerun import functions_of
from pyvision.types import Observation, ToolRequest
from sandbox import CellResult, Figure
from tests.doubles import png

FIGURE = Figure(png(), "image/png", 40, 30)


def used(tool: str, data: object = None, error: str | None = None) -> ToolRun:
    return ToolRun(tool, ToolRequest("?"), Observation("told", data, error=error), 0.1)


def test_a_cell_gets_what_the_tools_gave_it_on_record() -> None:
    first, second = CellRun("a", CellResult("ok")), CellRun("b", CellResult("ok"))
    events: list[Event] = [
        used("vqa", {"answer": "red"}),
        Note("n", {}),
        used("vqa", {"answer": "blue"}),
        first,
        used("vqa", error="it is down"),
        second,
    ]
    functions = functions_of(events, "code_loop")
    ask = functions[id(first)]["vqa"]
    assert [ask(png(), "Which?")["answer"] for _ in range(2)] == ["red", "blue"]
    with pytest.raises(ToolError, match="no further call of this tool"):
        ask(png(), "Which?")
    with pytest.raises(ToolError, match="it is down"):
        functions[id(second)]["vqa"](png(), "Which?")


def test_a_program_gets_its_services() -> None:
    box = {"left": 1, "top": 2, "right": 11, "bottom": 12, "score": 0.5}
    cell = CellRun("a", CellResult("ok"))
    functions = functions_of([used("detect", {"boxes": [box]}), cell], "vdebugger")[id(cell)]
    assert functions["find"](FIGURE, "cat") == [[1, 18, 11, 28, 0.5]]
    functions["conclude"]("whatever")
