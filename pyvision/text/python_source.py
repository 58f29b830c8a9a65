"""Parse Python and JSON in what a model wrote, which may hold anything.

JSON is found in prose (`values_in`): models put fences, sentences and half a list around what they were asked for.
"""

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from collections.abc import Iterator
from typing import Any

MOST_CHARS = 200_000  # a longer reply is no answer any more
MOST_SOURCE_CHARS = 32_000  # no thread runs while Python parses: up to 0.1 s, and no cell is as long
_MOST_FAILURES = 200  # each reads to the end of the text: hostile brackets must not take minutes
_OPENING = re.compile(r"[\[{]")

# Neither warnings.catch_warnings nor (seen with 3.11) ast.parse is safe between threads: that one counts its depth for
# the whole interpreter, and raises SystemError when a garbage collection inside it lets another thread count on.
_ONE_AT_A_TIME = threading.Lock()


def parse_source(code: str) -> ast.Module:
    """The syntax tree. Raises SyntaxError for whatever has none: no Python, NUL bytes, surrogates, deep nesting.

    So it does for more than `MOST_SOURCE_CHARS` characters, which are not read.
    """
    if len(code) > MOST_SOURCE_CHARS:
        raise SyntaxError(f"{len(code):,} characters; more than {MOST_SOURCE_CHARS:,} are not read")
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in the model's code is for the kernel to report
        try:
            return ast.parse(code)
        except (RecursionError, MemoryError):
            raise SyntaxError("nested too deeply to read") from None
        except ValueError as error:
            raise SyntaxError(str(error)) from None


def values_in(text: str) -> Iterator[Any]:
    """Every outermost list and object, in order. Of one that was cut short, the whole ones inside of it."""
    text, at, failures = text[:MOST_CHARS], 0, 0
    decoder = json.JSONDecoder()
    while failures < _MOST_FAILURES and (found := _OPENING.search(text, at)):
        try:
            value, at = decoder.raw_decode(text, found.start())
            yield value
        except (ValueError, RecursionError):  # no JSON after all, or a tower of brackets
            at, failures = found.start() + 1, failures + 1


def decode_value(text: str) -> tuple[Any, int] | None:
    """The JSON or Python value at the beginning of a text, and its length; a closing brace may be missing."""
    for candidate in (text, text + "}"):
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(candidate)
            return value, min(end, len(text))
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(parse_source(text).body[0].value), len(text)  # type: ignore[attr-defined]
    except (SyntaxError, ValueError, AttributeError, IndexError, TypeError, RecursionError, MemoryError):
        return None


def number_of(value: Any) -> float | None:
    """A finite number, or None; what JSON says in quotes is one too, true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):  # a whole number of 400 digits
        return None
    return number if abs(number) < 1e12 else None  # infinity and NaN are not
