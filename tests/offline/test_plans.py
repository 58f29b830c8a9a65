"""Cells are whole programs, and every family's cells can be built."""

from __future__ import annotations

import ast

import pytest

from pyvision.config.files import data_folder
from pyvision.offline.choice import plan_for
from pyvision.offline.plans import Cell
from pyvision.offline.wording import read_question
from pyvision.text import prompts
from tests.offline.test_choice import TAKEN

CELLS = {
    cell.template: cell
    for questions in TAKEN.values()
    for question in questions
    if (plan := plan_for(read_question(question, images=1))) is not None
    for cell in plan.cells
}


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_cell_is_valid_python_that_ends_with_its_report(name: str) -> None:
    tree = ast.parse(CELLS[name].code)
    names = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "report" in names


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_cell_needs_nothing_but_numpy_matplotlib_and_pillow(name: str) -> None:
    imported = {
        (node.module or "").split(".")[0]
        if isinstance(node, ast.ImportFrom)
        else node.names[0].name.split(".")[0]
        for node in ast.walk(ast.parse(CELLS[name].code))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    own = {"importlib", "shutil", "subprocess", "tempfile"} if name == "text" else set()
    assert imported <= {"colorsys", "json", "math", "pathlib", "matplotlib", "numpy", "PIL"} | own


def test_every_template_belongs_to_a_family() -> None:
    files = {path.stem for path in (data_folder("prompts") / "offline").glob("*.py")}
    assert files == set(CELLS) | {"difference"}


def test_several_images_come_as_a_list() -> None:
    assert Cell("", "difference", (), (0, 1)).code.startswith("pictures = [image_clue_0, image_clue_1]\n")


def test_the_declining_text_renders() -> None:
    assert "because" in prompts.render("offline/declined.md", reason="because", families="none")
