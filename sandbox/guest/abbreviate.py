"""Any value as one short line, in bounded time, for a trace.

What fits is told as `repr` tells it, but without addresses; what is too long loses its middle. Pictures, arrays and
tables are told by their size, functions and modules by their name. Code of the cell or of a library is asked only
where nothing is known of a type: for a short time each, and until a second of them is spent.
Not covered: such code that works in C for long, or that catches every exception; a cell only delays itself with it.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from itertools import islice
from math import prod
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

CONSTANTS = (type(None), bool, int, float, complex, str, bytes)  # the same object has the same text for ever
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")
_LEVELS = 20
_VISITS = 2_000  # values looked at for one text
_LONG_TEXT = 10_000
_LARGE_SET = 10_000  # a set can only be read from its front
_FEW_ELEMENTS = 64
_ONE_VALUE_S, _ALL_ASKED_S = 0.05, 1.0
_ARRAYS = {("numpy", "ndarray"), ("torch", "Tensor"), ("pandas", "DataFrame"), ("pandas", "Series")}
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    deque: ("deque([", "])"),
}


class _TooSlow(BaseException):
    """Telling a value took too long. No Exception, so that the code of the value does not catch it."""


class Abbreviation:
    """Texts of at most `most_chars`. What a value's own code raises is told, except KeyboardInterrupt."""

    def __init__(self, most_chars: int) -> None:
        self._most = most_chars
        self._asked_s = 0.0
        self._timed = False
        self._visits = 0
        self._open: list[int] = []  # the containers around the value that is being told

    def of(self, value: object) -> str:
        """The `repr` of a value."""
        return self._guarded("repr", self._text, value)

    def of_error(self, error: BaseException) -> str:
        """An exception as the last line of a traceback tells it."""
        return self._guarded("str", lambda each: self._in_time(self._error, each), error)

    def _guarded(self, what: str, tell: Callable[[Any], str], value: object) -> str:
        self._visits, self._open = 0, []
        try:
            return self._cut(tell(value))
        except KeyboardInterrupt:
            raise
        except _TooSlow:
            return f"<{what} of {type(value).__name__} took too long>"
        except BaseException as error:  # noqa: BLE001 - code of the cell runs here, and tracing must not end the cell
            return f"<{what} raised {type(error).__name__}>"

    def _error(self, error: BaseException) -> str:
        kind = type(error)
        known = kind.__module__ in ("__main__", "builtins")
        name = kind.__qualname__ if known else f"{kind.__module__}.{kind.__qualname__}"
        message = self._ask(str, error)
        return f"{name}: {message}" if message else name

    def _cut(self, text: str) -> str:
        line = _ADDRESS.sub("", text.replace("\r", "").replace("\n", ""))
        if not line.isascii():
            line = line.encode(errors="backslashreplace").decode()  # half a surrogate pair cannot be sent
        if len(line) <= self._most:
            return line
        left = (self._most - 3) // 2
        return f"{line[:left]}...{line[left + 3 - self._most :]}"

    def _text(self, value: Any) -> str:
        kind = type(value)
        self._visits += 1
        if self._visits > _VISITS or len(self._open) > _LEVELS:
            return "..."
        if kind in CONSTANTS:
            return self._constant(value)
        if kind in _BRACKETS:
            return self._bracketed(value, kind)
        return _named(value) or self._in_time(self._foreign, value)

    def _constant(self, value: Any) -> str:
        if type(value) is int and value.bit_length() > _LONG_TEXT:
            return f"<int of {value.bit_length()} bits>"
        if type(value) in (str, bytes) and len(value) > _LONG_TEXT:
            return repr(value[: self._most] + value[-self._most :])
        return repr(value)

    def _foreign(self, value: object) -> str:
        return _measured(value) or self._structure(value) or self._ask(repr, value)

    def _structure(self, value: Any) -> str | None:
        """Records, and containers of a type of their own, unless the cell says how they are told."""
        kind = type(value)
        base = next((each for each in kind.__mro__ if each in _BRACKETS), None)
        if _is_of_cell(kind.__repr__):
            return None
        if hasattr(kind, "__dataclass_fields__"):
            fields = [name for name, field in kind.__dataclass_fields__.items() if field.repr]
            return self._within(value, "...", lambda: self._record(value, fields))
        if base is tuple and hasattr(kind, "_fields"):
            return self._within(value, "...", lambda: self._record(value, kind._fields))
        if base is None:
            return None
        inside = self._bracketed(value, base)
        if kind is defaultdict:
            return f"defaultdict({self._text(value.default_factory)}, {inside})"
        return f"{kind.__name__}({inside})"

    def _within(self, value: object, again: str, tell: Callable[[], str]) -> str:
        """What is told of a container, or `again` if it is inside itself."""
        if id(value) in self._open:
            return again
        self._open.append(id(value))
        try:
            return tell()
        finally:
            self._open.pop()

    def _record(self, value: object, names: Iterable[str]) -> str:
        parts = (f"{name}={self._text(getattr(value, name))}" for name in names)
        return f"{type(value).__qualname__}({', '.join(parts)})"

    def _bracketed(self, value: Any, base: type) -> str:
        left, right = _BRACKETS[base]
        if not value and base in (set, frozenset):
            return f"{base.__name__}()"
        if base is tuple and len(value) == 1:
            right = ",)"
        if base is deque and value.maxlen is not None:
            right = f"], maxlen={value.maxlen})"
        return self._within(value, f"{left}...{right}", lambda: f"{left}{self._items(value, base)}{right}")

    def _items(self, value: Any, base: type) -> str:
        """Of a long container both ends, each longer than what will be kept of it."""
        items = value.items() if base is dict else value
        head = self._enough(items, base)
        rest = len(value) - len(head)
        tail = self._enough(islice(_backwards(items), rest), base) if rest > 0 else []
        return ", ".join([*head, *reversed(tail)])

    def _enough(self, items: Iterable[Any], base: type) -> list[str]:
        told: list[str] = []
        chars = 0
        for item in items:
            text = ": ".join(map(self._text, item)) if base is dict else self._text(item)
            told.append(text)
            chars += len(text) + 2
            if chars > self._most:
                break
        return told

    def _ask(self, function: Callable[[object], str], value: object) -> str:
        """`repr` or `str` of a value that only its own code can tell."""
        if self._asked_s > _ALL_ASKED_S:
            return f"<{type(value).__name__}>"
        started = time.monotonic()
        try:
            text = function(value)
        finally:
            self._asked_s += time.monotonic() - started
        if len(text) > _LONG_TEXT:
            text = text[: self._most] + text[-self._most :]
        return str.__str__(text)  # a subclass of str has methods of its own

    def _in_time(self, tell: Callable[[Any], str], value: object) -> str:
        """Raises _TooSlow out of Python code that takes too long. Only the main thread can be interrupted so."""
        if self._timed or threading.current_thread() is not threading.main_thread():
            return tell(value)
        rest, interval = signal.setitimer(signal.ITIMER_REAL, 0)
        handler = signal.signal(signal.SIGALRM, _interrupt)
        self._timed = True
        signal.setitimer(signal.ITIMER_REAL, _ONE_VALUE_S, _ONE_VALUE_S)
        try:
            return tell(value)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._timed = False
            signal.signal(signal.SIGALRM, handler)
            if rest:  # the cell's own alarm
                signal.setitimer(signal.ITIMER_REAL, rest, interval)


def _named(value: Any) -> str | None:
    """What is told by its name."""
    match value:
        case _ if type(value) is ModuleType:
            return f"<module {value.__name__!r}>"
        case _ if type(value) is FunctionType:
            return f"<function {value.__qualname__}>"
        case _ if type(value) is BuiltinFunctionType:
            return f"<built-in function {value.__qualname__}>"
        case _ if type(value) is MethodType:
            return f"<bound method {value.__func__.__qualname__}>"
        case _ if issubclass(type(value), type):
            return type.__repr__(value)
    return None


def _measured(value: Any) -> str | None:
    """What is told by its size, recognised without importing its library."""
    known = {(base.__module__.partition(".")[0], base.__name__) for base in type(value).__mro__}
    if ("PIL", "Image") in known:
        return f"<{type(value).__name__} {value.mode} {value.width}x{value.height}>"
    if not known & _ARRAYS:
        return None
    kind = str(getattr(value, "dtype", ""))
    if prod(value.shape) <= _FEW_ELEMENTS and kind not in ("", "object"):
        return None
    return f"<{type(value).__name__} {'x'.join(map(str, value.shape))} {kind}".rstrip() + ">"


def _is_of_cell(function: object) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith("<cell ")


def _backwards(items: Any) -> Iterable[Any]:
    if isinstance(items, set | frozenset):
        return reversed(list(items)) if len(items) <= _LARGE_SET else ()
    backwards: Iterable[Any] = reversed(items)
    return backwards


def _interrupt(number: int, frame: FrameType | None) -> None:
    # Not out of our own code: it may be about to stop the timer.
    if frame is not None and frame.f_code.co_filename != __file__:
        raise _TooSlow
