from __future__ import annotations

import ast
import gc
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pyvision.text.python_source import parse_source


def test_code_becomes_a_tree() -> None:
    assert isinstance(parse_source("x = 1").body[0], ast.Assign)


@pytest.mark.parametrize("code", ["x =", "\0", "'\ud800'", "(" * 5_000, "-" * 200_000 + "1"], ids=range(5))
def test_what_has_no_tree_is_a_syntax_error(code: str) -> None:
    with pytest.raises(SyntaxError):
        parse_source(code)


def test_an_invalid_escape_raises_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_source(r"'\d'")


def _let_others_run(*_: object) -> None:
    time.sleep(0)


def test_threads_may_parse_at_the_same_time() -> None:
    code = "\n".join(f"if x:\n    y = [f(a.b[{n}]) for a in {{1: (2, 3)}}]" for n in range(50))
    usual = gc.get_threshold()
    gc.callbacks.append(_let_others_run)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(4) as threads:
            trees = list(threads.map(parse_source, [code] * 40))
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(_let_others_run)
    assert all(len(tree.body) == 50 for tree in trees)


def test_nothing_else_parses_code_by_itself() -> None:
    package = Path(__file__).resolve().parents[2] / "pyvision"
    files = {path.name for path in package.rglob("*.py") if "ast.parse(" in path.read_text(encoding="utf-8")}
    assert files == {"python_source.py"}
