"""Cells are short programs that import what they need, and every template belongs to a family."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from pyvision.config.files import data_folder
from pyvision.offline.conversation import Finding
from pyvision.offline.model import find_plan
from pyvision.offline.modules import FOLDER, pyvision_offline
from pyvision.offline.plans import Cell, Found, Plan, next_step
from pyvision.offline.wording import read_question
from pyvision.text import prompts
from tests.offline.test_choice import QUESTIONS

CELLS = {
    cell.template: cell
    for questions in QUESTIONS.values()
    for question in questions
    if (plan := find_plan(read_question(question, images=1))) is not None
    for cell in plan.cells
}


CELLS["difference"] = Cell("", "difference", (0, 1))


def read_imports(code: str) -> list[ast.ImportFrom]:
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_cell_is_short(name: str) -> None:
    assert len(CELLS[name].code.splitlines()) <= 15


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_cell_ends_with_its_report(name: str) -> None:
    last = ast.parse(CELLS[name].code).body[-1]
    assert ast.unparse(last).startswith("report(")


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_cell_imports_only_what_the_package_offers(name: str) -> None:
    (line,) = read_imports(CELLS[name].code)
    assert line.module == "pyvision_offline"
    assert {alias.name for alias in line.names} <= set(pyvision_offline.__all__)


@pytest.mark.parametrize("path", sorted(Path(FOLDER).rglob("*.py")), ids=lambda path: path.name)
def test_the_package_of_the_cells_needs_only_what_every_kernel_has(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {
        node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level
    }
    names |= {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    packages = {name.split(".")[0] for name in names}
    assert packages <= sys.stdlib_module_names | {"matplotlib", "numpy", "PIL"}


def test_every_template_belongs_to_a_family() -> None:
    assert {path.stem for path in (data_folder("prompts") / "offline").glob("*.txt")} == set(CELLS)


def test_a_comparison_gets_both_images() -> None:
    assert "compare_images(image_clue_0, image_clue_1)" in CELLS["difference"].code


LOOK, OTHER = Cell("", "around"), Cell("", "text")
LOOKS = Plan(
    (LOOK, LOOK, LOOK, OTHER), lambda found: Found("", text) if (text := found.text("text")) else None
)


@pytest.mark.parametrize(
    ("finding", "next_cell"),
    [(Finding({"text": "STOP", "confident": False}), LOOK), (Finding({"text": ""}), OTHER), (None, OTHER)],
    ids=["it found something", "it found nothing", "it failed"],
)
def test_a_cell_is_repeated_only_if_it_found_something(finding: Finding | None, next_cell: Cell) -> None:
    assert next_step(LOOKS, [finding], last_turn=False) is next_cell


def test_the_declining_text_renders() -> None:
    assert "because" in prompts.render("offline/declined.md", reason="because", families="none")
