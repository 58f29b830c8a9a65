"""The places of a program that an error can be put into.

VDebugger (arXiv 2406.13444): a span is a stretch of statements, a value or a condition. Columns of `ast`
are bytes of UTF-8 and spans here are characters, so that a program with `é` in a text is cut where it should be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from pyvision.errors import FormatError
from pyvision.text.parsing import parse_source

Kind: TypeAlias = Literal["window", "value", "test"]
LONGEST_WINDOW = 3  # statements


@dataclass(frozen=True, slots=True)
class Span:
    """The characters start..end of a program, the last exclusive.

    kind: a window of one to three statements · the value of an assignment or a return · the test of an `if`.
    """

    start: int
    end: int
    kind: Kind = "window"

    def of(self, program: str) -> str:
        return program[self.start : self.end]


def canonical(program: str) -> str:
    """The program as `ast.unparse` writes it: without comments, one spelling for all. Raises FormatError."""
    return ast.unparse(_parse(program))


def candidates(program: str) -> tuple[Span, ...]:
    """Every span in which an error may be put, in the order of `ast.walk`, each once. Raises FormatError.

    Never a window that makes a patch of the whole picture (`X = ImagePatch(...)`), never such a value nor None, and
    no window within an `else`: this is what the authors' code means to take.
    """
    places = _Places(program)
    found = (span for node in ast.walk(_parse(program)) for span in _spans(node, places))
    return tuple({(span.start, span.end): span for span in found}.values())


def _parse(program: str) -> ast.Module:
    try:
        return parse_source(program)
    except SyntaxError as error:
        raise FormatError(f"the program does not parse ({error.msg}): {program[:60]!r}") from error


class _Places:
    """From the lines and byte columns of `ast` to characters."""

    def __init__(self, program: str) -> None:
        self._lines = program.encode("utf-8", errors="surrogatepass").splitlines(keepends=True)
        self._starts = [0, *accumulate(len(_text(line)) for line in self._lines)]

    def span(self, first: ast.stmt | ast.expr, last: ast.stmt | ast.expr, kind: Kind) -> Span:
        return Span(
            self._place(first.lineno, first.col_offset),
            self._place(last.end_lineno or last.lineno, last.end_col_offset or last.col_offset),
            kind,
        )

    def _place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(_text(self._lines[line - 1][:column]))


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="surrogatepass")


def _spans(node: ast.AST, places: _Places) -> Iterator[Span]:
    body = getattr(node, "body", None)
    if isinstance(body, list) and not isinstance(node, ast.Module):
        yield from _windows(body, places)
    match node:
        case ast.Assign(value=value) | ast.Return(value=ast.expr() as value) if _may_be_wrong(value):
            yield places.span(value, value, "value")
        case ast.If(test=test):
            yield places.span(test, test, "test")


def _windows(body: list[ast.stmt], places: _Places) -> Iterator[Span]:
    for length in range(1, LONGEST_WINDOW + 1):
        for start in range(len(body) - length + 1):
            window = body[start : start + length]
            if not any(_makes_a_patch(inner) for each in window for inner in ast.walk(each)):
                yield places.span(window[0], window[-1], "window")


def _makes_a_patch(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and _is_patch(node.value)


def _is_patch(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "ImagePatch"


def _may_be_wrong(value: ast.expr) -> bool:
    is_none = isinstance(value, ast.Constant) and value.value is None
    return not is_none and not _is_patch(value)
