"""Run a program in the question's kernel, traced or plain, and tell what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.answers import Returned, read_returned
from pyvision.strategies.vdebugger.programs import canonical
from pyvision.strategies.vdebugger.services import Services
from pyvision.strategies.vdebugger.task_types import FUNCTION, Query
from pyvision.strategies.vdebugger.trace_format import trace_text
from pyvision.text.prompts import load
from sandbox import CellResult, Trace

Status: TypeAlias = Literal["ok", "error", "timeout", "died", "no_program"]
API = "vdebugger/image_patch.py"
COMPILE_ERROR = "Compile Error"  # in place of a trace, as in the published data


@dataclass(frozen=True, slots=True)
class Execution:
    """How one program went. program: as it was run. trace: its text, whole; empty where it was not traced.

    error: one line, where there is no result. line: of the program, where the error was raised.
    """

    program: str
    status: Status
    returned: Returned | None = None
    error: str | None = None
    line: int | None = None
    trace: str = ""
    steps: Trace | None = None

    @property
    def result(self) -> str:
        """What was returned, as a critic reads it."""
        return "None" if self.returned is None else self.returned.text


class Executor:
    """Runs the programs of one question in its kernel, whose first cell defines the API.

    crop_margin_px: by how much a crop, and with it every detection, is enlarged on each side.
    """

    def __init__(self, episode: Episode, query: Query, crop_margin_px: int = 10) -> None:
        self._episode = episode
        self._query = query
        self._services = Services(episode)
        self._setup = setup_cell(crop_margin_px)
        self._is_set_up = False

    def trace(self, program: str) -> Execution:
        """Raises what the services or the episode end a question with: LimitReached, ModelError, ConfigError."""
        return self._run(program, trace=True)

    def run(self, program: str) -> Execution:
        """Without a trace; raises as `trace` does."""
        return self._run(program, trace=False)

    def _run(self, program: str, *, trace: bool) -> Execution:
        checked = canonical(program, self._query.signature)
        if checked.error is not None:
            return Execution(checked.text, "no_program", error=checked.error, trace=COMPILE_ERROR)
        failed = self._set_up()
        if failed is not None:
            return Execution(checked.text, failed.status, error=_error(failed))
        told: list[object] = []
        result = self._cell(call_cell(checked.text, self._query.argument), trace=trace, conclude=told.append)
        return _execution(checked.text, result, told, self._query.signature)

    def _set_up(self) -> CellResult | None:
        """The result of the setup, if it failed."""
        if self._is_set_up:
            return None
        result = self._cell(self._setup)
        self._is_set_up = result.status == "ok"
        return None if self._is_set_up else result

    def _cell(
        self, code: str, *, trace: bool = False, conclude: Callable[[object], Any] | None = None
    ) -> CellResult:
        functions = {**self._services.functions, "conclude": conclude} if conclude else {}
        result = self._episode.run(code, trace=trace, functions=functions)
        self._is_set_up = self._is_set_up and result.state == "kept"
        return result


def setup_cell(crop_margin_px: int) -> str:
    """The cell that defines the API, compiled under a name of its own: traces tell the functions of cells only."""
    return (
        "import math, re\nfrom typing import Any, Dict, List, Optional, Tuple, Union\n\n"
        f"exec(compile(r'''\n{load(API)}''', 'image_patch.py', 'exec'), globals())\n"
        f"CROP_MARGIN_PX = {crop_margin_px}"
    )


def call_cell(program: str, argument: str) -> str:
    """The cell that runs a program, its first line the program's own, and hands the result to the host."""
    return f"{program}\n\nhost.conclude(answer_as_plain_values({FUNCTION}({argument})))"


def _execution(program: str, result: CellResult, told: list[object], signature: str) -> Execution:
    trace = trace_text(result.trace, signature) if result.trace else ""
    if result.status != "ok" or not told:
        line = result.error.line if result.error else None
        line = line if line is not None and line <= len(program.splitlines()) else None
        status = "error" if result.status == "ok" else result.status
        return Execution(program, status, None, _error(result), line, trace, result.trace)
    try:
        returned = read_returned(told[-1])
    except FormatError as error:
        return Execution(program, "error", None, str(error), None, trace, result.trace)
    return Execution(program, "ok", returned, None, None, trace, result.trace)


def _error(result: CellResult) -> str:
    if result.status == "timeout":
        return f"ran out of time after {result.seconds:.1f} s"
    if result.error is None:
        return "it ended without a result"
    told = " ".join(f"{result.error.name}: {result.error.message}".split())
    return told if len(told) <= 500 else f"{told[:497]}..."
