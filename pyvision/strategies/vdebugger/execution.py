"""Run a program in the question's kernel, traced or plain, and tell what came of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.errors import FormatError, ToolError
from pyvision.images.read import decode
from pyvision.strategies.vdebugger.programs import FUNCTION, FormName, Query, canonical
from pyvision.strategies.vdebugger.trace_format import trace_text
from pyvision.text.prompts import load
from pyvision.types import Observation, Picture, ToolRequest
from sandbox import CellResult, Figure, Trace

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


# ---- What a program returned, and the answer that it makes: checked for the form of the task, never evaluated.


Box: TypeAlias = tuple[float, float, float, float]  # left, lower, right, upper: pixels from the bottom left
Origin: TypeAlias = Literal["top-left", "bottom-left"]
MOST_CHARS = 500  # of an answer
_SHOWN_CHARS = 2000
_SIDE = r"\s*([-+]?\d{1,9}(?:\.\d{1,20})?)"
_PATCH = re.compile(rf"ImagePatch\(left={_SIDE}, right={_SIDE}, upper={_SIDE}, lower={_SIDE},", re.ASCII)


@dataclass(frozen=True, slots=True)
class Returned:
    """A result as plain values. text: its `str`, cut; length: of it uncut. value, box: of a list those of its first."""

    type: str
    text: str
    length: int
    value: bool | int | float | str | None = None
    box: Box | None = None
    is_empty: bool = False  # a list of nothing


def read_returned(told: Any) -> Returned:
    """What the guest's `answer_as_plain_values` sent. It may be anything. Raises FormatError."""
    match told:
        case {"type": str(kind), "text": str(text), "length": int(length)}:
            value, box = told.get("value"), told.get("box")
            return Returned(
                kind[:100],
                text[:_SHOWN_CHARS],
                length,
                value if isinstance(value, bool | int | float | str) else None,
                _box(box),
                told.get("empty") is True,
            )
    raise FormatError("the result cannot be read")


def answer_of(returned: Returned, form: FormName, height: int, origin: Origin = "top-left") -> str:
    """The answer as text; a box as [x1, y1, x2, y2] in pixels. height: of the image. Raises FormatError."""
    if returned.type == "NoneType":
        raise FormatError("the program returned None")
    return _boxed(returned, height, origin) if form == "box" else _word(returned)


def box_in(text: str) -> Box | None:
    """The box of a patch that is written out as `ImagePatch(left=…)`; the text is read, not evaluated."""
    found = _PATCH.search(text)
    if found is None:
        return None
    left, right, upper, lower = map(float, found.groups())
    return _box([left, lower, right, upper])


def _boxed(returned: Returned, height: int, origin: Origin) -> str:
    box = returned.box or box_in(returned.text)
    if box is None:
        raise FormatError(f"the program returned {_render(returned)}, where a patch was asked for")
    left, lower, right, upper = box
    sides = (left, height - upper, right, height - lower) if origin == "top-left" else box
    return f"[{', '.join(_number(side) for side in sides)}]"


def _word(returned: Returned) -> str:
    match returned.value:
        case _ if returned.is_empty:
            return "no"
        case bool(value):
            return "yes" if value else "no"
        case int() | float() as number:
            return _number(number)
        case str(text) if returned.length > MOST_CHARS:
            raise FormatError(f"the program returned a text of {returned.length:,} characters")
        case str(text) if text.strip():
            words = " ".join(text.split())
            return {"true": "yes", "false": "no"}.get(words.lower(), words)
    raise FormatError(f"the program returned {_render(returned)}, where a word or a number was asked for")


def _number(value: float) -> str:
    if isinstance(value, int):
        if abs(value) >= 10**30:
            raise FormatError("the program returned a number of more than 30 digits")
        return str(value)
    if not math.isfinite(value):
        raise FormatError(f"the program returned {value}, which is no number to answer with")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _box(told: Any) -> Box | None:
    match told:
        case [left, lower, right, upper] if all(_is_side(each) for each in told):
            return (left, lower, right, upper) if left < right and lower < upper else None
    return None


def _is_side(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _render(returned: Returned) -> str:
    return f"a {returned.type}: {returned.text[:80]!r}"


# ---- What a program asks of the host, answered by tools: the functions of `host` that image_patch.py names.


TOOLS = ("detect", "vqa", "match", "depth", "llm_qa")


class Usable(Protocol):
    """The part of an Episode that services need."""

    @property
    def tools(self) -> Mapping[str, object]: ...

    def use(self, tool: str, request: ToolRequest) -> Observation: ...


class Services:
    """The functions for the cells of one question."""

    def __init__(self, episode: Usable) -> None:
        self._episode = episode

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        return {
            "find": self.find,
            "simple_query": self.simple_query,
            "match": self.match,
            "depth": self.depth,
            "llm_query": self.llm_query,
        }

    def find(self, image: Figure, name: str) -> list[list[float]]:
        """[left, lower, right, upper, score] of each object, in pixels from the bottom left, best first."""
        picture = _picture(image)
        boxes = self._use("detect", "boxes", ToolRequest(text=str(name), picture=picture))
        try:
            turned = [_from_bottom(box, picture.height) for box in boxes]
        except (TypeError, KeyError, ValueError) as error:
            raise ToolError(f"detect: a box that cannot be read ({error!r})") from None
        return sorted(turned, key=lambda box: -box[4])

    def simple_query(self, image: Figure, question: str) -> str:
        return str(self._use("vqa", "answer", ToolRequest(text=str(question), picture=_picture(image))))

    def match(self, image: Figure, texts: list[str]) -> list[float]:
        """One score a text."""
        request = ToolRequest(picture=_picture(image), options={"texts": [str(text) for text in texts]})
        scores = self._use("match", "scores", request)
        if not isinstance(scores, list | tuple) or len(scores) != len(texts):
            raise ToolError(f"match: {len(texts)} texts were given and not as many scores came back")
        return [float(score) for score in scores]

    def depth(self, image: Figure) -> dict[str, Any]:
        """{"depth": rows from the top}, larger is farther."""
        rows = self._use("depth", "depth", ToolRequest(picture=_picture(image)))
        if not (isinstance(rows, list | tuple) and rows and isinstance(rows[0], list | tuple) and rows[0]):
            raise ToolError("depth: a map without cells came back")
        return {"depth": rows}

    def llm_query(self, query: str, context: str = "", long_answer: bool = True) -> str:  # noqa: FBT001, FBT002
        options = {"context": str(context), "long": bool(long_answer)}
        return str(self._use("llm_qa", "answer", ToolRequest(text=str(query), options=options)))

    def _use(self, tool: str, key: str, request: ToolRequest) -> Any:
        if tool not in self._episode.tools:
            known = ", ".join(self._episode.tools) or "none"
            raise ToolError(f"no tool {tool!r} is set up; there are: {known}")
        observation = self._episode.use(tool, request)
        if observation.error is not None:
            raise ToolError(_name(tool, observation.error))
        if not isinstance(observation.data, Mapping) or key not in observation.data:
            raise ToolError(f"{tool}: what came back holds no {key!r}")
        return observation.data[key]


def _name(tool: str, error: str) -> str:
    return error if error.startswith(f"{tool}:") else f"{tool}: {error}"


def _picture(image: object) -> Picture:
    if not isinstance(image, Figure):
        raise ToolError(f"an image was expected, not a {type(image).__name__}")
    return decode(image.data, "patch")


def _from_bottom(box: Mapping[str, Any], height: int) -> list[float]:
    left, top, right, bottom = (float(box[side]) for side in ("left", "top", "right", "bottom"))
    return [left, height - bottom, right, height - top, float(box.get("score", 0.0))]
