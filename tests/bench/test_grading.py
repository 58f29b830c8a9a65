from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.bench.grading import BY_SAMPLE, Grading, find_grading
from pyvision.bench.regrading import regrade
from pyvision.bench.runner import run
from pyvision.bench.runner.progress import read_running_totals
from pyvision.bench.samples import INFRASTRUCTURE, Record, Sample, Score
from pyvision.bench.store import Store
from pyvision.errors import ConfigError, EndReason, ModelError
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, made, source_of


def record(answer: str | None, end_reason: EndReason = "answered") -> Record:
    return Record("sample 0", 0, "", answer, end_reason)


def fail(answer: str, sample: Sample) -> Score:
    raise ZeroDivisionError(answer)


@pytest.mark.parametrize("reason", sorted(INFRASTRUCTURE))
def test_an_infrastructure_failure_is_unscored_even_with_an_answer(reason: EndReason) -> None:
    assert find_grading("choice").score(record("A", reason), a_sample(0)) == Score(None, reason)


each_fault_of_the_model = pytest.mark.parametrize(
    "reason", ["no_answer", "refused", "truncated", "loop", "turn_limit", "time_limit"]
)


@each_fault_of_the_model
def test_no_answer_is_wrong(reason: EndReason) -> None:
    assert find_grading("choice").score(record(None, reason), a_sample(0)).value == 0.0


@each_fault_of_the_model
def test_the_score_of_no_answer_gives_the_reason(reason: EndReason) -> None:
    score = find_grading("choice").score(record(None, reason), a_sample(0))
    assert score.why == f"no answer: {reason}"


def test_a_metric_that_fails_leaves_the_answer_unscored() -> None:
    score = Grading("broken", fail).score(record("A"), a_sample(0))
    assert score == Score(None, "the metric failed: ZeroDivisionError: A", unscored="the metric failed")


def test_a_metric_without_a_flavour_is_stored_under_its_default_one() -> None:
    assert find_grading("choice").key == "choice:strict"


@pytest.mark.parametrize(("answer", "value"), [("[0, 0, 10, 6]", 1.0), ("[0, 0, 10, 5]", 0.0)])
def test_a_metric_may_have_any_threshold(answer: str, value: float) -> None:
    grading = find_grading("box_accuracy@0.6")
    assert grading.key == "box_accuracy@0.6:vlmevalkit"
    assert grading.score(record(answer), a_sample(0, target=[0, 0, 10, 10], choices=())).value == value


@pytest.mark.parametrize("name", ["nonsense", "choice:nonsense", "box_accuracy@2"])
def test_an_unknown_metric_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match=r"nonsense|'2' is not a threshold"):
        find_grading(name)


def test_each_sample_may_name_its_own_metric() -> None:
    grading = find_grading(None)
    number = a_sample(0, target="2", choices=(), metadata={"metric": "integer"})
    assert grading.key == BY_SAMPLE
    assert grading.score(record("two"), number).value == 1.0
    assert grading.score(record("A"), a_sample(0)).value == 1.0


def regrade_three(folder: Path) -> Knowing:
    """Run three samples, grade them again by another metric, and return the model."""
    model = Knowing({1: "It is \\boxed{(B) two}"})
    run.run(a_plan(folder, made(3), model), Quiet())
    regrade(folder, "choice:vlmevalkit")
    return model


def test_grading_again_asks_the_model_nothing(tmp_path: Path) -> None:
    assert len(regrade_three(tmp_path).asked) == 3


def test_the_metric_of_the_last_grading_is_the_default(tmp_path: Path) -> None:
    regrade_three(tmp_path)
    with Store(tmp_path) as store:
        assert store.default_metric == "choice:vlmevalkit"


def test_grading_again_keeps_the_earlier_scores(tmp_path: Path) -> None:
    regrade_three(tmp_path)
    with Store(tmp_path) as store:
        assert store.metrics() == ("choice:exact", "choice:vlmevalkit")
        assert len(store.scores()) == len(store.scores("choice:exact")) == 3


def test_grading_again_by_the_same_metric_gives_the_same_scores(tmp_path: Path) -> None:
    source = source_of(a_sample(0), a_sample(1, target="C"), metric=None)
    run.run(a_plan(tmp_path, source, Knowing()), Quiet())
    with Store(tmp_path) as store:
        before = dict(store.scores())
    regrade(tmp_path, None)
    with Store(tmp_path) as store:
        assert dict(store.scores()) == before
        assert read_running_totals(store).accuracy == 0.5


def test_a_graded_run_can_be_continued(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(3), Knowing()), Quiet())
    regrade(tmp_path, "choice:strict")
    watcher = Quiet()
    run.run(a_plan(tmp_path, made(3), Knowing()), watcher)
    assert watcher.lines == ["3 of 3"]
    with Store(tmp_path) as store:
        assert read_running_totals(store).scored == 3


def test_continuing_with_another_metric_grades_the_existing_answers_by_it(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, made(3), Knowing({1: ModelError("no route")}))
    run.run(plan, Quiet())
    run.run(replace(plan, metric="choice:vlmevalkit"), Quiet())
    with Store(tmp_path) as store:
        assert len(store.scores("choice:vlmevalkit")) == 3
    run.run(plan, Quiet())
    with Store(tmp_path) as store:
        assert (store.default_metric, len(store.scores())) == ("choice:exact", 3)
