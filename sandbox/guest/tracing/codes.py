"""What the tracer must know about a code object to record the same events on every Python since 3.11."""

from __future__ import annotations

import dis
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import TypeAlias

_Span: TypeAlias = tuple[int, int, int, int]  # first line, first column, last line, last column
CELL_LEVEL = "<module>"
_CELL_FILE = re.compile(r"<cell (\d{1,9})>")
_MAX_NAMES = 100
# IPython compiles each statement of a cell separately and names it after its line.
_CELL_NAMES = (CELL_LEVEL, "<cell line")
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")  # separate functions on Python 3.11 only
_TRACED_FUNCTIONS = ("<lambda>", "<genexpr>")
_OPTIMIZED = 0x1  # inspect.CO_OPTIMIZED, which class bodies lack
_GENERATOR = 0x20 | 0x80 | 0x200  # inspect.CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
_RETURNING = {"RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR"}
_YIELDING = {"YIELD_VALUE", "RESUME"}  # Python 3.13 is already at the next instruction
_NAME_OPERATIONS = {"LOAD_NAME", "STORE_NAME", "LOAD_GLOBAL", "STORE_GLOBAL"}


@dataclass(frozen=True, slots=True)
class Comprehension:
    """The line of a comprehension, and the names that are local to it while it runs."""

    line: int
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Code:
    """A function of a cell, or one statement at cell level, whose variables are the globals."""

    code: CodeType  # kept alive, so that its id is not reused
    file: str
    cell: int
    function: str
    names: tuple[str, ...]  # the variables to compare
    returning: frozenset[int]  # offsets of instructions
    yielding: frozenset[int]
    comprehensions: dict[int, Comprehension]  # by the offset of an instruction inside the outermost one

    @property
    def is_generator(self) -> bool:
        return not self.is_cell_level and bool(self.code.co_flags & _GENERATOR)

    @property
    def is_cell_level(self) -> bool:
        return self.function == CELL_LEVEL


def analyze(code: CodeType) -> Code | None:
    """Analyze code; None for what is not traced: libraries, class bodies, comprehension functions of Python 3.11."""
    file, name = _CELL_FILE.fullmatch(code.co_filename), code.co_name
    at_cell_level = name.startswith(_CELL_NAMES)
    is_function = bool(code.co_flags & _OPTIMIZED) and (not name.startswith("<") or name in _TRACED_FUNCTIONS)
    if file is None or not (at_cell_level or is_function):
        return None
    comprehensions = _comprehensions(code)
    return Code(
        code,
        file[0],
        int(file[1]),
        CELL_LEVEL if at_cell_level else name,
        (_find_global_names(code) if at_cell_level else _variables(code, comprehensions))[:_MAX_NAMES],
        _offsets(code, _RETURNING),
        _offsets(code, _YIELDING),
        comprehensions,
    )


def _offsets(code: CodeType, operations: set[str]) -> frozenset[int]:
    return frozenset(each.offset for each in dis.get_instructions(code) if _operation(each) in operations)


def _operation(instruction: dis.Instruction) -> str:
    return instruction.opname.removeprefix("INSTRUMENTED_")


def _variables(code: CodeType, comprehensions: Container[int]) -> tuple[str, ...]:
    """The local variables, in their order without comprehensions, which change it since Python 3.12."""
    names = code.co_varnames + code.co_cellvars + code.co_freevars
    if not comprehensions:
        return tuple(dict.fromkeys(names))
    arguments = names[: code.co_argcount + code.co_kwonlyargcount]
    own = [each for each in dis.get_instructions(code) if each.offset not in comprehensions]
    used = [name for each in own for name in _operands(each) if name in names]
    return tuple(dict.fromkeys([*arguments, *used, *names]))


def _operands(instruction: dis.Instruction) -> tuple[object, ...]:
    value = instruction.argval
    return value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()


def _find_global_names(code: CodeType) -> tuple[str, ...]:
    """The globals that a statement names directly, not in functions that it defines, in reading order."""
    found = [each for each in _own_instructions(code) if _operation(each) in _NAME_OPERATIONS]
    found.sort(key=lambda each: _span(each) or (0, 0, 0, 0))
    return tuple(dict.fromkeys(str(each.argval) for each in found))


def _own_instructions(code: CodeType) -> Iterator[dis.Instruction]:
    for each in dis.get_instructions(code):
        yield each
        if _is_comprehension(each):
            yield from _own_instructions(each.argval)


def _is_comprehension(instruction: dis.Instruction) -> bool:
    value = instruction.argval
    return isinstance(value, CodeType) and value.co_name in _COMPREHENSIONS


def _span(instruction: dis.Instruction) -> _Span | None:
    place = instruction.positions
    if place is None or None in place:
        return None
    line, last_line, column, last_column = place
    return line or 0, column or 0, last_line or 0, last_column or 0


def _comprehensions(code: CodeType) -> dict[int, Comprehension]:
    instructions = list(dis.get_instructions(code))
    names: dict[_Span, set[str]] = {}
    for each in instructions:
        inlined = _saves_variable(each)
        if (inlined or _is_comprehension(each)) and (span := _span(each)):
            names.setdefault(span, set()).update([each.argval] if inlined else [])
    outermost = [
        span for span in names if not any(_contains(other, span) for other in names if other != span)
    ]
    return {
        offset: found
        for span in outermost
        for found in [_comprehension(span, names)]
        for offset in _offsets_inside(span, instructions)
    }


def _saves_variable(instruction: dis.Instruction) -> bool:
    """Whether a comprehension saves a variable that it hides. Since Python 3.12 it is inlined into its function."""
    return _operation(instruction) == "LOAD_FAST_AND_CLEAR"


def _comprehension(span: _Span, names: dict[_Span, set[str]]) -> Comprehension:
    inside = (found for other, found in names.items() if _contains(span, other))
    return Comprehension(span[0], frozenset[str]().union(*inside))


def _offsets_inside(span: _Span, instructions: list[dis.Instruction]) -> Iterator[int]:
    """Offsets inside the comprehension. Python 3.13 stores the result before it restores variables: that counts."""
    running = False
    for each in instructions:
        place = _span(each)
        if place is None:
            continue
        if place == span:
            running = _saves_variable(each) or (running and not _operation(each).startswith("STORE_FAST"))
        if _contains(span, place) or (running and span[0] <= place[0] <= span[2]):
            yield each.offset


def _contains(outer: _Span, inner: _Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
