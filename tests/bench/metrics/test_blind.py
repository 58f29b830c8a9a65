"""The seven tasks of VLMsAreBlind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics.blind import task_of
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

# The labels of the dataset XAI/vlmsareblind: seven tasks, nine labels. Their spelling was not verified.
LABELS = {
    "CountingRowsAndColumns": "columns",
    "CountingCircles": "counting",
    "Circled Letter": "letter",
    "Counting Grid - Blank Grids": "grid",
    "Counting Grid - Word Grids": "grid",
    "Line Plot Intersections": "intersection",
    "Nested Squares": "nested",
    "Olympic Counting - Circles": "olympic",
    "Olympic Counting - Pentagons": "olympic",
    "Subway Connections": "subway",
    "Touching Circles": "touching",
}


def of_task(task: str, target: object) -> Sample:
    return sample(target, task=task)


@pytest.mark.parametrize(("label", "task"), LABELS.items())
def test_each_label_is_known_by_its_words(label: str, task: str) -> None:
    assert task_of(of_task(label, 1)) == task
    assert task_of(sample(1, category=label.lower().replace(" ", "_"))) == task


@pytest.mark.parametrize(
    "answer", ["{3}", "3", r"\boxed{3}", "three", "They cross at 3 points", "{1}, no: {3}", "{ 3 }"]
)
@pytest.mark.parametrize("task", ["Nested Squares", "Line Plot Intersections", "Subway Connections"])
def test_a_count_is_in_braces_or_last(task: str, answer: str) -> None:
    assert value("blind", answer, of_task(task, "3")) == 1
    assert value("blind", answer, of_task(task, 4)) == 0


NOTATIONS = (
    "{4}{5}",
    "(4, 5)",
    "4x5",
    "4 × 5",
    "{4},{5}",
    "rows={4} columns={5}",
    "columns: 5, rows: 4",
    "4 rows and 5 columns",
    r"\boxed{4,5}",
    "4 by 5",
    "The grid has rows = 4 and columns = 5.",
    "4,5",
    "**Rows:** 4\n**Columns:** 5",
)


@pytest.mark.parametrize("target", [[4, 5], "4x5", "4,5", "(4, 5)", "4 rows and 5 columns"])
def test_the_size_of_a_grid_is_read_in_any_notation(target: object, subtests: pytest.Subtests) -> None:
    for answer in NOTATIONS:
        with subtests.test(answer=answer):
            assert value("blind", answer, of_task("Counting Grid - Blank Grids", target)) == 1


@pytest.mark.parametrize("answer", ["5x4", "4", "", "{45}", "columns 4, rows 5"])
def test_another_grid_is_wrong(answer: str) -> None:
    assert value("blind", answer, of_task("Counting Grid - Word Grids", [4, 5])) == 0


@pytest.mark.parametrize(
    ("answer", "right"), [("Yes", 1), ("{Yes}", 1), ("yes, they touch", 1), ("No", 0), ("maybe", 0)]
)
def test_circles_touch_or_not(answer: str, right: int) -> None:
    assert value("blind", answer, of_task("Touching Circles", "Yes")) == right


@pytest.mark.parametrize(
    "answer", ["k", "K", "{k}", '"k"', "'K'", "The letter K is circled.", r"\boxed{k}", "It's a k"]
)
def test_the_circled_letter_is_found_whatever_its_case(answer: str) -> None:
    assert value("blind", answer, of_task("Circled Letter", "k")) == 1
    assert value("blind", answer, of_task("Circled Letter", "j")) == 0


def test_an_article_is_no_circled_letter() -> None:
    assert score("blind", "a letter I cannot read", of_task("Circled Letter", "a")).parsed is None
    assert value("blind", "a", of_task("Circled Letter", "a")) == 1


def test_two_letters_give_no_choice() -> None:
    assert score("blind", "k or l", of_task("Circled Letter", "k")).parsed is None


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown task 'chess'; the name must contain one of grid"):
        value("blind", "1", of_task("Chess", 1))


@pytest.mark.parametrize(
    ("task", "target"), [("grid", "many"), ("nested", "x"), ("letter", "ab"), ("touching", "3")]
)
def test_a_target_that_the_task_cannot_have_is_named(task: str, target: str) -> None:
    with pytest.raises(ConfigError, match=f"target '{target}' cannot be scored"):
        value("blind", "1", of_task(task, target))


@given(st.text() | st.text("{}()0123456789x,rowscolumns= "))
def test_any_text_is_scored(answer: str) -> None:
    for task, target in (("grid", [4, 5]), ("nested", 3), ("letter", "k"), ("touching", "yes")):
        assert value("blind", answer, of_task(task, target)) in (0, 1)


@given(st.integers(1, 999), st.integers(1, 999))
def test_any_grid_is_read_as_a_pair(rows: int, columns: int) -> None:
    for form in (f"{{{rows}}}{{{columns}}}", f"({rows}, {columns})", f"{rows}x{columns}"):
        assert value("blind", form, of_task("grid", [rows, columns])) == 1
