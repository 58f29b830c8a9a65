"""Run a visual program about a scene in this process, traced: fast enough for thousands, for generated programs only.

The functions are those of the product (`prompts/vdebugger/image_patch.py`), and so are the text of the trace and the
reading of results. Not covered: a wall. A program that imports, or reaches for a name with underscores, is not run.
"""

from __future__ import annotations

import ast
import sys
from types import CodeType, FrameType
from typing import Any

from benchmarks.worlds.vdebugger_world.scenes import SIDE, Part, Perception, Scene
from pyvision.errors import FormatError
from pyvision.experiments.vdebugger_training.records import Executed
from pyvision.strategies.vdebugger.execution import Returned, answer_of, read_returned
from pyvision.strategies.vdebugger.programs import FORMS, FUNCTION, FormName
from pyvision.strategies.vdebugger.trace_format import shorten, trace_text
from pyvision.text.prompts import load
from sandbox import Change, Trace, TraceEvent

MOST_STEPS = 400
TRACE_CHARS = 2500
_SAFE = (
    *("abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "isinstance", "len", "list", "map"),
    *("max", "min", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip"),
    *("AttributeError", "IndexError", "KeyError", "TypeError", "ValueError", "Exception"),
)


class Interpreter:
    """Runs programs with one perception. Not thread-safe: it traces."""

    def __init__(self, perception: Perception) -> None:
        self.api: dict[str, Any] = {"host": perception}
        exec(compile(load("vdebugger/image_patch.py"), "image_patch.py", "exec"), self.api)
        self.api["CROP_MARGIN_PX"] = 0  # things stand close together
        builtins = sys.modules["builtins"].__dict__
        self._safe = {name: builtins[name] for name in _SAFE}

    def run(self, scene: Scene, program: str, form: FormName) -> tuple[Executed, str | None]:
        """How it went, and its answer; None where it has none."""
        fault = _fault(program)
        if fault is not None:
            return Executed(None, None, fault), None
        code = compile(program, "<program>", "exec")
        names = {**self.api, "__builtins__": self._safe}
        exec(code, names)
        steps = _Steps(names[FUNCTION].__code__, program.splitlines())
        try:
            value = steps.watch(names[FUNCTION], Part(scene))
        except Exception as error:  # noqa: BLE001 - whatever a program raises is what it did
            return self._executed(steps, form, None, f"{type(error).__name__}: {error}"[:300]), None
        returned = read_returned(self.api["answer_as_plain_values"](value))
        return self._executed(steps, form, returned.text, None), _answer(returned, form)

    def _executed(self, steps: _Steps, form: FormName, result: str | None, error: str | None) -> Executed:
        text = trace_text(Trace(tuple(steps.events), len(steps.events)), FORMS[form].signature)
        return Executed(result, shorten(text, TRACE_CHARS), error)


def _answer(returned: Returned, form: FormName) -> str | None:
    try:
        return answer_of(returned, form, SIDE, "bottom-left")
    except FormatError:
        return None


def _fault(program: str) -> str | None:
    """Why a program is not run."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"[:200]
    nodes = list(ast.walk(tree))
    reached = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    reached += [node.id for node in nodes if isinstance(node, ast.Name)]
    if any(name.startswith("_") for name in reached) or any(isinstance(node, _FORBIDDEN) for node in nodes):
        return "SyntaxError: what this program uses is not allowed"
    is_one = (
        len(tree.body) == 1 and isinstance(tree.body[0], ast.FunctionDef) and tree.body[0].name == FUNCTION
    )
    return None if is_one else f"SyntaxError: it is not the one function {FUNCTION}"


_FORBIDDEN = (ast.Import, ast.ImportFrom, ast.While, ast.Global, ast.Nonlocal, ast.Pow, ast.Mult, ast.LShift)


class _Steps:
    """What one function does, line by line, as the sandbox's own tracer tells it."""

    def __init__(self, code: CodeType, lines: list[str]) -> None:
        self.events: list[TraceEvent] = []
        self._code, self._lines = code, lines
        self._frame: FrameType | None = None
        self._before: dict[str, str] = {}
        self._raised = False

    def watch(self, function: Any, argument: object) -> Any:
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            return function(argument)
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, kind: str, told: Any) -> Any:
        if frame.f_code is not self._code or self._frame is not None:
            return None  # what it calls, itself among it, is not told
        self._frame = frame
        self._tell("call", frame, "starting")
        return self._stepped

    def _stepped(self, frame: FrameType, kind: str, told: Any) -> Any:
        if len(self.events) > MOST_STEPS:
            raise TimeoutError("ran out of time")
        match kind:
            case "line":
                self._raised = False
                self._tell("line", frame)
            case "exception":
                self._raised = True
                self._tell("exception", frame, value=f"{told[0].__name__}: {told[1]}")
            case "return":
                ended = self._raised and told is None
                self._tell("return", frame, value=None if ended else repr(told))
        return self._stepped

    def _tell(self, kind: Any, frame: FrameType, how: Any = "new", value: str | None = None) -> None:
        now = {name: repr(content) for name, content in frame.f_locals.items()}
        changes = tuple(
            Change(name, text, "modified" if name in self._before else how)
            for name, text in now.items()
            if self._before.get(name) != text
        )
        self._before = now
        line = frame.f_lineno
        source = self._lines[line - 1] if line <= len(self._lines) else ""
        self.events.append(TraceEvent(kind, FUNCTION, 1, line, 1, source, changes, value))
