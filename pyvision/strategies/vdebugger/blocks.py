"""A program block by block, with the variables that each left behind: what a critic of single blocks is shown.

After the baseline LDB that the paper compares with (its section on baselines; the layout here is our own).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyvision.strategies.vdebugger.execution import Execution
from pyvision.strategies.vdebugger.fault_spans import Marks, line_span
from pyvision.strategies.vdebugger.task_types import FUNCTION
from pyvision.strategies.vdebugger.trace_format import own_events
from pyvision.text.parsing import parse_source
from sandbox import Trace

_JUDGED = re.compile(
    r"^\W*block\W*(\d{1,3})\W+(right|wrong|correct|incorrect)\b", re.IGNORECASE | re.MULTILINE
)
_SHOWN_CHANGES = 12  # of one block; a loop makes many


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of a program, counted from 1, that run one after the other."""

    first: int
    last: int


def blocks_of(program: str) -> tuple[Block, ...]:
    """Simple statements in a row are one block; what decides about others is one of its own."""
    try:
        return tuple(_blocks(parse_source(program).body))
    except SyntaxError:
        return ()


def format_blocks(execution: Execution) -> str:
    """Every block with its lines, and what each variable was when it had run."""
    changes = _changes(execution.steps) if execution.steps else {}
    lines = execution.program.splitlines()
    told = []
    for number, block in enumerate(blocks_of(execution.program), 1):
        made = [each for line in range(block.first, block.last + 1) for each in changes.get(line, ())]
        code = lines[block.first - 1 : block.last]
        remarks = [f"    # {each}" for each in _both_ends(made) or ["nothing changed"]]
        told.append("\n".join([f"BLOCK {number}", *code, *remarks]))
    return "\n\n".join(told)


def marks_of_blocks(reply: str, program: str) -> tuple[Marks, bool]:
    """The first block that is called wrong, and whether all were called right."""
    judged = [(int(number), word.lower() in ("right", "correct")) for number, word in _JUDGED.findall(reply)]
    blocks = blocks_of(program)
    wrong = [number for number, right in judged if not right and 1 <= number <= len(blocks)]
    if wrong:
        block = blocks[wrong[0] - 1]
        return Marks((line_span(program, block.first, block.last),)), False
    return Marks(fault="no block is called wrong"), bool(judged) and all(right for _, right in judged)


def _blocks(body: Sequence[ast.stmt]) -> Iterator[Block]:
    simple: list[ast.stmt] = []
    for statement in body:
        inner = [part for name in ("body", "orelse", "finalbody") if (part := getattr(statement, name, None))]
        handlers = [handler.body for handler in getattr(statement, "handlers", ())]
        if not inner:
            simple.append(statement)
            continue
        if simple:
            yield Block(simple[0].lineno, simple[-1].end_lineno or simple[-1].lineno)
            simple = []
        if not isinstance(statement, ast.FunctionDef):
            yield Block(statement.lineno, max(statement.lineno, inner[0][0].lineno - 1))
        for part in (*inner, *handlers):
            yield from _blocks(part)
    if simple:
        yield Block(simple[0].lineno, simple[-1].end_lineno or simple[-1].lineno)


def _both_ends(changes: Sequence[str]) -> Sequence[str]:
    half = _SHOWN_CHANGES // 2
    return changes if len(changes) <= _SHOWN_CHANGES else [*changes[:half], "…", *changes[-half:]]


def _changes(trace: Trace) -> dict[int, list[str]]:
    """Line -> what it changed: the changes that the next event tells."""
    made: dict[int, list[str]] = {}
    line = None
    for event in own_events(trace, FUNCTION)[0]:
        if line is not None:
            made.setdefault(line, []).extend(f"{each.name} = {each.value}" for each in event.changes)
        if event.kind == "exception":
            made.setdefault(event.line, []).append(f"raised {event.value}")
        line = event.line
    return made
