"""The model without a key plays the blind tasks: it understands their questions, and measures what they show."""

from __future__ import annotations

import pytest

from pyvision.bench.metrics import find_metric
from pyvision.bench.synthetic import generate
from tests.bench.synthetic.pictures import open_images
from tests.offline.loop import ask


@pytest.mark.parametrize(
    ("name", "difficulty"),
    [("lines", 0.0), ("lines", 0.5), ("discs", 0.0), ("discs", 1.0), ("squares", 0.5), ("grids", 0.5),
     ("rings", 0.0), ("paths", 0.0)],
)  # fmt: skip
def test_it_answers_a_blind_task_right(name: str, difficulty: float) -> None:
    sample = next(generate(name, 1, 11, difficulty))
    run = ask(sample.text, *open_images(sample))
    assert run.cells
    assert run.answer is not None
    assert find_metric(sample.metadata["metric"])(run.answer, sample).value == 1.0


def test_it_counts_differences() -> None:
    sample = next(each for each in generate("difference", 9, 11, 0.5) if not each.choices)
    assert ask(sample.text, *open_images(sample)).answer == str(sample.target)


@pytest.mark.parametrize("name", ["letter", "needle", "charts", "boxes"])
def test_it_declines_what_it_has_no_rule_for(name: str) -> None:
    sample = next(generate(name, 1, 11, 0.0))
    run = ask(sample.text, *open_images(sample))
    assert run.answer is None
    assert run.cells == ()
