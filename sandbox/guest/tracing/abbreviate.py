"""Any value as one short line, in bounded time, for a trace.

Short values are described by `repr`, without addresses; long ones are cut in the middle. Images, arrays and tables are
described by their size, functions and modules by their name. Code of the cell or of a library is called only for
unknown types: for a short time per value, and for one second in total.
Not covered: such code that runs in C for long, or that catches every exception; a cell only delays itself with it.
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

CONSTANTS = (type(None), bool, int, float, complex, str, bytes)  # the text of the same object never changes
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")
_LEVELS = 20
_VISITS = 2_000  # values visited for one text
_LONG_TEXT = 10_000
_LARGE_SET = 10_000  # a set can only be read from its front
_FEW_ELEMENTS = 64
_ONE_VALUE_S, _TOTAL_S = 0.05, 1.0
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
    """Describing a value took too long. Not an Exception, so that the code of the value does not catch it."""


class Abbreviation:
    """Texts of at most `max_chars`. An exception of a value's own code is described, except KeyboardInterrupt."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._spent_s = 0.0
        self._has_timer = False
        self._visits = 0
        self._open: list[int] = []  # the containers around the current value

    def of(self, value: object) -> str:
        """The `repr` of a value."""
        return self._describe_safely("repr", self._text, value)

    def of_error(self, error: BaseException) -> str:
        """The last line of a traceback for an exception."""
        return self._describe_safely("str", lambda each: self._with_timeout(self._error, each), error)

    def _describe_safely(self, what: str, describe: Callable[[Any], str], value: object) -> str:
        self._visits, self._open = 0, []
        try:
            return self._abbreviate_text(describe(value))
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
        message = self._call(str, error)
        return f"{name}: {message}" if message else name

    def _abbreviate_text(self, text: str) -> str:
        line = _ADDRESS.sub("", text.replace("\r", "").replace("\n", ""))
        if not line.isascii():
            line = line.encode(errors="backslashreplace").decode()  # half a surrogate pair cannot be sent
        if len(line) <= self._max_chars:
            return line
        left = (self._max_chars - 3) // 2
        return f"{line[:left]}...{line[left + 3 - self._max_chars :]}"

    def _text(self, value: Any) -> str:
        kind = type(value)
        self._visits += 1
        if self._visits > _VISITS or len(self._open) > _LEVELS:
            return "..."
        if kind in CONSTANTS:
            return self._constant(value)
        if kind in _BRACKETS:
            return self._format_items(value, kind)
        return _describe_by_name(value) or self._with_timeout(self._foreign, value)

    def _constant(self, value: Any) -> str:
        if type(value) is int and value.bit_length() > _LONG_TEXT:
            return f"<int of {value.bit_length()} bits>"
        if type(value) in (str, bytes) and len(value) > _LONG_TEXT:
            return repr(value[: self._max_chars] + value[-self._max_chars :])
        return repr(value)

    def _foreign(self, value: object) -> str:
        return _describe_by_size(value) or self._structure(value) or self._call(repr, value)

    def _structure(self, value: Any) -> str | None:
        """Records, and subclasses of containers, unless the cell defines their `repr`."""
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
        inside = self._format_items(value, base)
        if kind is defaultdict:
            return f"defaultdict({self._text(value.default_factory)}, {inside})"
        return f"{kind.__name__}({inside})"

    def _within(self, value: object, again: str, describe: Callable[[], str]) -> str:
        """Describe a container, or return `again` if it contains itself."""
        if id(value) in self._open:
            return again
        self._open.append(id(value))
        try:
            return describe()
        finally:
            self._open.pop()

    def _record(self, value: object, names: Iterable[str]) -> str:
        parts = (f"{name}={self._text(getattr(value, name))}" for name in names)
        return f"{type(value).__qualname__}({', '.join(parts)})"

    def _format_items(self, value: Any, base: type) -> str:
        left, right = _BRACKETS[base]
        if not value and base in (set, frozenset):
            return f"{base.__name__}()"
        if base is tuple and len(value) == 1:
            right = ",)"
        if base is deque and value.maxlen is not None:
            right = f"], maxlen={value.maxlen})"
        return self._within(value, f"{left}...{right}", lambda: f"{left}{self._items(value, base)}{right}")

    def _items(self, value: Any, base: type) -> str:
        """Both ends of a long container, each longer than the part that will be kept."""
        items = value.items() if base is dict else value
        head = self._texts_until_full(items, base)
        rest = len(value) - len(head)
        tail = self._texts_until_full(islice(_reverse(items), rest), base) if rest > 0 else []
        return ", ".join([*head, *reversed(tail)])

    def _texts_until_full(self, items: Iterable[Any], base: type) -> list[str]:
        texts: list[str] = []
        chars = 0
        for item in items:
            text = ": ".join(map(self._text, item)) if base is dict else self._text(item)
            texts.append(text)
            chars += len(text) + 2
            if chars > self._max_chars:
                break
        return texts

    def _call(self, function: Callable[[object], str], value: object) -> str:
        """`repr` or `str` of a value that only its own code can describe, while the total time lasts."""
        if self._spent_s > _TOTAL_S:
            return f"<{type(value).__name__}>"
        started = time.monotonic()
        try:
            text = function(value)
        finally:
            self._spent_s += time.monotonic() - started
        if len(text) > _LONG_TEXT:
            text = text[: self._max_chars] + text[-self._max_chars :]
        return str.__str__(text)  # a subclass of str may override methods

    def _with_timeout(self, describe: Callable[[Any], str], value: object) -> str:
        """Raises _TooSlow if Python code takes too long. Only the main thread can be interrupted this way."""
        if self._has_timer or threading.current_thread() is not threading.main_thread():
            return describe(value)
        rest, interval = signal.setitimer(signal.ITIMER_REAL, 0)
        handler = signal.signal(signal.SIGALRM, _interrupt)
        self._has_timer = True
        signal.setitimer(signal.ITIMER_REAL, _ONE_VALUE_S, _ONE_VALUE_S)
        try:
            return describe(value)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._has_timer = False
            signal.signal(signal.SIGALRM, handler)
            if rest:  # the cell's own alarm
                signal.setitimer(signal.ITIMER_REAL, rest, interval)


def _describe_by_name(value: Any) -> str | None:
    """The text of modules, functions and classes, described by name; None for other values."""
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


def _describe_by_size(value: Any) -> str | None:
    """The text of images, arrays and tables, described by size; recognized without importing their libraries."""
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


def _reverse(items: Any) -> Iterable[Any]:
    if isinstance(items, set | frozenset):
        return reversed(list(items)) if len(items) <= _LARGE_SET else ()
    backwards: Iterable[Any] = reversed(items)
    return backwards


def _interrupt(number: int, frame: FrameType | None) -> None:
    # Not inside our own code, which may be about to stop the timer.
    if frame is not None and frame.f_code.co_filename != __file__:
        raise _TooSlow
