"""The same program under pysnooper, as the published executor runs it, and under our own tracer."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pysnooper  # type: ignore[import-untyped]

from pyvision.strategies.vdebugger.execution import API, call_cell
from pyvision.strategies.vdebugger.programs import FUNCTION
from pyvision.strategies.vdebugger.trace_format import trace_text
from pyvision.text.prompts import load
from sandbox import Policy
from tests.sandbox.guest.tracing.traced import Cells

POLICY = Policy(trace_value_chars=1000, trace_events=20_000, trace_chars=2_000_000)
_NUMBERS = itertools.count()


def api(host: Any) -> dict[str, Any]:
    """What a program finds around it."""
    names: dict[str, Any] = {"__name__": "__main__", "host": host}
    exec(compile(load(API), "image_patch.py", "exec"), names)
    return names


def ours(program: str, argument: Any, names: Mapping[str, Any], signature: str) -> str:
    """Our text of a call that a cell makes."""
    cells = Cells(POLICY)
    cells.names |= {**names, "argument": argument}
    cells.names["host"] = _Listening(names.get("host"))
    cells.names.setdefault("answer_as_plain_values", str)
    return trace_text(cells.run(call_cell(program, "argument")), signature)


def theirs(program: str, argument: Any, names: Mapping[str, Any], signature: str, folder: Path) -> str:
    """pysnooper's text, with the steps that the published executor takes after it."""
    file = folder / f"x_{next(_NUMBERS)}.py"
    file.write_text(program)
    around: dict[str, Any] = {**names, "__name__": "__main__"}
    exec(compile(program, str(file), "exec"), around)
    sink = io.StringIO()
    try:
        with pysnooper.snoop(output=sink, color=False, depth=2, max_variable_length=1000):
            around[FUNCTION](argument)
    except Exception as error:  # noqa: BLE001 - whatever a program raises is in its trace
        sink.write(f"Elapsed time: after {error!r}")
    return _processed(sink.getvalue(), program, signature)


def _processed(text: str, program: str, signature: str) -> str:
    header = next(line for line in program.splitlines() if line.startswith(f"def {FUNCTION}"))
    lines = text.splitlines()
    start = max(at for at, line in enumerate(lines) if line.rstrip().endswith(header))
    indent = len(lines[start]) - len(lines[start].lstrip())
    result = []
    for line in (lines[start].replace(header, signature), *lines[start + 1 :]):
        bare = line[indent:] if line.startswith(" " * indent) else line
        if bare.startswith(("Elapsed time", "Source path:")) or line.startswith(
            ("Elapsed time", "Source path:")
        ):
            break
        result.append(re.sub(r"^\d\d:\d\d:\d\d\.\d{6} ", "", bare))
    return re.sub(r" at 0x[0-9a-f]{4,}", "", "\n".join(result))  # our traces have no addresses


class _Listening:
    """The host, and a place for the result."""

    def __init__(self, host: Any) -> None:
        self._host = host

    def __getattr__(self, name: str) -> Any:
        return (lambda result: None) if name == "conclude" else getattr(self._host, name)
