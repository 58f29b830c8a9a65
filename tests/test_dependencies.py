"""Upstream defect 1: packages that the code imports and nobody declared. Here every import has its dependency."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = {"pyvision", "sandbox", "guest"}


def imported(folder: Path) -> Iterator[str]:
    """The top-level modules that the files of a folder import, wherever in the file."""
    for file in set(folder.rglob("*.py")) - set(
        (ROOT / "sandbox" / "escape_tests" / "programs").rglob("*.py")
    ):  # which are data
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                yield node.module.partition(".")[0]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_defect_1_every_imported_package_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name != "dev"}
    lines = [*project["dependencies"], *chain.from_iterable(extras.values())]
    declared = {normal(re.split(r"[<>=!~ \[;]", line, maxsplit=1)[0]) for line in lines}
    modules = {m for folder in ("pyvision", "sandbox") for m in imported(ROOT / folder)}
    foreign = modules - OURS - set(sys.stdlib_module_names)
    owners = packages_distributions()
    undeclared = {
        module for module in foreign if not declared & {normal(name) for name in owners.get(module, [module])}
    }
    assert undeclared == set()
