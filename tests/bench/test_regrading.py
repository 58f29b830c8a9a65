"""A judged run: rules first, then the judge where they found nothing, once, and reported everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.analysis.document import to_markdown
from pyvision.bench.analysis.read_experiment import read_experiment, read_results
from pyvision.bench.analysis.report import report
from pyvision.bench.analysis.summary import judges_of
from pyvision.bench.grading import describe_metric, find_grading
from pyvision.bench.judge import VERDICTS
from pyvision.bench.regrading import judge_run, regrade
from pyvision.bench.runner import run
from pyvision.bench.store import Store
from pyvision.cli import main
from pyvision.cli.main import _parser
from pyvision.errors import ConfigError, ModelError
from pyvision.models.factory import ResolvedModel
from pyvision.models.scripted import Scripted
from pyvision.types import Reply, Usage
from tests.bench.runs import Knowing, Quiet, a_plan, contents, made

VAGUE = {1: "the middle one", 2: "\\boxed{A}", 4: "none of my business"}


def run_six(folder: Path, count: int = 6) -> Path:
    """Six samples: the rules find nothing in 1 and 4; 2 is wrong, the others are right."""
    run.run(a_plan(folder, made(count), Knowing(VAGUE), workers=1), Quiet())
    return folder


def judge_of(*replies: str | Reply | Exception) -> tuple[ResolvedModel, Scripted]:
    model = Scripted(replies, "judge-1")
    return ResolvedModel(model, {"wire": "scripted"}), model


def grade_with(folder: Path, *replies: str | Exception, metric: str | None = None) -> Scripted:
    resolved, model = judge_of(*replies)
    judge_run(folder, metric, resolved, workers=1)
    return model


def values(folder: Path) -> dict[str, float | None]:
    with Store(folder) as store:
        return {key: score.value for (key, _), score in store.scores().items()}


def test_only_what_the_rules_leave_open_goes_to_the_judge(tmp_path: Path) -> None:
    model = grade_with(run_six(tmp_path), "CHOICE: B", "CHOICE: NONE")
    assert len(model.requests) == 2
    assert [values(tmp_path)[f"sample {number}"] for number in range(6)] == [1, 1, 0, 1, 0, 1]


def test_the_metric_of_a_judged_run_names_the_judge(tmp_path: Path) -> None:
    grade_with(run_six(tmp_path), "CHOICE: B", "CHOICE: NONE")
    with Store(tmp_path) as store:
        assert store.default_metric == "choice:exact+judge:judge-1"


def test_a_judged_run_keeps_the_scores_of_the_rules(tmp_path: Path) -> None:
    grade_with(run_six(tmp_path), "CHOICE: B", "CHOICE: NONE")
    with Store(tmp_path) as store:
        assert store.scores("choice:exact")["sample 1", 0].value == 0


def test_a_verdict_is_paid_for_once_even_after_the_judge_failed(tmp_path: Path) -> None:
    before = contents(run_six(tmp_path))
    with pytest.raises(ModelError, match="judge judge-1: no route; its replies so far are stored"):
        grade_with(tmp_path, "CHOICE: B", ModelError("no route"))
    assert contents(tmp_path) == before
    assert len(grade_with(tmp_path, "CHOICE: NONE").requests) == 1
    assert len(grade_with(tmp_path).requests) == 0
    assert len((tmp_path / VERDICTS).read_text().splitlines()) == 2


def test_a_report_gives_the_tokens_of_the_judge(tmp_path: Path) -> None:
    resolved, _ = judge_of(Reply("CHOICE: B", Usage(1_500, 7)), Reply("CHOICE: NONE", Usage(1_700, 9)))
    judge_run(run_six(tmp_path), None, resolved, workers=1)
    experiment = read_experiment(tmp_path)
    text = to_markdown(report(experiment.results, experiment.subject))
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "judge-1: " in line
    ]
    assert rows == [
        ["judge judge-1: input tokens", "3,200", "533"],
        ["judge judge-1: output tokens", "16", "3"],
    ]


def test_judged_scores_are_not_recomputed_without_a_judge(tmp_path: Path) -> None:
    grade_with(run_six(tmp_path), "CHOICE: B", "CHOICE: NONE")
    with pytest.raises(ConfigError, match="--metric choice:exact"):
        regrade(tmp_path, None)
    regrade(tmp_path, "choice:exact")
    assert values(tmp_path)["sample 1"] == 0


def test_a_continued_run_is_graded_by_the_rules_until_it_is_judged_again(tmp_path: Path) -> None:
    grade_with(run_six(tmp_path), "CHOICE: B", "CHOICE: NONE")
    run_six(tmp_path)
    with Store(tmp_path) as store:
        assert store.default_metric == "choice:exact"


@pytest.mark.parametrize(
    ("key", "phrase"),
    [
        ("by_sample", "each sample's own metric"),
        ("choice:exact", "choice:exact"),
        ("by_sample+judge:a:b", "each sample's own metric, then the judge a:b"),
        (None, "no metric"),
    ],
)
def test_a_metric_is_described_in_prose(key: str | None, phrase: str) -> None:
    assert describe_metric(key) == phrase


def test_each_samples_own_metric_may_have_a_judge_too(tmp_path: Path) -> None:
    grade_with(run_six(tmp_path), "CHOICE: B", "CHOICE: NONE", metric="by_sample")
    with Store(tmp_path) as store:
        assert store.default_metric == "by_sample+judge:judge-1"
        assert find_grading(store.default_metric.partition("+")[0]).key == "by_sample"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six whose judge gave one readable verdict and one unreadable."""
    folder = run_six(tmp_path_factory.mktemp("judged"))
    grade_with(folder, "CHOICE: B", "I cannot tell.")
    return folder


def report_text(folder: Path) -> str:
    experiment = read_experiment(folder)
    return " ".join(to_markdown(report(experiment.results, experiment.subject)).split())


def test_the_report_says_how_many_answers_a_judge_judged(judged: Path) -> None:
    assert "judge-1 judged 2 of 6 answers" in report_text(judged)


def test_the_report_counts_the_verdicts(judged: Path) -> None:
    assert "1 right, 0 wrong, 1 without a readable verdict" in report_text(judged)


def test_the_report_names_the_prompt_of_the_judge(judged: Path) -> None:
    assert "judge/choice.md" in report_text(judged)


def test_the_verdicts_of_a_judge_are_counted(judged: Path) -> None:
    (found,) = judges_of(read_results(judged))
    assert (found.judge, found.asked, found.right, found.wrong, found.unreadable) == ("judge-1", 2, 1, 0, 1)


def test_the_report_of_a_run_without_a_judge_names_no_judge(tmp_path: Path) -> None:
    experiment = read_experiment(run_six(tmp_path))
    assert " judged " not in to_markdown(report(experiment.results, experiment.subject))


def rows(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    row = {"question": "Which?", "images": [], "target": "A", "choices": ["one", "two"]}
    path.write_text("".join(json.dumps({"id": f"s{i}", **row}) + "\n" for i in range(2)), encoding="utf-8")
    return path


def script(folder: Path, name: str, *replies: str) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"wire": "scripted", "replies": list(replies)}), encoding="utf-8")
    return str(path)


def bench_run(folder: Path, *more: str) -> list[str]:
    usual = (
        "--strategy",
        "direct",
        "--workers",
        "1",
        "--metric",
        "choice:exact",
        "--out",
        str(folder / "out"),
    )
    return ["bench", "run", str(rows(folder)), *usual, *more]


def test_bench_run_takes_a_judge(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = script(tmp_path, "model", "\\boxed{A}", "the second one")
    judge = script(tmp_path, "judge", "CHOICE: B")
    assert main(bench_run(tmp_path, "--config", config, "--judge", judge)) == 0
    line = capfd.readouterr().out
    assert line.startswith("0.5000 over 2 by choice:exact, then the judge scripted · judged: 1 · ")


def test_bench_grade_takes_a_judge(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = script(tmp_path, "model", "\\boxed{A}", "the second one")
    judge = script(tmp_path, "judge", "CHOICE: B")
    main(bench_run(tmp_path, "--config", config))
    capfd.readouterr()
    assert main(["bench", "grade", str(tmp_path / "out"), "--judge", judge, "--json"]) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert (found["judged"], found["metric"]) == (1, "choice:exact+judge:scripted")


def test_an_unknown_judge_is_an_error_before_any_request(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = script(tmp_path, "model", "\\boxed{A}", "\\boxed{B}")
    assert main(bench_run(tmp_path, "--config", config, "--judge", "nobody")) == 2
    assert "unknown model 'nobody'" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_flag_for_the_judge_is_the_same_in_each_command() -> None:
    for command in ("run", "grade"):
        words = ["bench", command, "x", "--judge", "openai:gpt-4.1"]
        assert _parser(words).parse_args(words).judge == "openai:gpt-4.1"
