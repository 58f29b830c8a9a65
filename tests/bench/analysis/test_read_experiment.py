"""Experiments read from their folders, the commands that report them, and metrics of all rows together."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from pyvision.bench.ablations import read_figures_to_swap
from pyvision.bench.analysis.document import to_markdown
from pyvision.bench.analysis.read_experiment import (
    Experiment,
    dataset_name,
    describe_aggregates,
    read_experiment,
    read_results,
    read_runs,
    references_of,
)
from pyvision.bench.analysis.report import report as report_on
from pyvision.bench.experiment import MODEL_FILE, reproduce_command
from pyvision.bench.runner import run
from pyvision.bench.runner.recorder import Recorder
from pyvision.bench.samples import Sample, Score
from pyvision.cli.main import _parser
from pyvision.errors import ConfigError, RunFolderError
from pyvision.trajectory import EVENTS
from tests.bench.analysis.experiments import CONFIGURATION, SHOWING, write_experiment
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, made, source_of


def call(command: str, *arguments: str | Path) -> int:
    line = ["bench", command, *map(str, arguments)]
    options = _parser(line).parse_args(line)
    return int(options.call(options))


@pytest.fixture(scope="module")
def three_results(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("experiment")
    return read_experiment(write_experiment(folder, [1, 0, None], end_reason="answered"))


def test_an_experiment_is_read_with_its_scores(three_results: Experiment) -> None:
    assert [each.value for each in three_results.results] == [1.0, 0.0, None]


def test_an_experiment_is_read_with_the_tools_of_its_cells(three_results: Experiment) -> None:
    assert three_results.subject.tools is not None
    assert three_results.subject.tools.kinds["crop"] == 3


def test_an_experiment_is_read_with_the_name_of_its_dataset(three_results: Experiment) -> None:
    assert three_results.subject.dataset == "lines"


def test_a_folder_without_any_record_is_refused(tmp_path: Path) -> None:
    with Recorder(tmp_path, {}, metric="integer:official"):
        pass
    with pytest.raises(ConfigError, match="no sample has been answered yet"):
        read_results(tmp_path)


def test_a_truncated_trajectory_does_not_break_the_report(tmp_path: Path) -> None:
    write_experiment(tmp_path, [1])
    (events,) = tmp_path.rglob(EVENTS)
    events.write_bytes(events.read_bytes() + b'{"kind": "ran", "code": "x =')
    tools = read_experiment(tmp_path).subject.tools
    assert tools is not None
    assert tools.cells == 1


def test_the_figures_to_swap_are_grouped_by_sample(tmp_path: Path) -> None:
    found = read_figures_to_swap(write_experiment(tmp_path, [1, 1]))
    assert {key: [each.data for each in figures] for key, figures in found.items()} == {
        "s0": [SHOWING[0].result.figures[0].data],
        "s1": [SHOWING[0].result.figures[0].data],
    }
    assert read_figures_to_swap(write_experiment(tmp_path / "none", [1], cells=())) == {}


def test_runs_with_one_name_are_listed_by_their_paths(tmp_path: Path) -> None:
    folders = [write_experiment(tmp_path / part / "run", [1]) for part in ("a", "b")]
    assert [run.name for run in read_runs(folders)] == [str(folder) for folder in folders]
    with pytest.raises(ConfigError, match="two folders or more"):
        read_runs(folders[:1])


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ({"kind": "remote", "name": "vstar", "source": "hf:x/y"}, "vstar"),
        ({"source": "a.tsv"}, "a.tsv"),
        (None, ""),
    ],
)
def test_a_dataset_is_named_by_its_row_or_its_source(dataset: object, name: str) -> None:
    assert dataset_name({"dataset": dataset}) == name


def test_the_command_to_run_it_again_is_one_that_bench_run_takes() -> None:
    configuration = CONFIGURATION | {
        "model": {"wire": "openai", "model": "m"},
        "options": {"repairs": 3, "prompt": None},
        "limit": 9,
        "repeats": 2,
        "limits": {"max_turns": 20, "max_bytes": None, "max_seconds": 1800.0},
        "policy": {"cell_timeout_s": 30.0},
    }
    arguments = shlex.split(reproduce_command(configuration))
    options = _parser(arguments[3:]).parse_args(arguments[3:])
    assert arguments[:5] == ["python", "-m", "pyvision", "bench", "run"]
    assert (options.dataset, options.count, options.seed, options.limit) == ("synthetic/lines", 4, 7, 9)
    assert (options.config, options.repeat, options.set) == (
        Path(MODEL_FILE),
        2,
        ["repairs=3", "prompt=none"],
    )
    assert (options.max_turns, options.cell_timeout) == (20, 30.0)


def test_a_configuration_without_a_dataset_has_no_command() -> None:
    assert reproduce_command({}) == ""


def test_a_name_with_spaces_or_quotes_stays_one_word() -> None:
    command = reproduce_command({"dataset": {"source": "my file'; rm -rf x.tsv"}})
    assert shlex.split(command)[5] == "my file'; rm -rf x.tsv"


def test_report_prints_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("report", write_experiment(tmp_path, [1, 0])) == 0
    text = capsys.readouterr().out
    assert "## Accuracy" in text
    assert "python -m pyvision bench run synthetic/lines --count 4 --seed 7" in text


def test_report_lists_published_results_of_the_dataset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"dataset": {"kind": "file", "name": "vstar", "source": "VStarBench.tsv"}}
    call("report", write_experiment(tmp_path, [1, 0], configuration=row))
    text = " ".join(capsys.readouterr().out.split())
    assert "75.9: PyVision, GPT-4.1 (PyVision, arXiv 2507.07998, Table 2)" in text
    assert "83.4" in text  # the share of basic image processing in its Figure 9
    assert "bench run vstar" in text


def test_an_unknown_dataset_has_no_published_results(tmp_path: Path) -> None:
    row = {"dataset": {"kind": "file", "name": "of an older release", "source": "x"}}
    assert references_of(write_experiment(tmp_path, [1], configuration=row)) == ()


def test_report_prints_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("report", write_experiment(tmp_path, [1, 0, None]), "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["unscored"], found["accuracy"]["value"]) == (3, 1, 0.5)
    assert found["tools"]["kinds"]["crop"] == 3


@pytest.fixture(scope="module")
def written_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `out/r.html` and `plots/`."""
    folder = tmp_path_factory.mktemp("report")
    experiment = write_experiment(folder / "x", [1, 0])
    call("report", experiment, "--html", folder / "out" / "r.html", "--plots", folder / "plots")
    return folder


def test_the_page_of_a_report_shows_its_plots(written_report: Path) -> None:
    assert (written_report / "out" / "r.html").read_text().count("<picture>") == 2


def test_report_writes_each_plot_to_a_file(written_report: Path) -> None:
    names = sorted(each.name for each in (written_report / "plots").iterdir())
    assert names == ["accuracy.png", "tools.png"]


def test_a_page_that_cannot_be_written_is_one_line_of_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match=r"r\.html': .*; choose another path"):
        call("report", write_experiment(tmp_path / "x", [1]), "--html", tmp_path / "file" / "r.html")


@pytest.fixture
def dear_then_cheap(tmp_path: Path) -> tuple[Path, Path]:
    """Two experiments; three answers of the second cost as much as one of the first."""
    cheap = write_experiment(tmp_path / "cheap", [1, 0, 1, 0], repeats=3, input_tokens=100)
    dear = write_experiment(tmp_path / "dear", [1, 1, 1, 1], input_tokens=300)
    return dear, cheap


def test_compare_can_give_both_runs_the_same_tokens(
    dear_then_cheap: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("compare", *dear_then_cheap, "--equal-tokens") == 0
    assert "majority of 3 answers" in " ".join(capsys.readouterr().out.split())


def test_compare_prints_the_difference_to_the_first_run_as_json(
    dear_then_cheap: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    call("compare", *dear_then_cheap, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["against_the_first"][0]["difference"]["value"] == -0.5


def test_compare_writes_a_page_with_a_plot(tmp_path: Path) -> None:
    folders = [write_experiment(tmp_path / name, [1, 0], input_tokens=9) for name in ("a", "b")]
    call("compare", *folders, "--html", tmp_path / "c.html")
    assert "data:image/png;base64," in (tmp_path / "c.html").read_text()


def test_audit_prints_what_the_tools_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    direct = write_experiment(tmp_path / "d", [1, 0, 0, 0], cells=(), repeats=2)
    tools = write_experiment(tmp_path / "t", [1, 1, 1, 0], repeats=2)
    blank = write_experiment(tmp_path / "b", [1, 1, 0, 0])
    arguments = [f"direct={direct}", f"tools={tools}", f"blank={blank}"]
    call("audit", *arguments)
    assert "solved only with tools" in capsys.readouterr().out
    call("audit", *arguments, "--json")
    found = {each["key"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found["only_with_tools"]["estimate"]["value"] == pytest.approx(0.5)
    assert found["blank"]["estimate"]["value"] == pytest.approx(2 / 3)
    call("audit", *arguments, "--html", str(tmp_path / "a.html"))
    assert "<table" in (tmp_path / "a.html").read_text()


def test_experiments_under_different_harnesses_are_refused_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [
        write_experiment(tmp_path / str(turns), [1, 0], configuration={"limits": {"max_turns": turns}})
        for turns in (20, 5)
    ]
    assert call("compare", *folders) == 0
    assert "limits.max_turns: 20 -> 5" in capsys.readouterr().out
    with pytest.raises(ConfigError, match=r"limits\.max_turns: 20 -> 5"):
        call("compare", *folders, "--strict")


def test_plan_prints_samples_with_their_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pilots = [
        write_experiment(tmp_path / name, values, input_tokens=500, cost=0.25)
        for name, values in (("a", [1, 0, 1, 1]), ("b", [0, 1, 1, 1]))
    ]
    flags = [part for folder in pilots for part in ("--pilot", folder)]
    assert call("plan", "synthetic/lines", "--count", "40", "--detect", "3", *flags) == 0
    assert "synthetic/lines has 40 samples: too few" in capsys.readouterr().out
    call("plan", "--detect", "3", *flags, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["spending"][0]["cost"] == pytest.approx(0.25 * found["samples"])
    assert found["deviation"]["n"] == 4


def test_more_than_two_pilots_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give two at most"):
        call("plan", "--detect", "3", *("--pilot", tmp_path) * 3)


@pytest.mark.parametrize("flags", [("--detect", "0"), ("--detect", "101"), ("--detect", "3", "--power", "1")])
def test_a_plan_that_is_impossible_is_refused(flags: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        call("plan", *flags)


def test_an_ablation_that_is_given_twice_is_an_error() -> None:
    with pytest.raises(ConfigError, match="'blank' is given twice: x and y"):
        call("audit", "blank=x", "blank=y")


def test_an_ablation_without_a_folder_is_an_error() -> None:
    with pytest.raises(ConfigError, match="'tools' is not ABLATION=DIR"):
        call("audit", "tools")


def test_the_report_agrees_with_the_runner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run.run(a_plan(tmp_path, made(6), Knowing({1: "\\boxed{A}"})), Quiet())
    call("report", tmp_path, "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["accuracy"]["value"]) == (6, pytest.approx(5 / 6))
    assert found["spending"]["input_tokens"] == 60
    assert {row["name"]: row["n"] for row in found["categories"]} == {"even": 3, "odd": 3}


def test_runs_that_were_graded_in_different_ways_are_not_compared(tmp_path: Path) -> None:
    folders = [write_experiment(tmp_path / name, [1, 0]) for name in ("a", "b")]
    with Recorder(folders[1], CONFIGURATION, metric="text:plain") as recorder:
        recorder.write_scores({("s0", 0): Score(1.0)})
    with pytest.raises(
        ConfigError, match=r"graded in different ways: .*a by integer:official, .*b by text:plain"
    ):
        read_runs(folders)
    assert len(read_runs(folders, "integer:official")) == 2


def test_runs_over_other_samples_are_not_compared_nor_audited(tmp_path: Path) -> None:
    run.run(a_plan(tmp_path / "a", made(2), Knowing()), Quiet())
    others = source_of(a_sample(0, text="What is another number 0?"), a_sample(1))
    run.run(a_plan(tmp_path / "b", others, Knowing()), Quiet())
    folders = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(ConfigError, match="sample 'sample 0' is not the same question in"):
        read_runs(folders)
    with pytest.raises(ConfigError, match="sample 'sample 0' is not the same question in"):
        call("audit", f"direct={folders[0]}", f"tools={folders[1]}")


def test_an_equal_budget_of_no_tokens_is_refused(tmp_path: Path) -> None:
    folders = [write_experiment(tmp_path / name, [1, 0]) for name in ("a", "b")]
    with pytest.raises(ConfigError, match="spent no tokens"):
        call("compare", *folders, "--equal-tokens")


def test_failures_with_one_reason_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = source_of(*(a_sample(number, target={"no": "letter"}) for number in range(3)))
    run.run(a_plan(tmp_path, source, Knowing()), Quiet())
    call("report", tmp_path)
    lines = [line for line in capsys.readouterr().out.splitlines() if "the metric failed" in line]
    assert len(lines) == 1
    assert lines[0].startswith("- 3: the metric failed: ")


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
    text = " ".join(to_markdown(report_on(experiment.results, experiment.subject)).split())
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
