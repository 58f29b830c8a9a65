"""What a program did, as text for a critic and a refiner: its trace in pysnooper's format, or its variables by block.

Only the program's own call is shown, and nothing that it calls; a comprehension is one line without variables, as in
pysnooper on Python 3.11 and earlier. Unlike pysnooper's, images and large arrays are described by their size, objects
have no addresses, and source lines longer than 500 characters are cut.
Source: the traces of VDebugger, Figure 8 of arXiv 2406.13444, and the format of pysnooper 1.2.3. The blocks follow the
baseline LDB that the paper compares with (its section on baselines); their layout is ours.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.strategies.vdebugger.programs import FUNCTION
from pyvision.text.python_source import parse_source
from sandbox import Trace, TraceEvent

Keep: TypeAlias = Literal["start", "end"]
VALUE_CHARS = 1000  # of one value; longer ones lose their middle
_LABELS = {"starting": "Starting var:..", "new": "New var:.......", "modified": "Modified var:.."}
_CHANGES_SHOWN = 12  # of one block; a loop makes many


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of a program, counted from 1, that run one after the other."""

    first: int
    last: int


def trace_text(trace: Trace, signature: str, function: str = FUNCTION) -> str:
    """The last call of the program that the program did not make itself; empty if there was none.

    signature: shown in place of the line that defines the function.
    """
    events, gap = _own_events(trace, function)
    lines: list[str] = []
    for at, event in enumerate(events):
        if at == gap:
            lines.append(f"[{trace.omitted} events left out]")
        # The header replaces everything before it, including the variables that the call starts with.
        lines += [_line("call", event.line, signature)] if at == 0 else _format(event)
    if events and trace.stopped:
        lines.append("[what ran after this was not traced]")
    return "\n".join(lines)


def shorten(text: str, limit: int, keep: Keep = "end") -> str:
    """At most `limit` characters. end: the header and the last lines; start: the first characters, as published.

    The published cut loses the end, which holds exceptions and results.
    """
    if len(text) <= limit or keep == "start":
        return text[:limit]
    header, *rest = text.splitlines()
    remaining = limit - len(header) - len("\n[ lines left out]\n") - len(str(len(rest)))
    tail: list[str] = []
    for line in reversed(rest):
        remaining -= len(line) + 1
        if remaining < 0:
            break
        tail.append(line)
    if not tail:
        return text[-limit:]
    return "\n".join([header, f"[{len(rest) - len(tail)} lines left out]", *reversed(tail)])


def shorten_value(text: str, limit: int = VALUE_CHARS) -> str:
    """A value without its middle: of 1001 characters, the first 498 and the last 499 are shown."""
    if len(text) <= limit:
        return text
    left = (limit - 3) // 2
    return f"{text[:left]}...{text[left + 3 - limit :]}"


def format_blocks(program: str, trace: Trace) -> str:
    """Every block with its lines, and the value of each variable that it changed."""
    changes = _changes(trace)
    lines = program.splitlines()
    formatted = []
    for number, block in enumerate(blocks_of(program), 1):
        made = [each for line in range(block.first, block.last + 1) for each in changes.get(line, ())]
        code = lines[block.first - 1 : block.last]
        remarks = [f"    # {each}" for each in _both_ends(made) or ["nothing changed"]]
        formatted.append("\n".join([f"BLOCK {number}", *code, *remarks]))
    return "\n\n".join(formatted)


def blocks_of(program: str) -> tuple[Block, ...]:
    """Consecutive simple statements are one block; the head of a compound statement is a block by itself."""
    try:
        return tuple(_blocks(parse_source(program).body))
    except SyntaxError:
        return ()


def _own_events(trace: Trace, function: str) -> tuple[Sequence[TraceEvent], int | None]:
    """The events of the call, and the index of the one before which some are missing."""
    calls = [at for at, each in enumerate(trace.events) if each.kind == "call" and each.function == function]
    if not calls:
        return (), None
    depth = min(trace.events[at].depth for at in calls)
    start = [at for at in calls if trace.events[at].depth == depth][-1]
    own = [
        at
        for at, event in enumerate(trace.events)
        if at >= start and event.function == function and event.depth == depth
    ]
    missing = trace.omitted and trace.head > start
    gap = next((place for place, at in enumerate(own) if at >= trace.head), None) if missing else None
    return [trace.events[at] for at in own], gap


def _format(event: TraceEvent) -> Iterator[str]:
    for change in event.changes:
        yield f"{_LABELS[change.how]} {change.name} = {shorten_value(change.value)}"
    if event.kind == "return" and event.value is None:
        yield "Call ended by exception"
        return
    yield _line(event.kind, event.line, event.source)
    if event.kind == "return":
        yield f"Return value:.. {shorten_value(event.value or '')}"
    if event.kind == "exception":
        yield f"Exception:..... {shorten_value(event.value or '')}"


def _line(kind: str, number: int, source: str) -> str:
    return f"{kind:9} {number:4} {source}"


def _changes(trace: Trace) -> dict[int, list[str]]:
    """Line -> what it changed, which the event after it reports."""
    made: dict[int, list[str]] = {}
    line = None
    for event in _own_events(trace, FUNCTION)[0]:
        if line is not None:
            made.setdefault(line, []).extend(f"{each.name} = {each.value}" for each in event.changes)
        if event.kind == "exception":
            made.setdefault(event.line, []).append(f"raised {event.value}")
        line = event.line
    return made


def _both_ends(changes: Sequence[str]) -> Sequence[str]:
    half = _CHANGES_SHOWN // 2
    return changes if len(changes) <= _CHANGES_SHOWN else [*changes[:half], "…", *changes[-half:]]


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
