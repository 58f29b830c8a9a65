"""Scenes of coloured shapes on a sheet of 100 by 100, their perception, and an interpreter of visual programs.

Programs run in this process with a trace, fast enough for thousands of generated programs. The functions are those of
the product (`prompts/vdebugger/image_patch.py`), as are the text of the trace and the parsing of results. Not covered:
isolation. Programs that import modules or use names with underscores are refused.
"""

from __future__ import annotations

import ast
import random
import re
import sys
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from pyvision.errors import FormatError
from pyvision.experiments.vdebugger_training.records import Executed
from pyvision.strategies.vdebugger.execution import Returned, answer_of, read_returned
from pyvision.strategies.vdebugger.programs import FORMS, FUNCTION, FormName
from pyvision.strategies.vdebugger.trace_format import shorten, trace_text
from pyvision.text.prompts import load
from sandbox import Change, Trace, TraceEvent

SIDE = 100
COLOURS = ("red", "blue", "green", "yellow", "black", "pink")
SHAPES = ("circle", "square", "star", "cross", "ring")
_KNOWN = {*COLOURS, *SHAPES, *(f"{shape}s" for shape in SHAPES), *(f"{shape}es" for shape in SHAPES)}
_CELL = 25
_QUESTION = re.compile(r"(what colou?r|what shape|how many|is this|is there)\b", re.IGNORECASE)
MAX_STEPS = 400
TRACE_CHARS = 2500
_SAFE = (
    *("abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "isinstance", "len", "list", "map"),
    *("max", "min", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip"),
    *("AttributeError", "IndexError", "KeyError", "TypeError", "ValueError", "Exception"),
)
_FORBIDDEN = (ast.Import, ast.ImportFrom, ast.While, ast.Global, ast.Nonlocal, ast.Pow, ast.Mult, ast.LShift)


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape. Pixels from the bottom left corner of the sheet, as in visual programs."""

    colour: str
    shape: str
    left: int
    lower: int
    size: int

    @property
    def name(self) -> str:
        return f"{self.colour} {self.shape}"

    @property
    def box(self) -> tuple[int, int, int, int]:
        """left, lower, right, upper."""
        return self.left, self.lower, self.left + self.size, self.lower + self.size

    @property
    def x(self) -> float:
        return self.left + self.size / 2

    @property
    def y(self) -> float:
        return self.lower + self.size / 2

    def is_a(self, name: str) -> bool:
        """Whether a name fits: `object`, a shape, a colour, or both, also in the plural."""
        tokens = re.findall(r"[a-z]+", name.lower())
        known = [word for word in tokens if word in _KNOWN]
        fits = {self.colour, self.shape, f"{self.shape}s", f"{self.shape}es"}
        return all(word in fits for word in known) if known else bool({"object", "objects"} & set(tokens))


@dataclass(frozen=True, slots=True)
class Scene:
    """The shapes on one sheet, each in a separate cell, so that they do not touch."""

    shapes: tuple[Shape, ...]


def make_scene(chance: random.Random) -> Scene:
    """Two to six shapes, some of them alike, for questions about their number."""
    cells = chance.sample([(x, y) for x in range(4) for y in range(4)], chance.randint(2, 6))
    names = [(chance.choice(COLOURS), chance.choice(SHAPES)) for _ in range(3)]
    return Scene(tuple(_make_shape(cell, chance.choice(names), chance) for cell in cells))


def _make_shape(cell: tuple[int, int], name: tuple[str, str], chance: random.Random) -> Shape:
    size = chance.choice((10, 18))
    left, lower = (place * _CELL + chance.randint(1, _CELL - size - 1) for place in cell)
    return Shape(*name, left, lower, size)


class Part:
    """A rectangle of a scene, with the interface of an image that visual programs use, but without pixels.

    Images are cropped from the top left, so `crop` counts from there.
    """

    def __init__(
        self, scene: Scene, left: int = 0, top: int = 0, right: int = SIDE, bottom: int = SIDE
    ) -> None:
        self.scene, self._left, self._top = scene, left, top
        self.width, self.height = right - left, bottom - top

    def __repr__(self) -> str:
        return f"<image of {self.width} x {self.height}>"

    def crop(self, box: tuple[int, int, int, int]) -> Part:
        left, top, right, bottom = box
        return Part(self.scene, self._left + left, self._top + top, self._left + right, self._top + bottom)

    @property
    def boxed(self) -> list[tuple[Shape, list[float]]]:
        """The shapes whose centre is inside, with their boxes relative to the bottom left of this part."""
        lower = SIDE - self._top - self.height
        found = []
        for shape in self.scene.shapes:
            if 0 <= shape.x - self._left < self.width and 0 <= shape.y - lower < self.height:
                left, low, right, high = shape.box
                sides = left - self._left, low - lower, right - self._left, high - lower
                found.append((shape, [float(side) for side in sides]))
        return found


class Perception:
    """The services of a visual program, answered from the scene. blindness: the share of shapes that are not found.

    The same shapes are missed by every program about a scene.
    """

    def __init__(self, blindness: float = 0.0) -> None:
        self._blindness = blindness

    def find(self, part: Part, name: str) -> list[list[float]]:
        """Boxes in an arbitrary order, as by the score of a detector."""
        found = [
            (shape, box) for shape, box in part.boxed if shape.is_a(name) and self._sees(shape, part.scene)
        ]
        found.sort(key=lambda pair: random.Random(f"{pair[0]}").random())
        return [[*box, 0.9] for _, box in found]

    def simple_query(self, part: Part, question: str) -> str:
        match_ = _QUESTION.match(question.strip())
        kind = match_[1].lower() if match_ else "what shape"
        shapes = [shape for shape, _ in part.boxed if shape.is_a(f"{question} object")]
        match kind:
            case "how many":
                return str(len(shapes))
            case "is this" | "is there":
                return "yes" if shapes else "no"
            case "what shape":
                return shapes[0].shape if shapes else "unknown"
        return shapes[0].colour if shapes else "unknown"

    def match(self, part: Part, texts: list[str]) -> list[float]:
        shapes = [shape for shape, _ in part.boxed]
        return [float(sum(_fit(shape, text) for shape in shapes)) for text in texts]

    def verify(self, part: Part, name: str, property: str) -> None:  # noqa: A002
        """Left to `match`, as with a network that scores texts."""

    def _sees(self, shape: Shape, scene: Scene) -> bool:
        return random.Random(f"{shape} {scene}").random() >= self._blindness


def _fit(shape: Shape, text: str) -> int:
    tokens = set(re.findall(r"[a-z]+", text.lower()))
    return (shape.colour in tokens) + (shape.shape in tokens)


class Interpreter:
    """Runs programs with one perception. Not thread-safe: it uses sys.settrace."""

    def __init__(self, perception: Perception) -> None:
        self.api: dict[str, Any] = {"host": perception}
        exec(compile(load("vdebugger/image_patch.py"), "image_patch.py", "exec"), self.api)
        self.api["CROP_MARGIN_PX"] = 0  # shapes are close together
        builtins = sys.modules["builtins"].__dict__
        self._safe = {name: builtins[name] for name in _SAFE}

    def run(self, scene: Scene, program: str, form: FormName) -> tuple[Executed, str | None]:
        """The execution, and the answer; None if there is none."""
        problem = _find_problem(program)
        if problem is not None:
            return Executed(None, None, problem), None
        code = compile(program, "<program>", "exec")
        names = {**self.api, "__builtins__": self._safe}
        exec(code, names)
        steps = _Tracer(names[FUNCTION].__code__, program.splitlines())
        try:
            value = steps.watch(names[FUNCTION], Part(scene))
        except Exception as error:  # noqa: BLE001 - any exception of a program is its result
            return self._make_executed(steps, form, None, f"{type(error).__name__}: {error}"[:300]), None
        returned = read_returned(self.api["answer_as_plain_values"](value))
        return self._make_executed(steps, form, returned.text, None), _answer(returned, form)

    def _make_executed(
        self, steps: _Tracer, form: FormName, result: str | None, error: str | None
    ) -> Executed:
        text = trace_text(Trace(tuple(steps.events), len(steps.events)), FORMS[form].signature)
        return Executed(result, shorten(text, TRACE_CHARS), error)


def _answer(returned: Returned, form: FormName) -> str | None:
    try:
        return answer_of(returned, form, SIDE, "bottom-left")
    except FormatError:
        return None


def _find_problem(program: str) -> str | None:
    """Why a program is refused; None if it can run."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"[:200]
    nodes = list(ast.walk(tree))
    reached = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    reached += [node.id for node in nodes if isinstance(node, ast.Name)]
    if any(name.startswith("_") for name in reached) or any(isinstance(node, _FORBIDDEN) for node in nodes):
        return "SyntaxError: the program uses a feature that is not allowed"
    is_one = (
        len(tree.body) == 1 and isinstance(tree.body[0], ast.FunctionDef) and tree.body[0].name == FUNCTION
    )
    return None if is_one else f"SyntaxError: the program is not a single function {FUNCTION}"


class _Tracer:
    """Records one function call line by line, in the format of the sandbox's tracer."""

    def __init__(self, code: CodeType, lines: list[str]) -> None:
        self.events: list[TraceEvent] = []
        self._code, self._lines = code, lines
        self._frame: FrameType | None = None
        self._before: dict[str, str] = {}
        self._raised = False

    def watch(self, function: Any, argument: object) -> Any:
        before = sys.gettrace()
        sys.settrace(self._on_call)
        try:
            return function(argument)
        finally:
            sys.settrace(before)

    def _on_call(self, frame: FrameType, kind: str, argument: Any) -> Any:
        if frame.f_code is not self._code or self._frame is not None:
            return None  # calls that it makes, also recursive ones, are not recorded
        self._frame = frame
        self._record("call", frame, "starting")
        return self._on_event

    def _on_event(self, frame: FrameType, kind: str, argument: Any) -> Any:
        if len(self.events) > MAX_STEPS:
            raise TimeoutError("ran out of time")
        match kind:
            case "line":
                self._raised = False
                self._record("line", frame)
            case "exception":
                self._raised = True
                self._record("exception", frame, value=f"{argument[0].__name__}: {argument[1]}")
            case "return":
                ended = self._raised and argument is None
                self._record("return", frame, value=None if ended else repr(argument))
        return self._on_event

    def _record(self, kind: Any, frame: FrameType, how: Any = "new", value: str | None = None) -> None:
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
