"""Cells are short programs that import what they need, and every template belongs to a family."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.config.files import data_folder
from pyvision.offline.model import find_plan
from pyvision.offline.modules import pyvision_offline
from pyvision.offline.plans import (
    MODULES,
    CellFindings,
    MeasuredAnswer,
    MeasurementPlan,
    PlannedCell,
    next_step,
    parse_finding,
)
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


CELLS["difference"] = PlannedCell("", "difference", (0, 1))


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


@pytest.mark.parametrize("path", sorted(Path(MODULES).rglob("*.py")), ids=lambda path: path.name)
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


LOOK, OTHER = PlannedCell("", "around"), PlannedCell("", "text")
LOOKS = MeasurementPlan(
    (LOOK, LOOK, LOOK, OTHER),
    lambda found: MeasuredAnswer("", text) if (text := found.text("text")) else None,
)


@pytest.mark.parametrize(
    ("finding", "next_cell"),
    [
        (CellFindings({"text": "STOP", "confident": False}), LOOK),
        (CellFindings({"text": ""}), OTHER),
        (None, OTHER),
    ],
    ids=["it found something", "it found nothing", "it failed"],
)
def test_a_cell_is_repeated_only_if_it_found_something(
    finding: CellFindings | None, next_cell: PlannedCell
) -> None:
    assert next_step(LOOKS, [finding], last_turn=False) is next_cell


def test_the_declining_text_renders() -> None:
    assert "because" in prompts.render("offline/declined.md", reason="because", families="none")


def test_the_last_result_line_counts() -> None:
    finding = parse_finding('RESULT {"count": 1}\nnoise\n RESULT {"count": 2, "confident": true} \nmore')
    assert finding is not None
    assert finding.whole("count") == 2
    assert finding.confident


def test_output_without_a_result_gives_nothing() -> None:
    for output in ("", "RESULT", "RESULT {", "RESULT {count: 1}", "RESULT [1]", 'a RESULT {"count": 1}'):
        assert parse_finding(output) is None


def test_a_value_of_another_type_gives_nothing() -> None:
    finding = CellFindings(
        {"count": "7", "flag": 1, "text": 3, "texts": ["a", 1], "boxes": [[1, 2, 3]], "n": True}
    )
    assert finding.whole("count") is None
    assert finding.whole("n") is None
    assert finding.flag("flag") is None
    assert finding.text("text") is None
    assert finding.texts("texts") is None
    assert finding.boxes("boxes") is None


def test_only_true_is_confident() -> None:
    assert not CellFindings({"confident": "true"}).confident
    assert not CellFindings({"confident": 1}).confident


@given(st.text())
def test_no_output_raises(output: str) -> None:
    parse_finding(output)
    parse_finding(f"RESULT {{{output}}}")


VALUES = st.text() | st.lists(st.text() | st.integers(), max_size=3)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_no_finding_holds_markup(values: dict[str, object]) -> None:
    finding = CellFindings(values)
    for key in values:
        texts = (finding.text(key) or "", *(finding.texts(key) or ()))
        assert not set("".join(texts)) & set("\\{}<>\n")
