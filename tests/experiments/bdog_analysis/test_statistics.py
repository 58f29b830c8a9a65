"""Statistics over runs: condensation by round, accuracy with intervals, what each mode costs, what was repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.cli.main import main
from pyvision.experiments.bdog_analysis.statistics import DebateStatistics, Share, statistics_of, table
from pyvision.runs.report.debates import is_right, read_record, record
from pyvision.strategies.bdog.graphs import Graph
from tests.strategies.bdog.runs import BLUEPRINT, NEGATIVE, events_of, write_run


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 2, 0.0945, 0.9055)],
)
def test_the_interval_is_wilsons(right: int, of: int, low: float, high: float) -> None:
    # golden: by Wilson's formula, as R. G. Newcombe gives it (Statistics in Medicine 17, 1998, method 3)
    assert Share(right, of).interval == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_an_interval_holds_its_share(counts: tuple[int, int]) -> None:
    low, high = Share(*counts).interval
    assert 0 <= low <= Share(*counts).value + 1e-12
    assert Share(*counts).value - 1e-12 <= high <= 1


def test_a_record_sums_up_a_run() -> None:
    found = record("a", events_of())
    assert [(each.role, each.round) for each in found.drawn] == [
        ("blueprint", 0),
        *(("proponent", 1), ("opponent", 1)),
        *(("proponent", 2), ("opponent", 2)),
    ]
    assert (found.drawn[0].graph, found.drawn[2].graph) == (BLUEPRINT, NEGATIVE)
    assert (found.end_round, found.why_ended, found.answer) == (2, "agreed", "B")
    assert (found.calls, found.tokens, found.output_tokens) == (6, 660, 60)


def test_a_record_of_a_run_that_was_cut_short_gives_what_there_is() -> None:
    found = record("a", events_of()[:4])
    assert (len(found.drawn), found.answer, found.end_round) == (1, None, None)


def test_condensation_is_the_mean_over_the_debates_that_had_the_round() -> None:
    short: list[str | Graph] = [BLUEPRINT, BLUEPRINT, BLUEPRINT, "A"]
    found = statistics_of([record("a", events_of()), record("b", events_of(short))])
    inter = {
        c.round: (c.debates, c.updated, c.pruned, c.added)
        for c in found.condensation
        if c.comparison == "inter"
    }
    assert inter == {1: (2, 0.5, 0.5, 1.0), 2: (1, 0.0, 0.0, 0.0)}


def statistics_of_two_rounds() -> DebateStatistics:
    """A debate whose moderator was wrong in the first round and right in the second."""
    replies: list[str | Graph] = [BLUEPRINT, NEGATIVE, NEGATIVE, "A", NEGATIVE, NEGATIVE, "B"]
    return statistics_of([record("a", events_of(replies, every_round=True), target="B")])


def test_accuracy_is_given_by_round() -> None:
    assert dict(statistics_of_two_rounds().by_round) == {1: Share(0, 1), 2: Share(1, 1)}


def test_accuracy_is_given_by_the_round_of_the_end() -> None:
    assert dict(statistics_of_two_rounds().by_end) == {2: Share(1, 1)}


def test_the_reasons_of_the_end_are_counted() -> None:
    assert statistics_of_two_rounds().ends == {"agreed": 1}


def test_costs_are_counted_per_mode() -> None:
    plain = record("p", events_of(["A"], mode="plain"), mode="plain", target="B")
    found = statistics_of([record("a", events_of(), target="B"), plain])
    assert [(c.mode, c.calls, c.tokens, c.right) for c in found.costs] == [
        ("bdog", 6, 660, Share(1, 1)),
        ("plain", 1, 110, Share(0, 1)),
    ]


def test_graphs_that_were_repaired_are_counted_by_repair() -> None:
    cut = BLUEPRINT.json()[:-3]
    found = statistics_of([record("a", events_of([cut, BLUEPRINT, "A"]))])
    assert (found.graphs, found.whole, found.repairs) == (2, 1, {"truncated": 1})


def test_a_table_of_nothing_can_be_printed() -> None:
    assert "debates ended: none" in table(statistics_of([]))


def test_answers_are_compared_after_normalisation() -> None:
    assert [is_right(text, "b") for text in ("B.", "a", None)] == [True, False, False]


def test_the_command_writes_plots_beside_its_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "runs" / "one", target="B")
    write_run(tmp_path / "runs" / "two", ["A"], mode="plain")
    targets = tmp_path / "targets.jsonl"
    targets.write_text('{"id": "two", "target": "B"}\n', encoding="utf-8")
    plots = tmp_path / "plots"
    flags = ["--targets", str(targets), "--out", str(plots)]
    assert main(["bdog", "statistics", str(tmp_path / "runs"), *flags]) == 0
    printed = capsys.readouterr().out
    assert "plain               1    1.0" in printed
    assert sorted(path.name for path in plots.iterdir()) == ["accuracy.svg", "condensation.svg", "costs.svg"]


def test_the_command_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "one", target="B")
    assert main(["bdog", "statistics", str(run), "--json", "--out", str(tmp_path / "plots")]) == 0
    assert json.loads(capsys.readouterr().out)["ends"] == {"agreed": 1}


def test_a_folder_without_a_run_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bdog", "statistics", str(tmp_path)]) == 2
    assert "contains no run" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{}", "no JSON", "[1]"])
def test_invalid_targets_are_refused_with_the_name_of_the_file(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "one")
    targets = tmp_path / "targets.jsonl"
    targets.write_text(content, encoding="utf-8")
    assert main(["bdog", "statistics", str(run), "--targets", str(targets)]) == 2
    assert "targets.jsonl: invalid targets" in capsys.readouterr().err


def test_the_graphs_of_a_run_are_drawn_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "one")
    assert main(["bdog", "draw", str(run)]) == 0
    assert (run / "graphs.html").read_text(encoding="utf-8").count("<svg") == 7
    assert capsys.readouterr().out.strip() == str(run / "graphs.html")


def test_a_config_that_is_not_an_object_leaves_the_defaults(tmp_path: Path) -> None:
    run = write_run(tmp_path / "one", target="B")
    (run / "config.json").write_text("[]", encoding="utf-8")
    assert (read_record(run).mode, read_record(run).target) == ("bdog", None)


def test_a_run_of_another_strategy_is_a_separate_mode(tmp_path: Path) -> None:
    run = write_run(tmp_path / "one", ["A"], mode="plain")
    (run / "config.json").write_text('{"strategy": "direct", "options": {}}', encoding="utf-8")
    assert statistics_of([read_record(run)]).costs[0].mode == "direct"
