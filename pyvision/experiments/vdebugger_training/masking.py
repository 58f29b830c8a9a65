"""Mask a span of a correct program, have a model fill it, and locate the infill in the new program.

VDebugger (arXiv 2406.13444): a span is a stretch of statements, a value or a condition. Columns of `ast` count UTF-8
bytes, spans here count characters: programs with non-ASCII strings are cut in the right place.
"""

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

Kind: TypeAlias = Literal["window", "value", "test"]

MASK = "<<<MASKED>>>"  # as in the paper's Figure 11; its authors' code writes <MASKED>
MAX_WINDOW = 3  # statements
INFILL_TOKENS = 512  # as in the authors' code


@dataclass(frozen=True, slots=True)
class MaskedSpan:
    """The characters start..end of a program, the last exclusive.

    kind: a window of one to three statements · the value of an assignment or a return · the test of an `if`.
    """

    start: int
    end: int
    kind: Kind = "window"

    def of(self, program: str) -> str:
        return program[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Masked:
    """A program in canonical form, and the span of it that is masked."""

    program: str
    span: MaskedSpan

    @property
    def text(self) -> str:
        """The program with the mask in place of the span, also if that has several lines."""
        return self.before + MASK + self.after

    @property
    def before(self) -> str:
        return self.program[: self.span.start]

    @property
    def after(self) -> str:
        return self.program[self.span.end :]


def canonical(program: str) -> str:
    """The program as `ast.unparse` writes it: without comments, in a uniform style. Raises FormatError."""
    return ast.unparse(_parse(program))


def mask_somewhere(program: str, chance: random.Random) -> Masked:
    """Mask a candidate span, chosen uniformly; most candidates are windows.

    Raises FormatError if the program does not parse or has no candidate.
    """
    program = canonical(program)
    if MASK in program:
        raise FormatError(f"the program already contains {MASK}")
    spans = candidates(program)
    if not spans:
        raise FormatError(f"nothing in the program can be masked: {program[:60]!r}")
    return Masked(program, chance.choice(spans))


def candidates(program: str) -> tuple[MaskedSpan, ...]:
    """Every span that may be masked, in the order of `ast.walk`, without duplicates. Raises FormatError.

    Excluded, as the authors' code intends: windows and values that create the patch of the whole image
    (`X = ImagePatch(...)`), the value None, and windows within an `else`.
    """
    locator = _Locator(program)
    found = (span for node in ast.walk(_parse(program)) for span in _spans(node, locator))
    return tuple({(span.start, span.end): span for span in found}.values())


def parse_infill(masked: Masked, answer: str) -> tuple[str, MaskedSpan]:
    """The infilled program in canonical form, and the span that replaced the mask.

    answer: the whole program as a model wrote it. Raises FormatError if it does not parse, if it changes more than the
    mask, if it changes nothing, or if it leaves the mask empty.
    """
    program = canonical(answer)
    if program == masked.program:
        raise FormatError("the infill equals the masked code")
    if not (program.startswith(masked.before) and program.endswith(masked.after)):
        raise FormatError("the infill changes more than the mask")
    end = len(program) - len(masked.after)
    if end <= masked.span.start:
        raise FormatError("the infill is empty")
    return program, MaskedSpan(masked.span.start, end, masked.span.kind)


class PromptedInfill:
    """Fills masks with a model behind an endpoint, at temperature 0, one at a time. Raises ModelError.

    api: the functions of visual programs, and example programs.
    """

    def __init__(self, model: Model, api: str) -> None:
        self._model, self._api = model, api

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
        return [self._fill(task, masked) for task, masked in asked]

    def _fill(self, task: str, masked: Masked) -> str:
        message = Message("user", (Text(render_infill_prompt(task, masked, self._api)),))
        reply = self._model.complete([message], Sampling(temperature=0.0, max_tokens=INFILL_TOKENS))
        return extract_program(reply.text)


def render_infill_prompt(task: str, masked: Masked, api: str) -> str:
    """The request to fill the mask."""
    return prompts.render("vdebugger/infill.md", api=api, task=task, masked=masked.text, mask=MASK)


def reply_prefix(task: str, masked: Masked) -> str:
    """The start of a local model's reply, written for it: the fence, the question, and the signature.

    The mask never covers the signature, since windows and values are in the body.
    """
    return f"```python\n# {task}\n{masked.program.splitlines()[0]}\n"


def extract_program(reply: str) -> str:
    """The first fenced block of a reply, or the whole reply if it has no fence."""
    _, fence, rest = reply.partition("```")
    if not fence:
        return reply.strip()
    first, newline, body = rest.partition("\n")
    inside = body if newline and not first.strip().removeprefix("python").strip() else rest
    return inside.partition("```")[0].strip("\n")


def api_and_examples() -> str:
    """The functions of visual programs and all example programs, for the infill prompt."""
    from pyvision.strategies.vdebugger.programs import FORMS
    from pyvision.strategies.vdebugger.roles import api_text, examples_of

    return "\n\n\n".join([api_text(), *(examples_of(form) for form in FORMS)])


def _parse(program: str) -> ast.Module:
    try:
        return parse_source(program)
    except SyntaxError as error:
        raise FormatError(f"the program does not parse ({error.msg}): {program[:60]!r}") from error


class _Locator:
    """Converts the lines and byte columns of `ast` to character offsets."""

    def __init__(self, program: str) -> None:
        self._lines = program.encode("utf-8", errors="surrogatepass").splitlines(keepends=True)
        self._starts = [0, *accumulate(len(_decode(line)) for line in self._lines)]

    def span(self, first: ast.stmt | ast.expr, last: ast.stmt | ast.expr, kind: Kind) -> MaskedSpan:
        return MaskedSpan(
            self._offset(first.lineno, first.col_offset),
            self._offset(last.end_lineno or last.lineno, last.end_col_offset or last.col_offset),
            kind,
        )

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(_decode(self._lines[line - 1][:column]))


def _decode(line: bytes) -> str:
    return line.decode("utf-8", errors="surrogatepass")


def _spans(node: ast.AST, locator: _Locator) -> Iterator[MaskedSpan]:
    body = getattr(node, "body", None)
    if isinstance(body, list) and not isinstance(node, ast.Module):
        yield from _windows(body, locator)
    match node:
        case ast.Assign(value=value) | ast.Return(value=ast.expr() as value) if _can_be_wrong(value):
            yield locator.span(value, value, "value")
        case ast.If(test=test):
            yield locator.span(test, test, "test")


def _windows(body: list[ast.stmt], locator: _Locator) -> Iterator[MaskedSpan]:
    for length in range(1, MAX_WINDOW + 1):
        for start in range(len(body) - length + 1):
            window = body[start : start + length]
            if not any(_creates_patch(inner) for each in window for inner in ast.walk(each)):
                yield locator.span(window[0], window[-1], "window")


def _creates_patch(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and _is_patch(node.value)


def _is_patch(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "ImagePatch"


def _can_be_wrong(value: ast.expr) -> bool:
    is_none = isinstance(value, ast.Constant) and value.value is None
    return not is_none and not _is_patch(value)
