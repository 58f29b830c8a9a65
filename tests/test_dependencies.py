"""Upstream defect 1: packages that the code imports and nobody declared. Here every import has its dependency."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from typing import Any

from tests.test_layers import all_imports, sources

ROOT = Path(__file__).parents[1]
OURS = {"pyvision", "sandbox", "guest"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def read_project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def test_the_libraries_of_cells_are_in_every_installation() -> None:
    project = read_project()
    assert set(project["optional-dependencies"]["guest"]) <= set(project["dependencies"])


def minimal_project() -> dict[str, Any]:
    """What `minimal/metadata.py` takes from the project."""
    found: dict[str, Any] = runpy.run_path(str(ROOT / "minimal" / "metadata.py"))["minimal_project"](
        ROOT / "pyproject.toml"
    )
    return found


def test_the_minimal_distribution_lacks_only_the_libraries_of_cells() -> None:
    project = read_project()
    left_out = set(project["dependencies"]) - set(minimal_project()["dependencies"])
    assert left_out == set(project["optional-dependencies"]["guest"])


def test_the_minimal_distribution_declares_the_fields_that_it_takes() -> None:
    minimal = tomllib.loads((ROOT / "minimal" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(minimal["dynamic"]) == set(minimal_project())


def test_the_minimal_distribution_holds_the_same_files() -> None:
    wheels = [
        tomllib.loads(file.read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
        for file in (ROOT / "pyproject.toml", ROOT / "minimal" / "pyproject.toml")
    ]
    whole = {name: name for name in wheels[0]["packages"]} | wheels[0]["force-include"]
    assert wheels[1]["force-include"] == {f"../{source}": target for source, target in whole.items()}


def test_defect_1_every_imported_package_is_a_declared_dependency() -> None:
    project = read_project()
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name != "dev"}
    lines = [*project["dependencies"], *chain.from_iterable(extras.values())]
    declared = {normal(re.split(r"[<>=!~ \[;]", line, maxsplit=1)[0]) for line in lines}
    modules = {each.of.partition(".")[0] for each in all_imports(sources())}
    foreign = modules - OURS - set(sys.stdlib_module_names)
    owners = packages_distributions()
    undeclared = {
        module for module in foreign if not declared & {normal(name) for name in owners.get(module, [module])}
    }
    assert undeclared == set()
