"""What a program returned, and the answer that it makes: checked for the form of the task, never evaluated."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.task_types import FormName

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
