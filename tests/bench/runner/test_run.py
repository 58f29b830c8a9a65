from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from pyvision.agent.budget import Limits
from pyvision.bench.datasets.sources import SampleSource
from pyvision.bench.runner import run
from pyvision.bench.runner.answering import Finished, Job, WorkerContext
from pyvision.bench.runner.engine import Threads
from pyvision.bench.runner.failures import wait_for_models
from pyvision.bench.runner.progress import read_running_totals
from pyvision.bench.runner.run import ExperimentResult, Stopped
from pyvision.bench.samples import Record
from pyvision.bench.store import Store
from pyvision.errors import ConfigError, ModelError
from pyvision.events import ModelCall
from pyvision.solve import prepare
from pyvision.trajectory import read_trajectory
from pyvision.types import Message, Reply, Sampling
from sandbox import CellResult, Policy, SandboxError
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, file_of, made, records_in, source_of
from tests.doubles import CannedSandbox, figure


def test_a_complete_run_is_returned_as_not_stopped(tmp_path: Path) -> None:
    ran = run.run(a_plan(tmp_path, made(2), Knowing()), Quiet())
    assert ran == ExperimentResult(tmp_path, was_stopped=False)


def test_the_name_of_a_folder_need_not_be_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"d\xff")
    run.run(a_plan(folder, made(2), Knowing()), Quiet())
    assert len(records_in(folder)) == 2


def test_every_sample_is_answered_once(tmp_path: Path) -> None:
    model = Knowing()
    run.run(a_plan(tmp_path, made(9), model), Quiet())
    assert sorted(model.asked) == list(range(9))


def test_every_sample_is_scored(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(9), Knowing({4: "\\boxed{A}"})), Quiet())
    with Store(tmp_path) as store:
        assert read_running_totals(store).summary() | {"metric": store.default_metric} == {
            "total": 9,
            "done": 9,
            "scored": 9,
            "accuracy": 8 / 9,
            "unscored": {},
            "without_cells": 9,
            "tokens": 108,
            "cost": None,
            "metric": "choice:exact",
        }


def test_the_whole_question_of_a_sample_reaches_the_model(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, source_of(a_sample(0, context="It is late.")), Knowing()), Quiet())
    with Store(tmp_path) as store:
        folder = store.run_folder("sample 0")
    assert folder is not None
    (asked,) = (event for event in read_trajectory(folder).events if isinstance(event, ModelCall))
    assert "It is late.\nWhat is number 0?\nA. one\nB. two\nC. three" in asked.messages[-1].text


def test_a_run_that_is_complete_asks_nothing_when_it_is_run_again(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(3), Knowing()), Quiet())
    model, watcher = Knowing(), Quiet()
    run.run(a_plan(tmp_path, made(3), model), watcher)
    assert (model.asked, watcher.lines) == ([], ["3 of 3"])


def test_each_repeat_is_a_record_of_its_own(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(2), Knowing(), repeats=3), Quiet())
    assert [(record.sample_id, record.repeat) for record in records_in(tmp_path)] == [
        (f"sample {number}", repeat) for number in range(2) for repeat in range(3)
    ]


def run_with_a_failure(folder: Path) -> None:
    """Three samples, of which sample 1 met an infrastructure failure."""
    run.run(a_plan(folder, made(3), Knowing({1: ModelError("no route")})), Quiet())


def test_an_infrastructure_failure_is_unscored(tmp_path: Path) -> None:
    run_with_a_failure(tmp_path)
    with Store(tmp_path) as store:
        found = read_running_totals(store).summary()
    assert (found["scored"], found["unscored"], found["accuracy"]) == (2, {"model_error": 1}, 1.0)


def test_an_infrastructure_failure_is_tried_again_on_the_next_run(tmp_path: Path) -> None:
    run_with_a_failure(tmp_path)
    model = Knowing()
    run.run(a_plan(tmp_path, made(3), model), Quiet())
    assert model.asked == [1]
    with Store(tmp_path) as store:
        assert (read_running_totals(store).scored, store.attempts()[("sample 1", 0)]) == (3, 2)


def test_an_empty_reply_is_scored_as_wrong(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(1), Knowing({0: "  "})), Quiet())
    with Store(tmp_path) as store:
        (score,) = store.scores().values()
    assert (score.value, score.why) == (0.0, "no answer: no_answer")


def test_a_sample_with_an_empty_reply_is_not_tried_again(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(1), Knowing({0: "  "})), Quiet())
    model = Knowing()
    run.run(a_plan(tmp_path, made(1), model), Quiet())
    assert model.asked == []


def test_a_changed_setting_is_refused_with_the_difference(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path, made(1), Knowing()), Quiet())
    changed = a_plan(tmp_path, made(1), Knowing(), settings={"limits": Limits(max_turns=5)})
    with pytest.raises(ConfigError, match=r"another configuration \(limits.max_turns: 20 -> 5\)"):
        run.run(changed, Quiet())


def test_an_endpoint_that_refuses_the_key_ends_the_run_at_once(tmp_path: Path) -> None:
    refused = ModelError("401: the key is refused; set OPENAI_API_KEY", kind="auth")
    model = Knowing(dict.fromkeys(range(2, 50), refused))
    with pytest.raises(Stopped, match="the key is refused") as stopped:
        run.run(a_plan(tmp_path, made(50), model, workers=1), Quiet())
    assert stopped.value.end_reason == "model_error"
    assert len(model.asked) <= 4
    assert [record.end_reason for record in records_in(tmp_path)][:2] == ["answered", "answered"]


def test_many_failures_in_a_row_end_the_run(tmp_path: Path) -> None:
    model = Knowing(dict.fromkeys(range(100), ModelError("no route to the endpoint")))
    with pytest.raises(Stopped, match="12 samples in a row failed, the last with: no route"):
        run.run(a_plan(tmp_path, made(100), model, workers=1), Quiet())


def test_a_run_that_waits_answers_every_sample_once_the_endpoint_replies(tmp_path: Path) -> None:
    model, watcher = Knowing(dict.fromkeys(range(40), ModelError("no route to the endpoint"))), Quiet()

    def sleep(seconds: float) -> None:
        model.says = {}

    ran = run.run(a_plan(tmp_path, made(40), model, workers=1, waits=True), watcher, sleep=sleep)
    assert not ran.was_stopped
    with Store(tmp_path) as store:
        assert len(store.find_finished()) == 40
    assert "12 samples in a row failed, the last with: no route to the endpoint" in watcher.lines
    assert "paused; the models are asked again in 15 s" in watcher.lines


def test_a_run_that_waits_ends_if_nothing_is_answered_after_the_pause(tmp_path: Path) -> None:
    model = Knowing(dict.fromkeys(range(100), ModelError("no route to the endpoint")))
    plan = a_plan(tmp_path, made(100), model, workers=1, waits=True)
    with pytest.raises(Stopped, match="12 samples in a row failed"):
        run.run(plan, Quiet(), sleep=lambda seconds: None)
    assert len(model.asked) < 30  # twice twelve, and those under way


def test_a_pause_lasts_as_long_as_the_endpoint_asks(tmp_path: Path) -> None:
    class Asking(Knowing):
        def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
            if len(slept) < 20:
                raise ModelError("busy", retry=True, retry_after_s=1800.0)
            return Reply("ready")

    slept: list[float] = []
    with a_plan(tmp_path, made(1), Asking()).task() as task:
        assert wait_for_models(task, lambda line: None, lambda: False, sleep=slept.append)
    assert sum(slept) == 15 + 1800


def test_a_pause_ends_with_a_signal(tmp_path: Path) -> None:
    with a_plan(tmp_path, made(1), Knowing()).task() as task:
        assert not wait_for_models(task, lambda line: None, lambda: True)


class Dead(Knowing):
    """An endpoint that does not even say that it is ready."""

    def complete(self, *_: object) -> None:  # type: ignore[override]
        raise ModelError("connection refused; is the server running?")


def test_a_dead_model_refuses_to_start(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="connection refused"):
        run.run(a_plan(tmp_path, made(3), Dead()), Quiet())
    assert records_in(tmp_path) == []


def run_with_an_invalid_image(folder: Path) -> tuple[Record, Record]:
    """The records of a sample with an invalid image, and of a valid sample after it."""
    source = source_of(a_sample(0, images=(b"no picture",)), a_sample(1))
    run.run(a_plan(folder, source, Knowing()), Quiet())
    invalid, valid = records_in(folder)
    return invalid, valid


def test_a_sample_with_an_invalid_image_is_recorded_as_an_error(tmp_path: Path) -> None:
    invalid, _ = run_with_an_invalid_image(tmp_path)
    assert invalid.end_reason == "error"
    assert invalid.error is not None
    assert "number 0" in invalid.error


def test_a_sample_with_an_invalid_image_does_not_stop_the_others(tmp_path: Path) -> None:
    _, valid = run_with_an_invalid_image(tmp_path)
    assert valid.end_reason == "answered"


def test_a_bug_spoils_its_own_sample_only(tmp_path: Path) -> None:
    model = Knowing({0: ZeroDivisionError("a bug of ours")})
    run.run(a_plan(tmp_path, made(2), model), Quiet())
    broken, whole = records_in(tmp_path)
    assert (broken.end_reason, whole.end_reason) == ("error", "answered")
    assert broken.error is not None
    assert "ZeroDivisionError: a bug of ours" in broken.error


def test_two_samples_of_one_id_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    source = SampleSource("data", {"kind": "file"}, lambda: (a_sample(0), a_sample(0)))
    model = Knowing()
    with pytest.raises(ConfigError, match="two samples have the id 'sample 0'"):
        run.run(a_plan(tmp_path / "out", source, model), Quiet())
    assert model.asked == []


def as_it_is(finished: Finished) -> Finished:
    return finished


def record_with_a_figure() -> Record:
    """The record of a run of two turns: a cell that shows one figure, then the answer."""
    model = Knowing({0: "<code>\n```python\nplt.show()\n```\n"})

    def then_answer(number: int) -> None:
        if len(model.asked) == 2:
            model.says = {}

    model.before = then_answer
    sandbox = CannedSandbox([CellResult("ok", (figure(20, 10),))])
    engine = Threads(WorkerContext(prepare("?", model=model), sandbox), 1)
    ((finished,),) = engine.answer(iter([Job(a_sample(0), 0)]), as_it_is)
    engine.close()
    return finished.record


def test_a_record_counts_the_work_of_its_run() -> None:
    record = record_with_a_figure()
    assert (record.end_reason, record.turns, record.cells, record.figures) == ("answered", 2, 1, 1)


def test_an_image_counts_as_sent_in_every_request() -> None:
    assert record_with_a_figure().sent_pixels > 2 * 64 * 48


def test_a_machine_without_isolation_refuses_to_start(tmp_path: Path) -> None:
    plan = a_plan(
        tmp_path,
        made(1),
        Knowing(),
        settings={"strategy": "code_loop", "policy": Policy(python="/nowhere/python")},
    )
    with pytest.raises(SandboxError, match="/nowhere/python"):
        run.run(plan, Quiet())
    assert records_in(tmp_path) == []


def test_an_ablation_that_needs_a_box_answers_only_samples_that_have_one(tmp_path: Path) -> None:
    boxed = a_sample(1, metadata={"box": [1, 2, 3, 4]})
    run.run(a_plan(tmp_path, source_of(a_sample(0), boxed), Knowing(), ablation="oracle"), Quiet())
    assert [record.sample_id for record in records_in(tmp_path)] == ["sample 1"]
    with Store(tmp_path) as store:
        assert (store.total, store.configuration["arm"]) == (1, "oracle")


@pytest.mark.parametrize(
    ("ablation", "message"),
    [("magic", "unknown ablation 'magic'; known ablations are direct"), ("swapped", "--swap-from DIR")],
)
def test_an_ablation_that_is_not_available_is_refused(tmp_path: Path, ablation: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run.run(a_plan(tmp_path / "out", made(1), Knowing(), ablation=ablation), Quiet())
    assert not (tmp_path / "out").exists()


def test_figures_of_no_experiment_are_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    plan = a_plan(tmp_path / "out", made(1), Knowing(), ablation="swapped", swap_from=tmp_path)
    with pytest.raises(ConfigError, match="holds no experiment"):
        run.run(plan, Quiet())
    assert not (tmp_path / "out").exists()


def test_an_unknown_metric_of_a_sample_is_refused_before_the_first_is_answered(tmp_path: Path) -> None:
    model, misnamed = Knowing(), a_sample(1, metadata={"metric": "choise"})
    with pytest.raises(ConfigError, match=r"sample 'sample 1': unknown metric 'choise'"):
        run.run(a_plan(tmp_path, file_of(a_sample(0), misnamed), model), Quiet())
    assert model.asked == []


def test_the_ablation_without_tools_is_the_direct_strategy(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, made(2), Knowing(), settings={"strategy": "code_loop"}, ablation="direct")
    run.run(plan, Quiet())
    with Store(tmp_path) as store:
        assert store.configuration["strategy"] == "direct"
