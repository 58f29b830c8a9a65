"""Read a truth as it is written in a dataset: a letter, a list in a text, a box by corner and size."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Callable, Mapping
from string import ascii_uppercase
from typing import Any, Literal, TypeAlias

TargetForm: TypeAlias = Literal[
    "as_is", "text", "number", "list", "text_or_list", "letter_of_index", "box", "box_by_size"
]
"""as_is: whatever the row holds. text_or_list: a list where the text is one. letter_of_index: 0 is A.
box: [left, top, right, bottom], the form of `Sample.target`; box_by_size: [left, top, width, height]; both in pixels
from the top left."""

_SHOWN = 60  # characters of a value in a message
_QUOTED = r"""(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")"""
_TEXTS = re.compile(rf"\[\s*(?:{_QUOTED}\s*,?\s*)*\]", re.DOTALL)


def read_target(value: Any, form: TargetForm) -> Any:
    """The truth in the form that `Sample.target` has. Raises ValueError, in words."""
    return _READERS[form](value)


def parse_list(value: Any, name: str) -> tuple[Any, ...]:
    """A list, or a text that is one as JSON, Python or numpy writes it. Raises ValueError naming the field."""
    if isinstance(value, str):
        value = _list_in(value)
    if not isinstance(value, list | tuple):
        raise ValueError(f"field {name!r} is {format_value(value)}; give a list")
    return tuple(value)


def format_value(value: Any) -> str:
    """A value for a message, on one line, cut when it is long."""
    told = repr(value[: _SHOWN + 1] if isinstance(value, str | bytes) else value)
    return told if len(told) <= _SHOWN else f"{told[:_SHOWN]}…"


def _list_in(text: str) -> Any:
    """The list, or else the text. numpy has no commas: read by Python, ['a' 'b'] would be the one text 'ab'."""
    stripped = text.strip()
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass  # not JSON: Python's way of writing it is more frequent
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a backslash in LaTeX that escapes nothing
            if _TEXTS.fullmatch(stripped):
                return [ast.literal_eval(each) for each in re.findall(_QUOTED, stripped, re.DOTALL)]
            return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # what literal_eval raises on a text
        return text


def _as_is(value: Any) -> Any:
    return value


def _text(value: Any) -> str:
    return str(value)


def _number(value: Any) -> int | float:
    try:
        number = value if isinstance(value, int | float) else float(str(value).replace(",", ""))
        whole = int(number)
    except (ValueError, OverflowError):  # no number; not a number; infinite
        number, whole = math.nan, 0
    if isinstance(value, bool) or number != number:  # noqa: PLR0124 - a nan is not itself
        raise ValueError(f"target {format_value(value)} is no number; give one")
    return whole if number == whole else number


def _list(value: Any) -> list[Any]:
    return list(parse_list(value, "target"))


def _text_or_list(value: Any) -> Any:
    found = _list_in(value) if isinstance(value, str) else value
    return list(found) if isinstance(found, list | tuple) else value


def _letter_of_index(value: Any) -> str:
    index = _number(value)
    if index not in range(len(ascii_uppercase)):
        raise ValueError(
            f"target {format_value(value)} is no place in a list of options; give one from 0 to 25"
        )
    return ascii_uppercase[int(index)]


def _box(value: Any) -> list[float]:
    numbers = [float(_number(number)) for number in parse_list(value, "target")]
    if len(numbers) != 4:
        raise ValueError(f"target has {len(numbers)} numbers; a box has four")
    return numbers


def _box_by_size(value: Any) -> list[float]:
    left, top, width, height = _box(value)
    return [left, top, left + width, top + height]


_READERS: Mapping[TargetForm, Callable[[Any], Any]] = {
    "as_is": _as_is,
    "text": _text,
    "number": _number,
    "list": _list,
    "text_or_list": _text_or_list,
    "letter_of_index": _letter_of_index,
    "box": _box,
    "box_by_size": _box_by_size,
}
