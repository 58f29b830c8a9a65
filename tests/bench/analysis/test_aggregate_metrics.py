"""Results that are not a mean over rows are in the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.bench.analysis.document import to_markdown
from pyvision.bench.analysis.read_experiment import describe_aggregates, read_experiment, read_results
from pyvision.bench.analysis.report import report
from pyvision.bench.runner import run
from pyvision.bench.samples import Sample
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, source_of


def run_samples(folder: Path, metric: str, samples: list[Sample], says: dict[int, str | Exception]) -> Path:
    run.run(a_plan(folder, source_of(*samples, metric=metric), Knowing(says)), Quiet())
    return folder


def rotations(question: str, first: int) -> list[Sample]:
    """Three rows of one question, asked as numbers from `first` on."""
    return [
        a_sample(first + turn, id=f"{question}#{turn}", target="ABC"[(first + turn) % 3]) for turn in range(3)
    ]


def test_a_question_counts_when_every_rotation_is_right(tmp_path: Path) -> None:
    samples = [*rotations("sky", 0), *rotations("sea", 3)]
    folder = run_samples(tmp_path, "circular", samples, {4: "\\boxed{A}"})
    experiment = read_experiment(folder)
    text = " ".join(to_markdown(report(experiment.results, experiment.subject)).split())
    assert "of 2 questions, right in every rotation of their options: 50.0 %" in text
    assert "| all | 6 | 0 | 83.3 |" in text


def test_infoseek_is_the_harmonic_mean_of_its_splits(tmp_path: Path) -> None:
    samples = [
        a_sample(number, choices=(), target="Paris", metadata={"data_split": f"val_{split}"})
        for number, split in enumerate(["unseen_question", "unseen_question", "unseen_entity"])
    ]
    folder = run_samples(
        tmp_path, "infoseek", samples, dict(enumerate(["\\boxed{Paris}", "\\boxed{Rome}", "\\boxed{Paris}"]))
    )
    assert describe_aggregates("infoseek:official", read_results(folder), samples) == (
        "Harmonic mean of unseen question and unseen entity: 66.7 %.",
    )


@pytest.mark.parametrize("metric", ["choice:exact", "by_sample", None])
def test_other_metrics_are_means_only(metric: str | None) -> None:
    assert describe_aggregates(metric, (), ()) == ()
