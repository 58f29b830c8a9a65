"""Programs: find one in a reply, and write it in the one form in which it is run, traced, criticised and compared."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.task_types import FUNCTION
from pyvision.text.parsing import parse_source
from pyvision.text.replies import without_thinking

MOST_CHARS = 20_000  # a program is a few lines; what is longer is a model that repeats itself
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_HEADER = re.compile(rf"^[ \t]*(?:async )?def {FUNCTION}\b", re.MULTILINE)
_TRAILER = re.compile(r"^[ \t]*(?:# (?:Program is|Correction)\b|-> |--- Trace)", re.MULTILINE)
_MARK = re.compile(r"<<<\s*/?\s*BUG\s*/?\s*>>>", re.IGNORECASE)
_KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # what `ast.parse` raises for a text


@dataclass(frozen=True, slots=True)
class Program:
    """A program as it is run. error: why it is none, in one line; then the text is as it was written."""

    text: str
    error: str | None = None


def program_in(reply: str, signature: str) -> str:
    """The program of a reply: in a fence, or from its `def` on, or the body alone, which gets the signature.

    Marks around a faulty span are taken out, and so is what an echoed prompt leaves behind it. Raises FormatError.
    """
    text = _MARK.sub("", without_thinking(reply.replace("\r\n", "\n")))
    code = _without_trailer(_code(text))
    if len(code) > MOST_CHARS:
        raise FormatError(f"the program has {len(code):,} characters; {MOST_CHARS:,} are enough")
    if _HEADER.search(code):
        return code
    body = f"{signature}\n{textwrap.indent(textwrap.dedent(code), '    ')}"
    if not (code.strip() and _returns(body)):
        raise FormatError(f"the reply holds no function {FUNCTION}")
    return body


def canonical(program: str, signature: str) -> Program:
    """As `ast.unparse` writes it: without comments, one statement a line, the form's signature on the function.

    Of the module only definitions, imports and assignments are kept: what calls the function is not its own to say.
    """
    try:
        tree = parse_source(textwrap.dedent(program))
        tree.body = [each for each in tree.body if isinstance(each, _KEPT)]
        function = next((each for each in tree.body if _is_function(each)), None)
        if not isinstance(function, ast.FunctionDef):
            return Program(program.strip("\n"), f"it defines no function {FUNCTION}")
        _sign(function, signature)
        return Program(ast.unparse(tree))
    except _UNREADABLE as error:
        return Program(program.strip("\n"), f"{type(error).__name__}: {' '.join(str(error).split())}"[:300])


def _code(text: str) -> str:
    fences = [found[2] for found in _FENCE.finditer(text)]
    if fences:
        return next((each for each in fences if _HEADER.search(each)), fences[0])
    header = _HEADER.search(text)
    if header is None:
        return text
    imports = re.search(r"(?:^(?:import|from)\s[^\n]*\n|^\s*\n)*\Z", text[: header.start()], re.MULTILINE)
    before = imports[0].strip() if imports else ""
    return f"{before}\n{_to_its_end(text[header.start() :])}".lstrip("\n")


def _to_its_end(code: str) -> str:
    """A bare program up to the prose that follows it: the longest part, by lines, that is Python."""
    lines = _without_trailer(code).splitlines()
    for end in range(len(lines), 1, -1):
        if _tree("\n".join(lines[:end])) is not None:
            return "\n".join(lines[:end])
        if lines[end - 1].startswith((" ", "\t")):
            break  # its own last line is at fault: the kernel's error is the one to tell
    return "\n".join(lines)


def _without_trailer(code: str) -> str:
    found = _TRAILER.search(code)
    return code[: found.start()] if found else code


def _returns(program: str) -> bool:
    """Whether the one function of a program returns something itself."""
    tree = _tree(program)
    return tree is not None and any(isinstance(each, ast.Return) for each in _own_nodes(tree.body[0]))


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(node)


def _tree(program: str) -> ast.Module | None:
    try:
        return parse_source(textwrap.dedent(program))
    except _UNREADABLE:
        return None


def _is_function(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == FUNCTION


def _sign(function: ast.FunctionDef, signature: str) -> None:
    (model,) = parse_source(f"{signature} pass").body
    assert isinstance(model, ast.FunctionDef)
    if [each.arg for each in function.args.args] == [each.arg for each in model.args.args]:
        function.args, function.returns = model.args, model.returns
