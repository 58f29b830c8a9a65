"""Pictures that the rules were not drawn for: those of benchmarks/data, by the truth their generator gave them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from benchmarks.blind import normal, read_samples
from tests.offline.loop import ask

SAMPLES = Path(__file__).parents[2] / "benchmarks" / "data" / "vlms-are-blind" / "samples.jsonl"


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_nine_in_ten_published_pictures_are_answered_right_by_code_that_ran(every: int) -> None:
    wrong = []
    samples = read_samples(SAMPLES)[::every]
    for sample in samples:
        pictures = [Image.open(image).convert("RGB") for image in sample.images]
        run = ask(sample.question, *pictures)
        if run.answer is None or normal(run.answer) != normal(sample.target) or not run.cells:
            wrong.append((sample.id, run.answer, sample.target))
    assert len(samples) == (29 + every - 1) // every
    assert len(wrong) <= 0.1 * len(samples), wrong
