"""Trace a cell: which lines ran, and which variables each of them created or changed.

Covered: the cell level, recorded as one function, and the functions of this and of earlier cells, in the thread that
started the trace. Not covered: libraries, class bodies, other threads, and the inside of a comprehension, which is one
line on every Python. The rest of a cell runs untraced after `TraceLimits.steps` events, after a stack overflow (endless
recursion), and after it has called `sys.settrace` itself.
"""

from __future__ import annotations

import linecache
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, TypeAlias

from .abbreviate import CONSTANTS, Abbreviation
from .codes import Code, analyze

_LINE_CHARS = 500
_MISSING = object()
Send: TypeAlias = Callable[[dict[str, Any]], None]
_BATCH_EVENTS = 200
_BATCH_S, _LATER_BATCH_S = 0.05, 0.5


class Tracer:
    """Traces this thread from `start` to `stop`. `send` gets the content of each `trace` message.

    That is {"events": [...], "omitted": events left out before these, "stopped": whether it ended before the cell}.
    What happened in the last 50 ms before a crash of the process may be missing.
    """

    def __init__(self, send: Send, limits: TraceLimits) -> None:
        self._batches = Batches(send, limits)
        self._steps = limits.steps
        self._codes: dict[int, tuple[CodeType, Code | None]] = {}
        self._cell: _Call | None = None
        self._held: list[dict[str, Any]] = []  # events that may have to be dropped
        self._held_call: _Call | None = None
        self.abbreviation = Abbreviation(limits.value_chars)
        self.depth = 0  # the nesting depth of the next call

    def start(self) -> None:
        self._batches.start()
        sys.settrace(self._enter)

    def stop(self) -> None:
        """Record the end of the cell and send the remaining events. Also call it when the cell raised."""
        # Python removes a tracer that raises, which ours does after a stack overflow.
        self._batches.stopped = self._batches.stopped or sys.gettrace() != self._enter
        sys.settrace(None)
        if self._cell is not None and not self._batches.stopped:
            self._cell.end()
        self._release()
        self._batches.stop()

    def record(self, event: dict[str, Any], call: _Call) -> None:
        """Record an event, except of a suspended generator that is closed: not every Python traces that."""
        if call is not self._held_call:
            self._release()
        self._held.append(event)
        self._held_call = call
        if not (call.code.is_generator and _ends_in_closing(self._held)):
            self._release()
        elif event["kind"] == "return":
            self._held = []

    def _release(self) -> None:
        for event in self._held:
            self._batches.put(event)
        self._steps -= len(self._held)
        self._held = []
        if self._steps <= 0:
            sys.settrace(None)
            self._batches.stopped = True

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith("<cell "):
            return None
        try:
            code = self._code(frame.f_code)
            return None if code is None else self._call(code).trace(frame, event, argument)
        except RecursionError:
            return None  # the stack of the cell is full: it gets its own RecursionError next

    def _code(self, code: CodeType) -> Code | None:
        if id(code) not in self._codes:  # code objects as keys would be compared by their instructions
            self._codes[id(code)] = code, analyze(code)
        return self._codes[id(code)][1]

    def _call(self, code: Code) -> _Call:
        if not code.is_cell_level:
            return _Call(self, code)
        if self._cell is None:
            self._cell = _Call(self, code)
        self._cell.code = code  # of the next statement
        return self._cell


class _Call:
    """One call of a function, or the part of a generator between two yields; or all statements of the cell."""

    __slots__ = (
        "_depth",
        "_held",
        "_last",
        "_line",
        "_pending",
        "_raised",
        "_seen",
        "_started",
        "_tracer",
        "code",
    )

    def __init__(self, tracer: Tracer, code: Code) -> None:
        self.code = code
        self._tracer = tracer
        self._depth = tracer.depth
        self._line = 0  # the last recorded one
        self._last = ""  # the last event
        self._seen: dict[
            str, tuple[object, str]
        ] = {}  # the value (constants only) and the text of each variable
        self._started = False
        self._raised = False
        self._pending: list[list[str]] = []  # changes between two statements

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The local trace function for `sys.settrace`."""
        try:
            self._handle(frame, event, argument)
        except RecursionError:
            return self.trace  # as above
        return self.trace

    def end(self) -> None:
        """Record the end of the cell, after its last statement has returned or raised."""
        self._record("return", self._line, self._take_changes(), None if self._raised else "None")

    def _handle(self, frame: FrameType, event: str, argument: Any) -> None:
        inside = self.code.comprehensions.get(frame.f_lasti)
        line = inside.line if inside else frame.f_lineno
        if event == "line" and inside and line == self._line:
            return  # the whole comprehension is one line
        # While a comprehension runs and hides variables, only an exception is recorded.
        own = inside.names if inside and event == "exception" else frozenset[str]()
        self._compare_variables(frame, own, "starting" if event == "call" else "new")
        match event:
            case "call":
                self._handle_call(line)
            case "line":
                self._line = line
                self._record("line", line, self._take_changes(), None)
            case "exception":
                text = self._tracer.abbreviation.of_error(argument[1])
                self._record("exception", line, self._take_changes(), text)
            case "return":
                self._raised = argument is None and not self._returns_none(frame.f_lasti)
                self._handle_return(line, argument)
        self._last = event

    def _returns_none(self, offset: int) -> bool:
        """Whether None was returned or yielded: a call ended by an exception has the same argument."""
        if offset in self.code.yielding:
            return self._last != "exception"
        return offset in self.code.returning

    def _handle_call(self, line: int) -> None:
        self._tracer.depth = self._depth + 1
        self._raised = True  # unless it returns
        self._line = 0
        if not self._started:
            self._started = True
            self._record("call", 1 if self.code.is_cell_level else line, self._take_changes(), None)

    def _handle_return(self, line: int, value: object) -> None:
        if not self.code.is_cell_level:
            self._tracer.depth = self._depth
            text = None if self._raised else self._tracer.abbreviation.of(value)
            self._record("return", line, self._take_changes(), text)

    def _compare_variables(self, frame: FrameType, hidden: frozenset[str], how: str) -> None:
        """Note the variables whose text has changed."""
        at_cell_level = self.code.is_cell_level
        values = frame.f_globals if at_cell_level else dict(frame.f_locals)
        for name in self.code.names:
            value, before = values.get(name, _MISSING), self._seen.get(name)
            if name in hidden and not at_cell_level:
                continue  # it is the comprehension's; the function's variable is restored afterwards
            if value is _MISSING:
                self._seen.pop(name, None)
            elif before is None or before[0] is not value:
                text = self._tracer.abbreviation.of(value)
                if before is None or before[1] != text:
                    self._pending.append([name, text, how if before is None else "modified"])
                self._seen[name] = (value if type(value) in CONSTANTS else _MISSING, text)

    def _take_changes(self) -> list[list[str]]:
        changes, self._pending = self._pending, []
        return changes

    def _record(self, kind: str, line: int, changes: list[list[str]], value: str | None) -> None:
        source = linecache.getline(self.code.file, line)
        if kind == "call":
            line, source = _definition(self.code.file, line, source)
        event = {
            "kind": kind,
            "function": self.code.function,
            "cell": self.code.cell,
            "line": line,
            "depth": self._depth,
            "source": source.rstrip("\n")[:_LINE_CHARS],
            "changes": changes,
            "value": value,
        }
        self._tracer.record(event, self)


def _ends_in_closing(events: list[dict[str, Any]]) -> bool:
    """Whether these are all events, or the first ones, of closing a suspended generator."""
    kinds = [event["kind"] for event in events]
    exits = all(event["value"] == "GeneratorExit" for event in events[1:2])
    return exits and kinds == ["call", "exception", "return"][: len(kinds)]


def _definition(file: str, line: int, source: str) -> tuple[int, str]:
    """The line of the `def`: a call event has the line of the first decorator."""
    if source.lstrip().startswith("@"):
        for at, candidate in enumerate(linecache.getlines(file)[line:], line + 1):
            if candidate.lstrip().startswith(("def ", "async def ")):
                return at, candidate
    return line, source


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """events, chars: the size of a trace. value_chars: of one value. steps: events after which tracing stops."""

    events: int
    chars: int
    value_chars: int
    steps: int


class Batches:
    """Sends the first half of the events as they come; then, every half second, the latest ones.

    Between `start` and `stop` a thread sends events that a long statement would delay.
    """

    def __init__(self, send: Send, limits: TraceLimits) -> None:
        self._send = send
        self._half_events, self._half_chars = limits.events // 2, limits.chars // 2
        self._head_events, self._head_chars = self._half_events, self._half_chars
        self._waiting: deque[tuple[dict[str, Any], int]] = deque()
        self._waiting_chars = 0
        self._omitted = 0
        self._sent_s = 0.0
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self.stopped = False

    def start(self) -> None:
        threading.Thread(target=self._keep_flushing, name="trace", daemon=True).start()

    def stop(self) -> None:
        """Send the remaining events."""
        self._stopping.set()
        self.flush()

    def put(self, event: dict[str, Any]) -> None:
        with self._lock:
            self._put(event)

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _keep_flushing(self) -> None:
        while not self._stopping.wait(_BATCH_S):
            with self._lock:
                if self._waiting:
                    self._flush_if_due(in_head=self._head_events > 0)

    def _put(self, event: dict[str, Any]) -> None:
        size = _size(event)
        in_head = self._head_events > 0 and self._head_chars >= size
        if not in_head and self._head_events > 0:
            self._head_events = 0
            self.flush()  # the waiting events belong to the head, and must not be dropped for the tail
        self._waiting.append((event, size))
        self._waiting_chars += size
        if in_head:
            self._head_events -= 1
            self._head_chars -= size
        else:
            self._drop_oldest()
        self._flush_if_due(in_head=in_head)

    def _flush(self) -> None:
        events = [event for event, _ in self._waiting]
        if events or self.stopped:
            self._send({"events": events, "omitted": self._omitted, "stopped": self.stopped})
        self._waiting.clear()
        self._waiting_chars = self._omitted = 0
        self._sent_s = time.monotonic()

    def _drop_oldest(self) -> None:
        while len(self._waiting) > self._half_events or self._waiting_chars > self._half_chars:
            self._waiting_chars -= self._waiting.popleft()[1]
            self._omitted += 1

    def _flush_if_due(self, *, in_head: bool) -> None:
        wait = _BATCH_S if in_head else _LATER_BATCH_S
        full = in_head and (len(self._waiting) >= _BATCH_EVENTS or self._head_events == 0)
        if full or time.monotonic() - self._sent_s >= wait:
            self.flush()


def _size(event: dict[str, Any]) -> int:
    changes = sum(len(name) + len(text) for name, text, _ in event["changes"])
    return len(event["source"]) + len(event["value"] or "") + changes
