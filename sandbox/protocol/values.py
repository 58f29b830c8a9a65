"""Plain values between a cell and the host: JSON with buffers. `guest/host.py` is the other side.

A guest's values are untrusted: `decode` checks every type, size and index, and verifies each image once, however often
a value refers to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sandbox.protocol.figures import FigureReader, measure
from sandbox.protocol.png import InvalidImage
from sandbox.results import Figure

_SPECIAL = ("__bytes__", "__picture__", "__float__", "__int__", "__dict__")
_FLOATS = ("nan", "inf", "-inf")
_PLAIN_INT = 2**53
_HEX_DIGITS = 10_000
_LEVELS = 40
_VALUES = 1_000_000


class NotPlain(Exception):  # noqa: N818 - it says what a value is
    """A value that cannot be transferred. The message is one line."""


class Decoder:
    """Decodes the values of one message. `reader` verifies the images of the cell."""

    def __init__(self, buffers: Sequence[bytes], reader: FigureReader) -> None:
        self._buffers = buffers
        self._reader = reader
        self._pictures: dict[int, Figure] = {}
        self._left = _VALUES
        self.chars = 0  # of text, so far

    def decode(self, value: object, level: int = 0) -> Any:
        """Decode a value. Raises NotPlain for what no well-behaved guest sends, and for an image over the limits."""
        self._left -= 1
        if level > _LEVELS or self._left < 0:
            raise NotPlain(f"nested deeper than {_LEVELS} levels, or more than {_VALUES} values; send less")
        match value:
            case None | bool() | int() | float():
                return value
            case str():
                self.chars += len(value)
                return value
            case list():
                return [self.decode(each, level + 1) for each in value]
            case dict() if len(value) == 1 and (key := next(iter(value))) in _SPECIAL:
                return self._special(str(key), value[key], level)
            case dict():
                return self._dictionary(list(value.items()), level)
        raise NotPlain(f"a value of type {type(value).__name__}")

    def _special(self, kind: str, value: object, level: int) -> Any:
        match kind, value:
            case "__bytes__", int(at):
                return self._buffer(at)
            case "__picture__", int(at):
                return self._picture(at)
            case "__float__", str(text) if text in _FLOATS:
                return float(text)
            case "__int__", str(digits) if len(digits) <= _HEX_DIGITS:
                return _integer(digits)
            case "__dict__", list(pairs):
                return self._dictionary(pairs, level)
        raise NotPlain(f"a malformed {kind.strip('_')}")

    def _dictionary(self, pairs: list[Any], level: int) -> dict[str, Any]:
        found = {}
        for pair in pairs:
            match pair:
                case [str(key), each] | (str(key), each):
                    self.chars += len(key)
                    found[key] = self.decode(each, level + 1)
                case _:
                    raise NotPlain("a malformed dictionary")
        return found

    def _buffer(self, at: int) -> bytes:
        if isinstance(at, bool) or not 0 <= at < len(self._buffers):
            raise NotPlain("a buffer that was not sent")
        return self._buffers[at]

    def _picture(self, at: int) -> Figure:
        data = self._buffer(at)
        if at not in self._pictures:
            try:
                self._pictures[at] = self._reader.read(data)
            except InvalidImage as reason:
                raise NotPlain(f"an image {reason}") from None
        return self._pictures[at]


def encode(value: object, buffers: list[bytes], level: int = 0) -> Any:
    """The JSON for a value of the host; bytes of a PNG or JPEG file are an image. Raises NotPlain."""
    if level > _LEVELS:
        raise NotPlain(f"nested deeper than {_LEVELS} levels")
    match value:
        case None | bool():
            return value
        case int():
            return int(value) if abs(value) < _PLAIN_INT else {"__int__": hex(value)}
        case float():
            return float(value) if math.isfinite(value) else {"__float__": repr(float(value))}
        case str():
            return _text(value)
        case Figure(data=data):
            return {"__picture__": _append_buffer(data, buffers)}
        case bytes() | bytearray():
            kind = "__picture__" if measure(bytes(value)) else "__bytes__"
            return {kind: _append_buffer(bytes(value), buffers)}
        case list() | tuple():
            return [encode(each, buffers, level + 1) for each in value]
        case dict():
            pairs = [[_key(key), encode(each, buffers, level + 1)] for key, each in value.items()]
            return {"__dict__": pairs} if any(key in _SPECIAL for key in value) else dict(pairs)
    raise NotPlain(f"a value of type {type(value).__name__}")


def _append_buffer(data: bytes, buffers: list[bytes]) -> int:
    buffers.append(data)
    return len(buffers) - 1


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotPlain("text with half a surrogate pair") from None
    return str.__str__(value)  # the value of an enum member, not its name


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise NotPlain(f"a dictionary with a key of type {type(key).__name__}")
    return _text(key)


def _integer(digits: str) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        raise NotPlain("a malformed int") from None
