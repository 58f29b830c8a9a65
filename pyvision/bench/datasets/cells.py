"""Read the cells of a dataset: targets, lists and images, in the forms in which datasets write them.

A target is a letter, a number, a list written as text, or a box; an image is a path beside the file, a data URL,
base64, or what the `datasets` library returns.
"""

from __future__ import annotations

import ast
import binascii
import json
import math
import os
import re
import warnings
from base64 import b64decode
from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal, TypeAlias

from pyvision.errors import ImageError
from pyvision.images.read import format_name

TargetForm: TypeAlias = Literal[
    "as_is", "text", "number", "list", "text_or_list", "letter_of_index", "box", "box_by_size"
]
"""as_is: the value unchanged. text_or_list: a list if the text is one. letter_of_index: 0 is A.
box: [left, top, right, bottom], the form of `Sample.target`; box_by_size: [left, top, width, height]; both in pixels
from the top left."""

_EMPTY = ("", "nan", "NaN")  # pandas also takes None, NA and null for empty, but those do occur as options
_VALUE_CHARS = 60  # of a value in a message
_QUOTED = r"""(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")"""
_TEXTS = re.compile(rf"\[\s*(?:{_QUOTED}\s*,?\s*)*\]", re.DOTALL)
_DATA_URL = re.compile(r"data:[\w/+.-]*;base64,")


def read_target(value: Any, form: TargetForm) -> Any:
    """The target in the form of `Sample.target`. Raises ValueError with a readable message."""
    return _READERS[form](value)


def parse_list(value: Any, name: str) -> tuple[Any, ...]:
    """A list, or the list in a text written as JSON, Python or numpy does. Raises ValueError naming the field."""
    if isinstance(value, str):
        value = _parse_list_text(value)
    if not isinstance(value, list | tuple):
        raise ValueError(f"field {name!r} is {format_value(value)}; give a list")
    return tuple(value)


def format_value(value: Any) -> str:
    """A value for a message, on one line and shortened."""
    text = repr(value[: _VALUE_CHARS + 1] if isinstance(value, str | bytes) else value)
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]}…"


def is_empty(value: Any) -> bool:
    """Whether a cell holds no value: None, blank text, or the not-a-number of pandas."""
    return value is None or (isinstance(value, str) and value.strip() in _EMPTY) or value != value  # noqa: PLR0124


def read_images(value: Any, folder: Path, place: str) -> tuple[bytes | Path, ...]:
    """The images of a cell that holds a path or data URL, a list of them, or nothing. Raises ImageError."""
    if is_empty(value):
        return ()
    if isinstance(value, list | tuple):
        return tuple(_read_image(each, folder, place) for each in value)
    return (_read_image(value, folder, place),)


def find_beside(name: str, folder: Path, place: str) -> Path:
    """The absolute path of an image file in or below the folder. Raises ImageError.

    Not covered: symbolic links inside the folder, which are followed.
    """
    quoted = format_name(name)
    if re.match(r"[a-z]+://", name, re.IGNORECASE):
        raise ImageError(
            f"{place}: image {quoted}: URLs are not fetched; download the file and give its path"
        )
    path = Path(os.path.abspath(folder / name))  # noqa: PTH100 - Path.absolute would keep the ..
    if not path.is_relative_to(os.path.abspath(folder)):  # noqa: PTH100
        raise ImageError(
            f"{place}: image {quoted}: is outside of {str(folder)!r}; move the image into that folder"
        )
    try:
        found = path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a NUL
        found = False
    if not found:
        raise ImageError(f"{place}: image {quoted}: there is no such file in {str(folder)!r}; check the path")
    return path


def decode_base64(text: str, place: str) -> bytes:
    """The file that is encoded as base64, with or without the prefix of a data URL. Raises ImageError."""
    start = _DATA_URL.match(text)
    try:
        return b64decode("".join(text[start.end() if start else 0 :].split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageError(f"{place}: image: is not valid base64 ({error}); create the file again") from error


def _read_image(value: Any, folder: Path, place: str) -> bytes | Path:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return decode_base64(value, place) if _DATA_URL.match(value) else find_beside(value, folder, place)
    if isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes):  # `datasets` without decoding
        return bytes(value["bytes"])
    if isinstance(value, Mapping) and isinstance(value.get("path"), str):
        return find_beside(value["path"], folder, place)
    raise ImageError(f"{place}: image {str(value)[:60]!r}: is a {type(value).__name__}; expected a path")


def _parse_list_text(text: str) -> Any:
    """The list, or else the text. numpy writes no commas: Python would read ['a' 'b'] as the single text 'ab'."""
    stripped = text.strip()
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass  # not JSON: more often it is written as Python does
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about backslashes in LaTeX that escape nothing
            if _TEXTS.fullmatch(stripped):
                return [ast.literal_eval(each) for each in re.findall(_QUOTED, stripped, re.DOTALL)]
            return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # literal_eval on arbitrary text
        return text


def _as_is(value: Any) -> Any:
    return value


def _text(value: Any) -> str:
    return str(value)


def _number(value: Any) -> int | float:
    try:
        number = value if isinstance(value, int | float) else float(str(value).replace(",", ""))
        whole = int(number)
    except (ValueError, OverflowError):  # not a number, NaN, infinite
        number, whole = math.nan, 0
    if isinstance(value, bool) or number != number:  # noqa: PLR0124 - a nan is not itself
        raise ValueError(f"target {format_value(value)} is not a number")
    return whole if number == whole else number


def _list(value: Any) -> list[Any]:
    return list(parse_list(value, "target"))


def _text_or_list(value: Any) -> Any:
    found = _parse_list_text(value) if isinstance(value, str) else value
    return list(found) if isinstance(found, list | tuple) else value


def _letter_of_index(value: Any) -> str:
    index = _number(value)
    if index not in range(len(ascii_uppercase)):
        raise ValueError(f"target {format_value(value)} is not the index of an option, from 0 to 25")
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
