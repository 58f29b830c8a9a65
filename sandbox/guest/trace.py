"""Trace a cell: which lines ran, and which variables each of them made or changed.

Told are the cell's own level, as if it were one function, and the functions of this and of earlier cells, in the
thread that started the trace. Not told: libraries, class bodies, other threads, and what happens inside a
comprehension, which is one line on every Python. The rest of the cell runs untraced after `Limits.steps` events,
after its stack was full (an endless recursion), and after it has called `sys.settrace` itself.
"""

from __future__ import annotations

import linecache
import sys
from types import CodeType, FrameType
from typing import Any

from .abbreviate import CONSTANTS, Abbreviation
from .batches import Batches, Limits, Send
from .codes import Code, look_at

_LINE_CHARS = 500
_MISSING = object()


class Tracer:
    """Traces this thread from `start` to `stop`. `send` gets the content of each `trace` message.

    That is {"events": [...], "omitted": events left out before these, "stopped": whether it is over before the cell}.
    What happened in the last 50 ms before a crash of the process may be missing.
    """

    def __init__(self, send: Send, limits: Limits) -> None:
        self._batches = Batches(send, limits)
        self._steps = limits.steps
        self._codes: dict[int, tuple[CodeType, Code | None]] = {}
        self._cell: _Call | None = None
        self._held: list[dict[str, Any]] = []  # events that may not be worth telling
        self._held_call: _Call | None = None
        self.abbreviation = Abbreviation(limits.value_chars)
        self.depth = 0  # calls around the next one

    def start(self) -> None:
        self._batches.start()
        sys.settrace(self._enter)

    def stop(self) -> None:
        """Tell the end of the cell and send what is left. To be called also when the cell raised."""
        # Python takes the tracer away when it raises, and it does where the stack is full already.
        self._batches.stopped = self._batches.stopped or sys.gettrace() != self._enter
        sys.settrace(None)
        if self._cell is not None and not self._batches.stopped:
            self._cell.end()
        self._release()
        self._batches.flush()

    def tell(self, event: dict[str, Any], call: _Call) -> None:
        """Nothing is told of a generator that is closed where it waits: not every Python calls it for that."""
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
            return None  # the stack of the cell is full: its own RecursionError comes next

    def _code(self, code: CodeType) -> Code | None:
        if id(code) not in self._codes:  # a dictionary by the code itself would compare the instructions
            self._codes[id(code)] = code, look_at(code)
        return self._codes[id(code)][1]

    def _call(self, code: Code) -> _Call:
        if not code.is_cell_level:
            return _Call(self, code)
        if self._cell is None:
            self._cell = _Call(self, code)
        self._cell.code = code  # of the next statement
        return self._cell


class _Call:
    """A function from its call, or the resumption of a generator, to its end; or all statements of the cell."""

    __slots__ = (
        "_connection",
        "_depth",
        "_held",
        "_last",
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
        self._connection = 0  # told last
        self._last = ""  # event
        self._seen: dict[str, tuple[object, str]] = {}  # a variable's text; its value, where that is enough
        self._started = False
        self._raised = False
        self._pending: list[list[str]] = []  # changes between two statements

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """What `sys.settrace` asks for."""
        try:
            self._take(frame, event, argument)
        except RecursionError:
            return self.trace  # as above
        return self.trace

    def end(self) -> None:
        """The end of the cell: its last statement has returned, or was left by an exception."""
        self._tell("return", self._connection, self._changed(), None if self._raised else "None")

    def _take(self, frame: FrameType, event: str, argument: Any) -> None:
        inside = self.code.comprehensions.get(frame.f_lasti)
        line = inside.line if inside else frame.f_lineno
        if event == "line" and inside and line == self._connection:
            return  # the whole comprehension is one line
        # Only an exception is told while a comprehension runs and has variables of its own.
        own = inside.names if inside and event == "exception" else frozenset[str]()
        self._look(frame, own, "starting" if event == "call" else "new")
        match event:
            case "call":
                self._begin(line)
            case "line":
                self._connection = line
                self._tell("line", line, self._changed(), None)
            case "exception":
                text = self._tracer.abbreviation.of_error(argument[1])
                self._tell("exception", line, self._changed(), text)
            case "return":
                self._raised = argument is None and not self._gives_none(frame.f_lasti)
                self._return(line, argument)
        self._last = event

    def _gives_none(self, offset: int) -> bool:
        """Whether None is a value that is returned or yielded: a call that an exception ends tells it too."""
        if offset in self.code.yielding:
            return self._last != "exception"
        return offset in self.code.returning

    def _begin(self, line: int) -> None:
        self._tracer.depth = self._depth + 1
        self._raised = True  # unless it returns
        self._connection = 0
        if not self._started:
            self._started = True
            self._tell("call", 1 if self.code.is_cell_level else line, self._changed(), None)

    def _return(self, line: int, value: object) -> None:
        if not self.code.is_cell_level:
            self._tracer.depth = self._depth
            text = None if self._raised else self._tracer.abbreviation.of(value)
            self._tell("return", line, self._changed(), text)

    def _look(self, frame: FrameType, hidden: frozenset[str], how: str) -> None:
        """Note the variables whose text is not what it was."""
        at_cell_level = self.code.is_cell_level
        values = frame.f_globals if at_cell_level else dict(frame.f_locals)
        for name in self.code.names:
            value, before = values.get(name, _MISSING), self._seen.get(name)
            if name in hidden and not at_cell_level:
                continue  # the comprehension's; the function's own one comes back afterwards
            if value is _MISSING:
                self._seen.pop(name, None)
            elif before is None or before[0] is not value:
                text = self._tracer.abbreviation.of(value)
                if before is None or before[1] != text:
                    self._pending.append([name, text, how if before is None else "modified"])
                self._seen[name] = (value if type(value) in CONSTANTS else _MISSING, text)

    def _changed(self) -> list[list[str]]:
        changes, self._pending = self._pending, []
        return changes

    def _tell(self, kind: str, line: int, changes: list[list[str]], value: str | None) -> None:
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
        self._tracer.tell(event, self)


def _ends_in_closing(events: list[dict[str, Any]]) -> bool:
    """Whether these are, or begin, all the events of a generator that is closed where it waits."""
    kinds = [event["kind"] for event in events]
    exits = all(event["value"] == "GeneratorExit" for event in events[1:2])
    return exits and kinds == ["call", "exception", "return"][: len(kinds)]


def _definition(file: str, line: int, source: str) -> tuple[int, str]:
    """A call begins at the decorators; where the function itself begins tells more."""
    if source.lstrip().startswith("@"):
        for at, candidate in enumerate(linecache.getlines(file)[line:], line + 1):
            if candidate.lstrip().startswith(("def ", "async def ")):
                return at, candidate
    return line, source
