r"""Read the tool calls of models that were trained for other harnesses, and write them as Python.

What is read (`find_calls`), each where it begins a line
* `<tool_call>`, `<tool_calls>`, `<function_call>`, `<function_calls>`, `<tool_use>`, `[TOOL_CALLS]`: JSON with a name
  and arguments (Qwen, Hermes, DeepEyes, Mistral), `<invoke name=…>` (Claude), `<function=…>` (Qwen Coder), `<arg_key>`
  (GLM), or Python. `<invoke>` and `<function>` also stand alone.
* `<grounding>`: a box in fractions of its image (Mini-o3).
* `<python>`, `<execute>`, `<execute_python>`, `<execute_ipython>`, `<tool_code>`, `<code_interpreter>`,
  `<|python_tag|>`: Python.
* A call as bare JSON or in a ```json fence, if it names a tool that is known here.
Calls that follow each other directly run in one cell.

What runs (`write_cell`)
* A tool whose argument is Python: `python`, `code_interpreter`, `execute_code`, and tools with similar names.
* Qwen's and DeepEyes' `image_zoom_in_tool` and `image_rotate_tool`, Pixel Reasoner's `crop_image_normalized`, and tools
  with similar names. A box is in fractions if no side is above 1; in thousandths if it comes with an `img_idx`, as
  Qwen3-VL was trained; else in pixels, of the image as it was shown if the box fits in there, or else of the original.
  The cell prints how the box was read, so that the model can correct it.
* Nothing else. The fault names what was seen, for the message that asks the model for a cell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pyvision.errors import FormatError
from pyvision.text.json_repair import MOST_CHARS, decode_value, number_of
from pyvision.text.python_source import parse_source

SentSizes: TypeAlias = Mapping[str, tuple[int, int, float, float]]
"""Image name -> width and height as it was sent to the model, and their scales against the original."""

_FLAGS = re.IGNORECASE | re.MULTILINE
_CODE_TAGS = "python|execute(?:_i?python)?|tool_code|code_interpreter"
_OPENING = re.compile(
    rf"^[ \t]*(?:<(?P<tag>tool_calls?|function_calls?|tool_use|grounding|{_CODE_TAGS})>"
    r"|(?P<marker>\[TOOL_CALLS\]|<\|python_tag\|>)"
    r"|(?P<element>(?=<function=|<invoke\s+name=))"
    r"|(?P<json>(?:```(?:json|tool_calls?|function_call)?[ \t]*\n\s*)?(?=\{)))",
    _FLAGS,
)
_ENDS = re.compile(
    r"^[ \t]*</?(?:tool_response|interpreter|sandbox_output|answer|code)>|<\|(?:eom_id|eot_id|im_end)\|>",
    _FLAGS,
)
_ELEMENT_END = re.compile(r"(?<=</function>)|(?<=</invoke>)", _FLAGS)
_FENCE_END = re.compile(r"\s*```[ \t]*$", _FLAGS)
_ELEMENT = re.compile(
    r"<(?:invoke\s+name|function)\s*=\s*[\"']?([\w.-]{1,100})[\"']?\s*>(.*?)(?:</(?:invoke|function)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_PARAMETER = re.compile(
    r"<parameter(?:\s+name)?\s*=\s*[\"']?([\w.-]{1,100})[\"']?[^<>]{0,100}>((?:(?!<parameter).)*?)</parameter>",
    re.DOTALL | re.IGNORECASE,
)
_ARGUMENT = re.compile(
    r"<arg_key>\s*([\w.-]{1,100})\s*</arg_key>\s*<arg_value>((?:(?!<arg_key>).)*?)</arg_value>", re.DOTALL
)
_IMAGE = re.compile(r"(?:image_clue|image|img|observation)_(\d{1,4})(?:\.\w+)?\Z", re.IGNORECASE)
_ORIGINALS = {"", "original_image", "original", "image", "input_image"}
_MOST = 8  # places looked at, and calls in one cell
_MOST_NESTED = 3  # objects around the code of a call
_SHOWN_CHARS = 80  # of what was seen, in a fault

_PYTHON_TOOL = re.compile(
    r"(?:_|i?python3?|jupyter|code|execut(?:e|ion|or)|run|interpreter|cell|sandbox|tool)+", re.I
)
_ZOOM_TOOL = re.compile(r"(?:image_)?(?:zoom(?:_in)?|crop)(?:_image)?(?:_normalized)?(?:_tool)?", re.I)
_ROTATE_TOOL = re.compile(r"(?:image_)?rotate(?:_image)?(?:_tool)?", re.I)
_ARGUMENTS_KEYS = ("arguments", "parameters", "args", "input")
_CODE_KEYS = ("code", "source", "script", "python_code", "input", "content", "cell")
_BOX_KEYS = ("bbox_2d", "bbox", "box", "box_2d", "bounding_box", "region")
_INDEX_KEYS = ("img_idx", "image_idx", "image_index")
_IMAGE_KEYS = ("image", "image_name", "image_path", "source")

_ZOOM = """\
def _zoom(name, image, box, x_unit, y_unit, meaning):
    left, top, right, bottom = (round(side * unit) for side, unit in zip(box, (x_unit, y_unit) * 2))
    left, top = min(max(left, 0), image.width - 1), min(max(top, 0), image.height - 1)
    right, bottom = min(max(right, left + 1), image.width), min(max(bottom, top + 1), image.height)
    region = image.crop((left, top, right, bottom))
    scale = max(1, min(8, 1000 // max(region.size)))
    print(f"{name}, {image.width} x {image.height} pixels: box {box} read as {meaning},")
    print(f"which is crop(({left}, {top}, {right}, {bottom})), enlarged {scale} times")
    display(region.resize((region.width * scale, region.height * scale)))
"""


@dataclass(frozen=True, slots=True)
class Python:
    """A call whose argument is Python."""

    code: str


@dataclass(frozen=True, slots=True)
class Zoom:
    """A call for a region of an image. thousandths: whether the box is in these, or else in pixels or fractions."""

    image: str
    box: tuple[float, float, float, float]
    thousandths: bool = False


@dataclass(frozen=True, slots=True)
class Rotate:
    """A call for an image turned clockwise."""

    image: str
    degrees: float


Call: TypeAlias = Python | Zoom | Rotate


@dataclass(frozen=True, slots=True)
class DialectCalls:
    """text[start:end] in another dialect: what it calls, or the fault for which nothing of it can run.

    closed: whether its end was seen. explicit: whether tags mark it, so that it is meant to run even beside an answer.
    """

    start: int
    end: int
    closed: bool
    explicit: bool
    calls: tuple[Call, ...] = ()
    fault: str | None = None


class _UnclearError(ValueError):
    """What was seen, for the fault."""


def find_calls(text: str) -> DialectCalls | None:
    """The first block in a dialect, with those that follow it directly; a usable one, if there is any."""
    unusable = None
    for number, opening in enumerate(_OPENING.finditer(text)):
        if number == _MOST:
            break
        found = _read_block(text, opening)
        if found is not None and found.calls:
            return _with_following(text, found)
        unusable = unusable or found
    return unusable


def write_cell(calls: tuple[Call, ...], sizes: SentSizes) -> str:
    """The Python that does what the calls mean."""
    parts = [_ZOOM] if any(isinstance(call, Zoom) for call in calls) else []
    return "\n".join([*parts, *(_write(call, sizes) for call in calls)])


def read_call(name: str, arguments: str) -> Call:
    """What a native tool call asks for; its arguments are JSON, or the code itself.

    Raises FormatError with the fault, for the message that asks the model for another call.
    """
    try:
        return _as_call(name, arguments)
    except _UnclearError as unclear:
        raise FormatError(str(unclear)) from None


def _with_following(text: str, block: DialectCalls) -> DialectCalls:
    while block.closed and len(block.calls) < _MOST:
        opening = _OPENING.match(text, len(text) - len(text[block.end :].lstrip()))
        following = _read_block(text, opening) if opening else None
        if following is None or not following.calls:
            break
        block = replace(
            block, end=following.end, closed=following.closed, calls=(*block.calls, *following.calls)
        )
    return block


def _read_block(text: str, opening: re.Match[str]) -> DialectCalls | None:
    """None where the text only looks like a call."""
    kind = str(opening.lastgroup)
    explicit = kind != "json"
    stop, end, closed = _find_end(text, opening)
    content = text[opening.end() : stop][:MOST_CHARS]
    if not content.strip() or (explicit and re.search(r"^<code\b", content, _FLAGS)):
        return None  # code in its own tag, inside of a call, is found as such
    try:
        calls, is_whole = _parse(content, (opening["tag"] or opening["marker"] or kind).lower())
    except _UnclearError as unclear:
        return DialectCalls(opening.start(), end, closed, explicit, fault=str(unclear)) if explicit else None
    return DialectCalls(opening.start(), end, closed or is_whole, explicit, calls)


def _find_end(text: str, opening: re.Match[str]) -> tuple[int, int, bool]:
    """Where the content of a block stops, where the block ends, and whether that was seen."""
    begin = opening.end()
    if opening["json"] is not None:
        value = decode_value(text[begin : begin + MOST_CHARS])
        stop = begin + value[1] if value else len(text)
        fence = _FENCE_END.match(text, stop) if opening["json"].strip() else None
        return stop, fence.end() if fence else stop, value is not None
    if opening["tag"]:
        close = re.compile(rf"</{opening['tag']}\s*>", _FLAGS).search(text, begin)
    else:
        close = _ELEMENT_END.search(text, begin) if opening["element"] is not None else None
    if close:
        return close.start(), close.end(), True
    found = _ENDS.search(text, begin)
    stop = found.start() if found else len(text)
    return stop, stop, found is not None


def _parse(content: str, kind: str) -> tuple[tuple[Call, ...], bool]:
    """The calls, and whether they are complete by themselves. Raises _UnclearError."""
    elements = [
        (name, _parameters(_PARAMETER, body)) for name, body in _ELEMENT.findall(content)
    ] or _read_arguments(content)
    if elements:
        return tuple(_as_call(name, arguments) for name, arguments in elements[:_MOST]), False
    if content.lstrip().startswith(("{", "[")) and (value := decode_value(content.strip())) is not None:
        calls = tuple(_calls_in(value[0], kind))
        if calls:
            return calls, True
    code = _without_fence(content)
    if kind != "json" and _is_python(code):
        return (Python(code),), False
    raise _UnclearError(f"its {_name(kind)} cannot be read: {_shorten(content)!r}")


def _calls_in(value: Any, kind: str) -> Iterator[Call]:
    """The calls in decoded JSON: one, or a list of them, as OpenAI, Hermes or Mini-o3 write them."""
    for item in (value if isinstance(value, list) else [value])[:_MOST]:
        if not isinstance(item, dict):
            raise _UnclearError(f"its {_name(kind)} holds no call: {_shorten(str(item))!r}")
        if kind == "grounding":
            yield _zoom(item)
            continue
        call = item["function"] if isinstance(item.get("function"), dict) else item
        name = call.get("name") or call.get("tool") or call.get("tool_name")
        if not isinstance(name, str):
            raise _UnclearError(f"its {_name(kind)} names no tool: {_shorten(str(item))!r}")
        arguments: Any = next((call[key] for key in _ARGUMENTS_KEYS if key in call), {})
        yield _as_call(name, arguments)


def _read_arguments(content: str) -> list[tuple[str, dict[str, Any]]]:
    """GLM's form: the name of the tool in the first line, then keys and values."""
    arguments = _parameters(_ARGUMENT, content)
    return [(content.split("<", 1)[0].strip(), arguments)] if arguments else []


def _parameters(pattern: re.Pattern[str], body: str) -> dict[str, Any]:
    return {key: value.strip("\n") for key, value in pattern.findall(body)}


def _as_call(name: str, arguments: Any) -> Call:
    plain = name.rsplit(".", 1)[-1].replace("-", "_")
    if _PYTHON_TOOL.fullmatch(plain):
        return Python(_code(plain, arguments))
    if isinstance(arguments, str):
        decoded = decode_value(arguments.strip())
        arguments = decoded[0] if decoded else {}
    if isinstance(arguments, dict) and _ZOOM_TOOL.fullmatch(plain):
        return _zoom(arguments)
    if isinstance(arguments, dict) and _ROTATE_TOOL.fullmatch(plain):
        degrees = number_of(arguments.get("angle", arguments.get("degrees")))
        if degrees is not None:
            return Rotate(_image(arguments), degrees)
    raise _UnclearError(
        f"it calls the tool {_shorten(name)!r}, which does not exist here; write Python instead"
    )


def _code(name: str, arguments: Any) -> str:
    """The Python in the arguments of such a tool, which may be JSON in a string, or the code itself."""
    if isinstance(arguments, str):
        arguments = _decode_arguments(name, arguments)
    code = _first_code(arguments, _MOST_NESTED)
    if not code.strip():
        raise _UnclearError(f"its call of {_shorten(name)!r} holds no code")
    return _without_fence(code)


def _decode_arguments(name: str, arguments: str) -> Any:
    """Arguments that came as text: JSON, or Python that is code."""
    if arguments.lstrip()[:1] not in {"{", '"'}:
        return arguments
    decoded = decode_value(arguments.strip())
    value = decoded[0] if decoded else None
    if isinstance(value, str) and value.lstrip().startswith("{"):  # encoded twice
        value = (decode_value(value.strip()) or (value,))[0]
    if isinstance(value, dict | str):
        return value
    if _is_python(arguments):
        return arguments
    raise _UnclearError(f"the arguments of its call of {_shorten(name)!r} are not valid JSON")


def _first_code(value: Any, levels: int) -> str:
    """The code in a value: a text, a list of lines, or an object that holds either; empty if there is none."""
    match value:
        case str():
            return value
        case list() if all(isinstance(line, str) for line in value):
            return "\n".join(line.rstrip("\n") for line in value)
        case dict() if levels:
            return next((_first_code(value[key], levels - 1) for key in _CODE_KEYS if key in value), "")
        case _:
            return ""


def _zoom(arguments: dict[str, Any]) -> Zoom:
    given = next((arguments[key] for key in _BOX_KEYS if key in arguments), None)
    numbers = [float(number) for number in re.findall(r"-?\d{1,9}(?:\.\d+)?", str(given)[:200])]
    if len(numbers) != 4 or not (numbers[0] < numbers[2] and numbers[1] < numbers[3]):
        way = "write display(image_clue_0.crop((left, top, right, bottom)))"
        raise _UnclearError(f"its box {_shorten(str(given))!r} is not [left, top, right, bottom]; {way}")
    left, top, right, bottom = numbers
    in_thousandths = any(key in arguments for key in _INDEX_KEYS) and 1 < max(numbers) <= 1000
    return Zoom(_image(arguments), (left, top, right, bottom), in_thousandths)


def _image(arguments: dict[str, Any]) -> str:
    """The image that is meant: by its index, by its name, or the first one. Pixel Reasoner counts from 1."""
    index = next((number_of(arguments[key]) for key in _INDEX_KEYS if key in arguments), None)
    if index is None and (target := number_of(arguments.get("target_image"))):
        index = target - 1
    if index is not None and 0 <= index < 10_000:
        return f"image_clue_{index:.0f}"
    name = str(next((arguments[key] for key in _IMAGE_KEYS if key in arguments), ""))
    if name.lower() in _ORIGINALS:
        return "image_clue_0"
    found = _IMAGE.search(name)
    if not found:
        raise _UnclearError(
            f"it names the image {_shorten(name)!r}; the images are image_clue_0, image_clue_1, …"
        )
    return f"image_clue_{found[1]}"


def _write(call: Call, sizes: SentSizes) -> str:
    match call:
        case Python(code=code):
            return code
        case Zoom(image=image, box=box):
            x_unit, y_unit, meaning = _unit(call, sizes.get(image))
            sides = ", ".join(f"{side:g}" for side in box)
            return f'_zoom("{image}", {image}, [{sides}], {x_unit}, {y_unit}, "{meaning}")'
        case Rotate(image=image, degrees=degrees):
            statement = f'print("{image}, turned clockwise by {degrees:g} degrees")'
            return f"{statement}\ndisplay({image}.rotate({-degrees:g}, expand=True))"


def _unit(zoom: Zoom, size: tuple[int, int, float, float] | None) -> tuple[str, str, str]:
    """What one step of the box is in pixels of the original, on each axis, and how the box was read."""
    width, height = f"{zoom.image}.width", f"{zoom.image}.height"
    if max(zoom.box) <= 1:
        return width, height, "fractions of the image"
    if zoom.thousandths:
        return f"{width} / 1000", f"{height} / 1000", "thousandths of the image"
    if size is not None and (size[2], size[3]) != (1.0, 1.0):
        shown_width, shown_height, x_scale, y_scale = size
        if zoom.box[2] <= shown_width and zoom.box[3] <= shown_height:
            meaning = f"pixels of the copy that you saw, {shown_width} x {shown_height}"
            return f"1 / {x_scale:.6g}", f"1 / {y_scale:.6g}", meaning
    return "1", "1", "pixels of the image"


def _is_python(code: str) -> bool:
    """Whether it parses and does something: prose between tags is sometimes valid Python too."""
    try:
        tree = parse_source(code)
    except SyntaxError:
        return False
    effects = (ast.Call, ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Attribute, ast.Subscript)
    return any(isinstance(node, effects) for node in ast.walk(tree))


def _without_fence(code: str) -> str:
    lines = code.strip().split("\n")
    if not lines[0].startswith(("```", "~~~")):
        return code.strip("\n")
    return "\n".join(lines[1:-1] if lines[-1].strip() in ("```", "~~~") else lines[1:])


def _name(kind: str) -> str:
    return {"json": "JSON", "element": "tool call"}.get(
        kind, kind if kind.startswith(("[", "<")) else f"<{kind}>"
    )


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
