"""Mask a span of a program, and find in a refilled program what was put in its place."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from pyvision.errors import FormatError
from pyvision.text import prompts
from pyvision.text.python_source import parse_source
from pyvision.types import Message, Model, Sampling, Text

MASK = "<<<MASKED>>>"  # as in the paper's Figure 11; its authors' code writes <MASKED>


@dataclass(frozen=True, slots=True)
class Masked:
    """A program, canonical, and the span of it that is hidden."""

    program: str
    span: Span

    @property
    def text(self) -> str:
        """The program with the mask in place of the span; several lines collapse to it."""
        return self.before + MASK + self.after

    @property
    def before(self) -> str:
        return self.program[: self.span.start]

    @property
    def after(self) -> str:
        return self.program[self.span.end :]


def mask_somewhere(program: str, chance: random.Random) -> Masked:
    """A candidate of the program chosen evenly, so that windows, of which there are most, are chosen most.

    Raises FormatError where the program does not parse or has no candidate.
    """
    program = canonical(program)
    if MASK in program:
        raise FormatError(f"the program holds {MASK} already")
    spans = candidates(program)
    if not spans:
        raise FormatError(f"nothing in the program can be masked: {program[:60]!r}")
    return Masked(program, chance.choice(spans))


def parse_infill(masked: Masked, answer: str) -> tuple[str, Span]:
    """The program of a refill, canonical, and the span of it that is new: all that stands in the mask's place.

    answer: the whole program as a model wrote it. Raises FormatError where it does not parse, where anything but the
    mask was changed, where nothing was, or where nothing was put in.
    """
    program = canonical(answer)
    if program == masked.program:
        raise FormatError("the refill is what was masked")
    if not (program.startswith(masked.before) and program.endswith(masked.after)):
        raise FormatError("the refill changes more than the mask")
    end = len(program) - len(masked.after)
    if end <= masked.span.start:
        raise FormatError("the refill leaves the mask empty")
    return program, Span(masked.span.start, end, masked.span.kind)


# ---- The places of a program that an error can be put into.
# ----
# ---- VDebugger (arXiv 2406.13444): a span is a stretch of statements, a value or a condition. Columns of `ast`
# ---- are bytes of UTF-8 and spans here are characters, so that a program with `é` in a text is cut where it should be.


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


# ---- Ask a model to fill the mask of a program: one behind an endpoint, or one whose files lie on this machine.


REFILL_TOKENS = 512  # as in the authors' code


def refill_prompt(task: str, masked: Masked, api: str) -> str:
    """What a model is asked."""
    return prompts.render("training/refill.md", api=api, task=task, masked=masked.text, mask=MASK)


def opening_of(task: str, masked: Masked) -> str:
    """How the reply of a local model is begun for it: the fence, the question and, where it is whole, the signature.

    The mask never covers the signature: windows and values lie in the body.
    """
    return f"```python\n# {task}\n{masked.program.splitlines()[0]}\n"


def program_in(reply: str) -> str:
    """The program of a reply: its first fenced block, or all of it where there is no fence."""
    _, fence, rest = reply.partition("```")
    if not fence:
        return reply.strip()
    first, newline, body = rest.partition("\n")
    inside = body if newline and not first.strip().removeprefix("python").strip() else rest
    return inside.partition("```")[0].strip("\n")


class PromptedInfill:
    """Fills masks by an endpoint at temperature 0, one after the other. Raises ModelError.

    api: the functions of visual programs, and worked programs.
    """

    def __init__(self, model: Model, api: str) -> None:
        self._model, self._api = model, api

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
        return [self._fill(task, masked) for task, masked in asked]

    def _fill(self, task: str, masked: Masked) -> str:
        message = Message("user", (Text(refill_prompt(task, masked, self._api)),))
        reply = self._model.complete([message], Sampling(temperature=0.0, max_tokens=REFILL_TOKENS))
        return program_in(reply.text)


def api_and_examples() -> str:
    """The functions of visual programs and all worked programs, as a refiller reads them."""
    from pyvision.strategies.vdebugger.coder import examples_of
    from pyvision.strategies.vdebugger.role_client import api_text
    from pyvision.strategies.vdebugger.task_types import FORMS

    return "\n\n\n".join([api_text(), *(examples_of(form) for form in FORMS)])
