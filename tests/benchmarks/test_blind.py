from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.blind import Result, main, normal, table

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("answer", "target"),
    [("(7, 8)", "7,8"), ("7 x 8", "(7, 8)"), ("Yes.", "yes"), (" 4 ", "4"), ("7×8", "[7, 8]")],
)
def test_forms_of_one_answer_are_equal(answer: str, target: str) -> None:
    assert normal(answer) == normal(target)


@pytest.mark.parametrize(
    ("answer", "target"), [("(7, 8)", "(8, 7)"), ("14", "4"), ("no", "yes"), ("78", "(7, 8)")]
)
def test_other_answers_are_not(answer: str, target: str) -> None:
    assert normal(answer) != normal(target)


RESULTS = [
    Result("a-1", "discs", "yes", "yes", True, 1, 1.5, ""),
    Result("a-2", "discs", "no", "yes", False, 1, 1.5, ""),
    Result("b-1", "grids", "4", None, False, 0, 0.5, "turn_limit"),
]


def test_the_table_counts_by_category() -> None:
    lines = table(RESULTS).splitlines()
    assert lines[1].split() == ["discs", "2", "1", "50.0%", "2", "3.0"]
    assert lines[3].split() == ["all", "3", "1", "33.3%", "2", "3.5"]


def test_the_table_names_what_was_wrong() -> None:
    lines = table(RESULTS).splitlines()
    assert "a-2: 'yes', not 'no'" in lines[5]
    assert "turn_limit" in lines[6]


@pytest.mark.parametrize("right", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_examples_are_answered_with_code_that_ran(
    right: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of examples/README.md, asked for real; one more, whose target is wrong on purpose."""
    rows = [
        ("lake.jpg", "What is the size of the picture?", "960 x 640"),
        ("shapes.png", "How many red circles are there?", "4"),
        ("table.png", "How many rows and columns are in the table?", "(6, 4)"),
        ("squares.png", "How many squares are there?", "5"),
        ("circles.png", "How many circles are in the image?", "7"),
        ("shapes.png shapes_changed.png", "How many differences are there between the two images?", "1"),
    ]
    rows[right:] = [("squares.png", "How many squares are there?", "6")]
    samples = tmp_path / "samples.jsonl"
    lines = [
        {
            "id": f"{n}",
            "question": question,
            "target": target,
            "images": [str(EXAMPLES / i) for i in images.split()],
        }
        for n, (images, question, target) in enumerate(rows)
    ]
    samples.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    main([str(samples), "--jsonl-out", str(tmp_path / "out.jsonl")])
    results = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [result["right"] for result in results] == [True] * right + [False]
    assert all(result["cells"] > 0 for result in results)
    assert f"{right}: '5', not '6'" in capsys.readouterr().out
