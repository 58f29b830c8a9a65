"""Read JSON that a language model wrote: in prose, broken, cut, commented or in Python's notation. Never raises.

`values_in` and `decode_value` fix only what leaves no doubt about the value. `read_value` reads whatever opens with a
bracket, in one pass: every character is read once or twice, whatever the text. Every fix is reported by name. Brackets
nested deeper than 32 levels are skipped.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from pyvision.text.python_source import parse_source

Fix: TypeAlias = Literal[
    "truncated",  # the text ended before its brackets did
    "mismatched_bracket",  # a bracket of the other kind closed it
    "trailing_comma",
    "missing_comma",
    "missing_value",  # a key without a value
    "duplicate_key",  # the last one counts, unless both are lists: those are joined
    "unquoted",  # a key or a text without quotes
    "other_quotes",  # single or typographic ones
    "unescaped_quote",  # a quote inside a text
    "unclosed_text",  # a text that ended with the line
    "comment",
    "python_constant",  # None, True, False
    "stray_text",  # text in an impossible place
    "too_deep",
]

MOST_CHARS = 200_000  # a longer reply is no answer any more
_CERTAIN: frozenset[Fix] = frozenset({"trailing_comma", "other_quotes", "python_constant", "comment"})
_MOST_FAILURES = 200  # each reads to the end of the text: hostile brackets must not take minutes
_MOST_REPAIRED = 20_000  # characters that are read leniently, which is slow: a reply may be hostile
_OPENING = re.compile(r"[\[{]")
_DEPTH = 32
_SPACE = re.compile(r"\s+")
_DOTS = re.compile(r"(?:\.{3,}|…)(?=[\s,}\]]|\Z)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|#(?![0-9a-fA-F]{3})[^\n]*", re.DOTALL)
_SKIPPED = (_SPACE, _COMMENT, _DOTS)
_ENDS_TEXT = r"(?=\s*(?:[,:}\]{\[\"']|//|/\*|\Z)|[ \t]*\n)"
_TEXTS = {
    opening: re.compile(
        rf"{opening}((?:\\[^\n]|(?!{closing}{_ENDS_TEXT})[^\\\n])*)({closing}|\\?(?=\n)|\\?\Z)"
    )
    for opening, closing in (('"', '"'), ("'", "'"), ("“", "[”“]"), ("‘", "[’‘]"))
}
_BARE = re.compile(r"(?:(?!//|/\*)[^,:{}\[\]\"\n])+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][-+]?\d{1,2})?")
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}
_PYTHON: dict[str, Any] = {"True": True, "False": False, "None": None}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^\n]))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CLOSING = {"{": "}", "[": "]"}


def values_in(text: str) -> Iterator[Any]:
    """Every outermost list and object, in order. Of one that is broken or cut short, the whole ones inside of it."""
    text, at, failures, readable = text[:MOST_CHARS], 0, 0, _MOST_REPAIRED
    decoder = json.JSONDecoder()
    while failures < _MOST_FAILURES and (found := _OPENING.search(text, at)):
        start = found.start()
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # no JSON after all, or a tower of brackets
            value, at, fixes = read_value(text[: start + max(readable, 1)], start)
            readable -= at - start
            if not fixes <= _CERTAIN:
                at, failures = start + 1, failures + 1
                continue
        yield value


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


def read_value(text: str, start: int) -> tuple[Any, int, frozenset[Fix]]:
    """The object or list that opens at `start`, the position after it, and the fixes."""
    reader = _Reader(text, start)
    value = reader.container()
    return value, reader.at, frozenset(reader.fixes)


class _Reader:
    """A position in the text, and the fixes made up to it."""

    def __init__(self, text: str, start: int) -> None:
        self.at = start
        self.fixes: set[Fix] = set()
        self._text = text
        self._open: list[str] = []

    def container(self) -> dict[str, Any] | list[Any]:
        opening = self._text[self.at]
        self.at += 1
        self._open.append(opening)
        value = self._object() if opening == "{" else self._list()
        self._open.pop()
        return value

    def _object(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self._ends(is_first=not found):
            if self._peek() in _CLOSING or self._peek() == ":":
                self._stray()
            else:
                self._pair(found)
        return found

    def _pair(self, found: dict[str, Any]) -> None:
        key = self._scalar()
        key = key if isinstance(key, str) else str(key)
        self._skip()
        if self._peek() != ":":
            self.fixes.add("missing_value")
            found.setdefault(key, None)
            return
        self.at += 1
        self._skip()
        if self._peek() in ("", ",", "}", "]"):
            self.fixes.add("missing_value")
            value = None
        else:
            value = self._value()
        if key in found:
            self.fixes.add("duplicate_key")
            if isinstance(found[key], list) and isinstance(value, list):
                value = [*found[key], *value]
        found[key] = value

    def _list(self) -> list[Any]:
        found: list[Any] = []
        while not self._ends(is_first=not found):
            if self._peek() == ":":
                self._stray()
            else:
                found.append(self._value())
        return found

    def _ends(self, *, is_first: bool) -> bool:
        """Skip the commas before the next item, or the bracket if the container ends here."""
        commas = self._commas()
        character = self._peek()
        if commas > (0 if is_first or not character or character in "}]" else 1):
            self.fixes.add("trailing_comma")
        if not character:
            self.fixes.add("truncated")
            return True
        if character in "}]":
            self._close(character)
            return True
        if not commas and not is_first:
            self.fixes.add("missing_comma")
        return False

    def _commas(self) -> int:
        count = 0
        self._skip()
        while self._peek() == ",":
            self.at += 1
            count += 1
            self._skip()
        return count

    def _close(self, bracket: str) -> None:
        """Skip the bracket, unless it closes an outer container, which it then ends as well."""
        if bracket != _CLOSING[self._open[-1]]:
            self.fixes.add("mismatched_bracket")
            outer = [_CLOSING[opening] for opening in self._open[:-1]]
            follows = _SPACE.sub("", self._text[self.at + 1 : self.at + 80])[:1]
            if (
                bracket in outer and follows != outer[-1]
            ):  # otherwise it is a typing mistake, and the outer one ends next
                return
        self.at += 1

    def _value(self) -> Any:
        if self._peek() not in _CLOSING:
            return self._scalar()
        if len(self._open) < _DEPTH:
            return self.container()
        self.fixes.add("too_deep")
        self.at += 1
        return None

    def _scalar(self) -> Any:
        character = self._peek()
        return self._quote(character) if character in _TEXTS else self._bare()

    def _quote(self, quote: str) -> str:
        found = _TEXTS[quote].match(self._text, self.at)
        assert found is not None  # the pattern matches any text after its quote
        self.at = found.end()
        if quote != '"':
            self.fixes.add("other_quotes")
        if not found[2].strip("\\"):
            self.fixes.add("truncated" if self.at == len(self._text) else "unclosed_text")
            return _unescape(found[1].rstrip().rstrip(",}]").rstrip())
        if quote in found[1].replace(f"\\{quote}", ""):
            self.fixes.add("unescaped_quote")
        return _unescape(found[1])

    def _bare(self) -> Any:
        found = _BARE.match(self._text, self.at)
        if found is None:
            self._stray()
            return None
        self.at = found.end()
        word = found[0].strip()
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if word in _PYTHON:
            self.fixes.add("python_constant")
            return _PYTHON[word]
        if _NUMBER.fullmatch(word):
            return float(word) if {".", "e", "E"} & set(word) else int(word)
        self.fixes.add("unquoted")
        return word

    def _stray(self) -> None:
        self.fixes.add("stray_text")
        self.at += 1

    def _skip(self) -> None:
        while found := next(filter(None, (p.match(self._text, self.at) for p in _SKIPPED)), None):
            if found.re is not _SPACE:
                self.fixes.add("comment" if found.re is _COMMENT else "stray_text")
            self.at = found.end()

    def _peek(self) -> str:
        return self._text[self.at : self.at + 1]


def _unescape(body: str) -> str:
    plain = _ESCAPE.sub(_character, body)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _ESCAPED.get(found[2], found[2])
