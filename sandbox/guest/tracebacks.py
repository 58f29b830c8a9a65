"""Tracebacks with the frames of cells only, then the exception."""

from __future__ import annotations

import linecache
import traceback
from types import TracebackType

_FRAMES = 8  # an endless recursion has thousands of equal frames
_LINE_CHARS = 300
MESSAGE_CHARS = 20_000


def format_message(error: BaseException) -> str:
    """The message of an exception, cut in the middle: some libraries put all of their data into it."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    half = MESSAGE_CHARS // 2
    return text if len(text) <= MESSAGE_CHARS else f"{text[:half]} … {text[-half:]}"


def cell_name(number: int) -> str:
    return f"<cell {number}>"


def format_lines(etype: type[BaseException], error: BaseException, current: int) -> list[str]:
    """The frames of cells, innermost last. The current cell is `<cell>`, earlier ones have a number."""
    frames = _frames(error.__traceback__, current)
    if isinstance(error, SyntaxError):
        frames += _syntax(error, current)
    if len(frames) > _FRAMES:
        half = _FRAMES // 2
        frames = [*frames[:half], f"  … {len(frames) - 2 * half} more frames", *frames[-half:]]
    head = ["Traceback (most recent call last):"] if frames else []
    return [*head, *frames, *_summary(etype, error)]


def _frames(tb: TracebackType | None, current: int) -> list[str]:
    return [
        _frame(
            _label(code.co_filename, current), line, code.co_name, linecache.getline(code.co_filename, line)
        )
        for frame, line in traceback.walk_tb(tb)
        if (code := frame.f_code).co_filename.startswith("<cell ")
    ]


def _syntax(error: SyntaxError, current: int) -> list[str]:
    file = str(error.filename)
    if not file.startswith("<cell ") or error.lineno is None:
        return []
    return [
        _frame(
            _label(file, current),
            error.lineno,
            "<module>",
            error.text or linecache.getline(file, error.lineno),
        )
    ]


def _label(file: str, current: int) -> str:
    return "<cell>" if file == cell_name(current) else file


def _frame(label: str, line: int, function: str, source: str) -> str:
    return f'  File "{label}", line {line}, in {function}\n    {source.strip()[:_LINE_CHARS]}'


def _summary(etype: type[BaseException], error: BaseException) -> list[str]:
    message = format_message(error)
    summary = f"{etype.__name__}: {message}" if message else etype.__name__
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return (
        [summary]
        if cause is None
        else [summary, f"  (while handling {type(cause).__name__}: {format_message(cause)})"]
    )
