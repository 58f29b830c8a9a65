"""Take from shared cell code only what one method needs, so that a person can read the cell."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pyvision.text.parsing import parse_source


def collect_needed(shared: str, method: str) -> str:
    """The imports, constants and functions of `shared` that `method` uses, directly or through each other."""
    statements = parse_source(shared).body
    names = _used(parse_source(method))
    while grown := {name for s in statements if names & set(_defined(s)) for name in _used(s)} - names:
        names |= grown
    kept = [statement for statement in statements if names & set(_defined(statement))]
    return "".join(_source(shared, statement) for statement in kept).strip()


def _used(tree: ast.AST) -> set[str]:
    """The names that are read and are no variables of the code itself."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - own


def _defined(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in names)
        case ast.Assign(targets=targets):
            yield from (
                node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
            )


def _source(text: str, statement: ast.stmt) -> str:
    """The lines of a statement; a function stands apart from what precedes it."""
    lines = text.splitlines()[statement.lineno - 1 : statement.end_lineno]
    apart = "\n\n" if isinstance(statement, ast.FunctionDef) else ""
    return apart + "\n".join(lines) + "\n"
