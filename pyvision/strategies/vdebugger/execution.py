"""Run a program in the question's kernel: the host functions that it calls, how it ended, and the value it returned."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.errors import FormatError, ToolError
from pyvision.images.read import decode
from pyvision.strategies.vdebugger.programs import FUNCTION, FormName, Query, canonical
from pyvision.strategies.vdebugger.trace_format import trace_text
from pyvision.text.answers import in_words_of, truth_word
from pyvision.text.boxed_answers import clean_answer
from pyvision.text.prompts import load
from pyvision.types import Observation, Picture, ToolRequest
from sandbox import CellResult, Figure, Trace

Status: TypeAlias = Literal["ok", "error", "timeout", "died", "no_program"]
Box: TypeAlias = tuple[float, float, float, float]  # left, lower, right, upper: pixels from the bottom left
Origin: TypeAlias = Literal["top-left", "bottom-left"]
FUNCTIONS: Mapping[str, str] = {  # tool -> the function on `host` by which image_patch.py uses it
    "detect": "find",
    "vqa": "simple_query",
    "match": "match",
    "verify": "verify",
    "depth": "depth",
    "llm_qa": "llm_query",
}
TOOLS = tuple(FUNCTIONS)
API = "vdebugger/image_patch.py"
COMPILE_ERROR = "Compile Error"  # in place of a trace, as in the published data
_KEPT, _LOOK_CHARS = 50, 200  # failures and looks of a program
_ANSWER_CHARS = 500  # a longer text is not an answer
_SHOWN_CHARS = 2000  # of a returned value
_SIDE = r"\s*([-+]?\d{1,9}(?:\.\d{1,20})?)"
_PATCH = re.compile(rf"ImagePatch\(left={_SIDE}, right={_SIDE}, upper={_SIDE}, lower={_SIDE},", re.ASCII)


@dataclass(frozen=True, slots=True)
class Returned:
    """A result as plain values. text: its `str`, cut; length: that of the uncut text.

    value, box: of a list, those of its first item. is_empty: the result is an empty list.
    """

    type: str
    text: str
    length: int
    value: bool | int | float | str | None = None
    box: Box | None = None
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What a tool answered about an image or a part of it."""

    picture: Picture
    text: str


@dataclass(frozen=True, slots=True)
class Execution:
    """The run of one program. program: its text as it ran. trace: all of its trace as text; empty if not traced.

    error: one line, if there is no result. line: the line of the program that raised the error.
    failures: why functions of the API failed in it. looks: what it asked about parts of the image, in order.
    verified_by: how `verify_property` decided, if it was called. boxes: what it found in whole images: image, label,
    box (left, top, right, bottom in pixels from the top left), score.
    """

    program: str
    status: Status
    returned: Returned | None = None
    error: str | None = None
    line: int | None = None
    trace: str = ""
    steps: Trace | None = None
    failures: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    verified_by: Literal["", "one question each", "ranked texts"] = ""
    boxes: tuple[Mapping[str, Any], ...] = ()

    @property
    def result(self) -> str:
        """What was returned, as a critic reads it."""
        return "None" if self.returned is None else self.returned.text


class Executor:
    """Runs the programs of one question in its kernel; the first cell defines the API.

    crop_margin_px: by how much a crop, and thus every detection, is enlarged on each side.
    """

    def __init__(self, episode: Episode, query: Query, crop_margin_px: int = 10) -> None:
        self._episode = episode
        self._query = query
        self._services = Services(episode)
        self._setup = setup_cell(crop_margin_px)
        self._has_api = False

    def trace(self, program: str) -> Execution:
        """Raises whatever ends the question in a service or the episode: LimitReached, ModelError, ConfigError."""
        return self._run(program, trace=True)

    def run(self, program: str) -> Execution:
        """Without a trace; raises as `trace` does."""
        return self._run(program, trace=False)

    def _run(self, program: str, *, trace: bool) -> Execution:
        checked = canonical(program, self._query.signature)
        if checked.error is not None:
            return Execution(checked.text, "no_program", error=checked.error, trace=COMPILE_ERROR)
        failure = self._define_api()
        if failure is not None:
            return Execution(checked.text, failure.status, error=_error(failure))
        results: list[object] = []
        cell = call_cell(checked.text, self._query.argument)
        self._services.begin()
        result = self._cell(cell, trace=trace, conclude=results.append)
        execution = _execution(checked.text, result, results, self._query.signature)
        failures, looks = tuple(self._services.failures), tuple(self._services.looks)
        boxes = tuple(self._in_images(self._services.boxes))
        verified = self._services.verified_by
        return replace(execution, failures=failures, looks=looks, verified_by=verified, boxes=boxes)

    def _in_images(self, boxes: Iterable[tuple[Picture, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """The boxes that were found in whole images, each with the name of its image; those in crops are left out."""
        for picture, found in boxes:
            for name, image in self._episode.question.named_images:
                if (image.width, image.height) == (picture.width, picture.height):
                    yield {"image": name, **found}
                    break

    def _define_api(self) -> CellResult | None:
        """The result of the setup cell if it failed."""
        if self._has_api:
            return None
        result = self._cell(self._setup)
        self._has_api = result.status == "ok"
        return None if self._has_api else result

    def _cell(
        self, code: str, *, trace: bool = False, conclude: Callable[[object], Any] | None = None
    ) -> CellResult:
        functions = {**self._services.functions, "conclude": conclude} if conclude else {}
        result = self._episode.run(code, trace=trace, functions=functions)
        self._has_api = self._has_api and result.state == "kept"
        return result


class ToolUser(Protocol):
    """The part of an Episode that Services needs."""

    @property
    def tools(self) -> Mapping[str, object]: ...

    def call_tool(self, tool: str, request: ToolRequest) -> Observation: ...


class Services:
    """What image_patch.py calls on `host`, for the cells of one question; tools do the work.

    failures, looks: of the cells since `begin`, at most _KEPT of each.
    """

    def __init__(self, episode: ToolUser) -> None:
        self._episode = episode
        self.begin()

    def begin(self) -> None:
        """Forget failures and looks: another program runs."""
        self.failures: list[str] = []
        self.looks: list[Look] = []
        self.boxes: list[tuple[Picture, dict[str, Any]]] = []
        self.verified_by: Literal["", "one question each", "ranked texts"] = ""

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        return {name: getattr(self, name) for name in FUNCTIONS.values()}

    def find(self, image: Figure, name: str) -> list[list[float]]:
        """[left, lower, right, upper, score] of each object, in pixels from the bottom left, best first."""
        picture = _picture(image)
        boxes = self._use("detect", "boxes", ToolRequest(text=str(name), picture=picture))
        try:
            flipped = [_from_bottom(box, picture.height) for box in boxes]
        except (TypeError, KeyError, ValueError) as error:
            raise ToolError(f"detect: the tool returned an invalid box ({error!r})") from None
        self.boxes = [*self.boxes, *(_as_found(name, box, picture) for box in boxes)][:_KEPT]
        return sorted(flipped, key=lambda box: -box[4])

    def simple_query(self, image: Figure, question: str) -> str:
        return str(self._use("vqa", "answer", ToolRequest(text=str(question), picture=_picture(image))))

    def match(self, image: Figure, texts: list[str]) -> list[float]:
        """One score for each text."""
        request = ToolRequest(picture=_picture(image), options={"texts": [str(text) for text in texts]})
        scores = self._use("match", "scores", request)
        if not isinstance(scores, list | tuple) or len(scores) != len(texts):
            raise ToolError(f"match: the tool did not return one score for each of the {len(texts)} texts")
        return [float(score) for score in scores]

    def verify(self, image: Figure, name: str, property: str) -> bool | None:  # noqa: A002
        """Whether the object has the property; None if a network scores texts, which are to be ranked."""
        tools = self._episode.tools
        if "verify" not in tools or getattr(tools.get("match"), "is_measured", False):
            self.verified_by = "ranked texts"
            return None
        self.verified_by = "one question each"
        request = ToolRequest(str(name), _picture(image), {"property": str(property)})
        return self._use("verify", "holds", request) is True

    def depth(self, image: Figure) -> dict[str, Any]:
        """{"depth": rows from the top}; larger is farther."""
        rows = self._use("depth", "depth", ToolRequest(picture=_picture(image)))
        if not (isinstance(rows, list | tuple) and rows and isinstance(rows[0], list | tuple) and rows[0]):
            raise ToolError("depth: the tool returned an empty map")
        return {"depth": rows}

    def llm_query(self, query: str, context: str = "", long_answer: bool = True) -> str:  # noqa: FBT001, FBT002
        options = {"context": str(context), "long": bool(long_answer)}
        return str(self._use("llm_qa", "answer", ToolRequest(text=str(query), options=options)))

    def _use(self, tool: str, key: str, request: ToolRequest) -> Any:
        if tool not in self._episode.tools:
            known = ", ".join(self._episode.tools) or "none"
            raise ToolError(f"no tool {tool!r} is set up; available tools: {known}")
        observation = self._episode.call_tool(tool, request)
        if observation.error is not None:
            why = _with_tool_name(tool, observation.error)
            self.failures = [*self.failures, why][:_KEPT]
            raise ToolError(why)
        if not isinstance(observation.data, Mapping) or key not in observation.data:
            raise ToolError(f"{tool}: the tool's result has no {key!r}")
        value = observation.data[key]
        if request.picture is not None:
            asked = " ".join(
                [tool, *(str(each) for each in (request.text, *request.options.values()) if each)]
            )
            answer = value if isinstance(value, str) else observation.text or str(value)
            look = Look(request.picture, f"{asked[:_LOOK_CHARS]} -> {answer[:_LOOK_CHARS]}")
            self.looks = [*self.looks, look][:_KEPT]
        return value


def read_returned(value: Any) -> Returned:
    """What `answer_as_plain_values` sent from the kernel, which may be anything. Raises FormatError."""
    match value:
        case {"type": str(kind), "text": str(text), "length": int(length)}:
            plain = value.get("value")
            return Returned(
                kind[:100],
                text[:_SHOWN_CHARS],
                length,
                plain if isinstance(plain, bool | int | float | str) else None,
                _box(value.get("box")),
                value.get("empty") is True,
            )
    raise FormatError("the result cannot be read")


def answer_of(
    returned: Returned, form: FormName, height: int, origin: Origin = "top-left", *, question: str = ""
) -> str:
    """The answer as text; a box as [x1, y1, x2, y2] in pixels. Raises FormatError.

    height: of the image. question: whose wording decides between yes and true.
    """
    if returned.type == "NoneType":
        raise FormatError("the program returned None")
    return _box_answer(returned, height, origin) if form == "box" else _word_answer(returned, question)


def box_in(text: str) -> Box | None:
    """The box of a patch that is written out as `ImagePatch(left=…)`; the text is parsed, not evaluated."""
    found = _PATCH.search(text)
    if found is None:
        return None
    left, right, upper, lower = map(float, found.groups())
    return _box([left, lower, right, upper])


def call_cell(program: str, argument: str) -> str:
    """The cell that runs a program and hands its result to the host; the program starts on line 1."""
    return f"{program}\n\nhost.conclude(answer_as_plain_values({FUNCTION}({argument})))"


def setup_cell(crop_margin_px: int) -> str:
    """The cell that defines the API. It is compiled under a separate name, as traces cover only code of cells."""
    return (
        "import math, re\nfrom typing import Any, Dict, List, Optional, Tuple, Union\n\n"
        f"exec(compile(r'''\n{load(API)}''', 'image_patch.py', 'exec'), globals())\n"
        f"CROP_MARGIN_PX = {crop_margin_px}"
    )


def _execution(program: str, result: CellResult, results: list[object], signature: str) -> Execution:
    trace = trace_text(result.trace, signature) if result.trace else ""
    if result.status != "ok" or not results:
        line = result.error.line if result.error else None
        line = line if line is not None and line <= len(program.splitlines()) else None
        status = "error" if result.status == "ok" else result.status
        return Execution(program, status, None, _error(result), line, trace, result.trace)
    try:
        returned = read_returned(results[-1])
    except FormatError as error:
        return Execution(program, "error", None, str(error), None, trace, result.trace)
    return Execution(program, "ok", returned, None, None, trace, result.trace)


def _error(result: CellResult) -> str:
    if result.status == "timeout":
        return f"ran out of time after {result.seconds:.1f} s"
    if result.error is None:
        return "it ended without a result"
    line = " ".join(f"{result.error.name}: {result.error.message}".split())
    return line if len(line) <= 500 else f"{line[:497]}..."


def _with_tool_name(tool: str, error: str) -> str:
    return error if error.startswith(f"{tool}:") else f"{tool}: {error}"


def _picture(image: object) -> Picture:
    if not isinstance(image, Figure):
        raise ToolError(f"an image was expected, not a {type(image).__name__}")
    return decode(image.data, "patch")


def _as_found(name: str, box: Mapping[str, Any], picture: Picture) -> tuple[Picture, dict[str, Any]]:
    """What was found in which picture: a box in its pixels from the top left."""
    sides = [round(float(box[side]), 1) for side in ("left", "top", "right", "bottom")]
    return picture, {"label": str(name)[:100], "box": sides, "score": float(box.get("score", 0.0))}


def _from_bottom(box: Mapping[str, Any], height: int) -> list[float]:
    left, top, right, bottom = (float(box[side]) for side in ("left", "top", "right", "bottom"))
    return [left, height - bottom, right, height - top, float(box.get("score", 0.0))]


def _box_answer(returned: Returned, height: int, origin: Origin) -> str:
    box = returned.box or box_in(returned.text)
    if box is None:
        raise FormatError(f"the program returned {_render(returned)}; a patch was expected")
    left, lower, right, upper = box
    sides = (left, height - upper, right, height - lower) if origin == "top-left" else box
    return f"[{', '.join(_number(side) for side in sides)}]"


def _word_answer(returned: Returned, question: str) -> str:
    match returned.value:
        case _ if returned.is_empty:
            return truth_word(value=False, question=question)
        case bool(value):
            return truth_word(value=value, question=question)
        case int() | float() as number:
            return _number(number)
        case str() if returned.length > _ANSWER_CHARS:
            raise FormatError(f"the program returned a text of {returned.length:,} characters")
        case str(text) if text.strip():
            return in_words_of(question, clean_answer(" ".join(text.split())) or text.strip())
    raise FormatError(f"the program returned {_render(returned)}; a word or a number was expected")


def _number(value: float) -> str:
    if isinstance(value, int):
        if abs(value) >= 10**30:
            raise FormatError("the program returned a number of more than 30 digits")
        return str(value)
    if not math.isfinite(value):
        raise FormatError(f"the program returned {value}, which is not a finite number")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _box(sides: Any) -> Box | None:
    match sides:
        case [left, lower, right, upper] if all(_is_side(each) for each in sides):
            return (left, lower, right, upper) if left < right and lower < upper else None
    return None


def _is_side(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _render(returned: Returned) -> str:
    return f"a {returned.type}: {returned.text[:80]!r}"
