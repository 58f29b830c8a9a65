from __future__ import annotations

from random import Random

import pytest

from benchmarks.soak.__main__ import Verdict, conclude, main
from benchmarks.soak.gauges import GAUGES, Flatness, judge
from benchmarks.soak.work import BOMBS, Cell, benign
from sandbox import CellError, CellResult, Stream

FLAT = Flatness("threads", 0, 0, 1)
RIGHT = Verdict(0, "text", None)


def samples(values: list[float]) -> list[tuple[float, ...]]:
    """The values on the first gauge, and zero on the others."""
    return [(value, *[0.0] * (len(GAUGES) - 1)) for value in values]


def test_the_same_seed_is_the_same_work() -> None:
    assert benign(Random("7:3")) == benign(Random("7:3"))
    assert benign(Random("7:3")) != benign(Random("7:4"))


def test_a_cell_is_right_only_with_its_exact_text() -> None:
    cell = Cell("print(1)", "1\n")
    assert cell.wrong(CellResult("ok", (Stream("stdout", "1\n"),))) is None
    assert cell.wrong(CellResult("ok", (Stream("stdout", "1"),))) is not None


def test_a_cell_that_must_fail_is_right_only_with_its_exception_and_line() -> None:
    cell = Cell("1 / 0", error=("ZeroDivisionError", 1))
    assert cell.wrong(CellResult("error", error=CellError("ZeroDivisionError", "", 1))) is None
    assert cell.wrong(CellResult("error", error=CellError("ZeroDivisionError", "", 2))) is not None
    assert cell.wrong(CellResult("ok")) is not None


def test_growth_is_fitted_and_taken_after_the_warm_up() -> None:
    first = judge([100, 200, 300, 400, 500], samples([90, 10, 12, 14, 16]))[0]
    assert first.fitted == pytest.approx(6)
    assert first.difference == 6


def test_one_sample_is_judged_too() -> None:
    assert judge([10], samples([5]))[0].difference == 0


@pytest.mark.parametrize(
    ("fitted", "difference", "flat"), [(1, 1, True), (2, 0, False), (0, 2, False), (-9, -9, True)]
)
def test_what_grows_beyond_its_allowance_is_not_flat(fitted: float, difference: float, *, flat: bool) -> None:
    assert Flatness("threads", fitted, difference, 1).flat is flat


def test_the_exit_status_tells_of_a_wrong_result_and_of_growth(capsys: pytest.CaptureFixture[str]) -> None:
    assert conclude([RIGHT], [FLAT]) == 0
    assert conclude([RIGHT, Verdict(1, "text", "'2', not '1'")], [FLAT]) == 1
    assert conclude([RIGHT], [Flatness("threads", 5, 5, 1)]) == 1
    assert "session 1, text: '2', not '1'" in capsys.readouterr().out


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_has_no_endless_loop(bomb: str) -> None:
    assert "while True" not in BOMBS[bomb]


def test_a_short_soak_is_flat_and_right(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--sessions", "6", "--clients", "2", "--every", "6", "--seed", "11"])
    said = capsys.readouterr().out
    assert "results: 0 of 6 sessions wrong" in said, said
    assert status == 0
