from __future__ import annotations

import json

import pytest

from benchmarks.processes import descendants, pss_mb
from benchmarks.sandbox.__main__ import main
from benchmarks.sandbox.measure import (
    Measure,
    alternate,
    check,
    format_json,
    format_line,
    format_text,
    medians,
    percentile_95,
)
from benchmarks.sandbox.plain import PlainKernel
from sandbox import CellResult


def test_the_ratio_is_ours_by_plain() -> None:
    assert Measure("cell", "ms", 30, 40).ratio == 0.75


@pytest.mark.parametrize(
    "measure", [Measure("a", "ms", 3), Measure("a", "ms", None, 4), Measure("a", "ms", 3, 0)]
)
def test_without_both_values_there_is_no_ratio(measure: Measure) -> None:
    assert measure.ratio is None


def test_nineteen_of_twenty_values_are_within_the_95th_percentile() -> None:
    assert percentile_95(list(range(20, 0, -1))) == 19
    assert percentile_95([7]) == 7


def test_the_timers_alternate() -> None:
    order: list[str] = []

    def timer(name: str) -> float:
        order.append(name)
        return float(len(order))

    ours, plain = alternate(3, lambda: timer("ours"), lambda: timer("plain"))
    assert order == ["ours", "plain"] * 3
    assert medians([ours, plain]) == (3, 4)


def test_a_line_shows_all_values() -> None:
    assert format_line(Measure("close", "ms", 2.5, 100, "< 5")).split() == [
        "close",
        "ms",
        "2.5",
        "100",
        "0.03",
        "<",
        "5",
    ]


def test_a_line_without_values_shows_the_note() -> None:
    cells = format_line(Measure("call", "ms", None, note="no bridge")).split()
    assert cells == ["call", "ms", "–", "–", "–", "no", "bridge"]


def test_json_contains_the_facts_with_the_measures() -> None:
    measures = [Measure("close", "ms", 2, 100), Measure("call", "ms", None)]
    facts = {"processor": "2 cores"}
    assert "2 cores" in format_text(facts, measures)
    found = json.loads(format_json(facts, measures))
    assert found["machine"] == facts
    assert [(row["name"], row["ours"], row["ratio"]) for row in found["measures"]] == [
        ("close", 2, 0.02),
        ("call", None, None),
    ]


def test_a_cell_that_failed_is_not_timed() -> None:
    with pytest.raises(RuntimeError, match="'died'"):
        check(CellResult("died"))


def test_an_unknown_row_is_refused_with_a_list_of_rows(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "no_such_row"])
    assert "trivial_cell" in capsys.readouterr().err


def test_a_plain_kernel_leaves_no_process_behind() -> None:
    before = descendants()
    with PlainKernel() as kernel:
        kernel.run("number = 41")
        assert kernel.run("print(number + 1)").text == "42\n"
        assert kernel.run("1 / 0").status == "error"
        assert pss_mb(descendants() - before) > 1
    assert descendants() <= before


@pytest.mark.slow
def test_a_row_is_measured_on_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "--json", "--only", "trivial_cell"])
    found = json.loads(capsys.readouterr().out)
    (row,) = found["measures"]
    assert row["ours"] > 0
    assert row["plain"] > 0
    assert row["ratio"] == pytest.approx(row["ours"] / row["plain"])
    assert {"processor", "system", "user", "packages"} <= set(found["machine"])
