from __future__ import annotations

from random import Random

import pytest

from benchmarks.soak.__main__ import conclude, main
from benchmarks.soak.gauges import GAUGES, Flatness, judge
from benchmarks.soak.work import HOSTILE_PROGRAMS, Cell, Verdict, draw_job
from sandbox import CellError, CellResult, Stream

FLAT = Flatness("threads", 0, 0, 1)
RIGHT = Verdict(0, "text", None)


def samples(values: list[float]) -> list[tuple[float, ...]]:
    """The values for the first gauge, and zero for the others."""
    return [(value, *[0.0] * (len(GAUGES) - 1)) for value in values]


def test_the_same_seed_gives_the_same_job() -> None:
    assert draw_job(Random("7:3")) == draw_job(Random("7:3"))
    assert draw_job(Random("7:3")) != draw_job(Random("7:4"))


def test_a_cell_is_right_only_with_its_exact_text() -> None:
    cell = Cell("print(1)", "1\n")
    assert cell.find_difference(CellResult("ok", (Stream("stdout", "1\n"),))) is None
    assert cell.find_difference(CellResult("ok", (Stream("stdout", "1"),))) is not None


def test_a_cell_that_must_fail_is_right_only_with_its_exception() -> None:
    cell = Cell("1 / 0", error=("ZeroDivisionError", 1))
    assert cell.find_difference(CellResult("error", error=CellError("ZeroDivisionError", "", 1))) is None
    assert cell.find_difference(CellResult("error", error=CellError("ZeroDivisionError", "", 2))) is not None
    assert cell.find_difference(CellResult("ok")) is not None


def test_growth_is_measured_after_the_warm_up() -> None:
    first = judge([100, 200, 300, 400, 500], samples([90, 10, 12, 14, 16]))[0]
    assert first.fitted == pytest.approx(6)
    assert first.difference == 6


def test_a_single_sample_does_not_grow() -> None:
    assert judge([10], samples([5]))[0].difference == 0


@pytest.mark.parametrize(
    ("fitted", "difference", "flat"), [(1, 1, True), (2, 0, False), (0, 2, False), (-9, -9, True)]
)
def test_a_gauge_that_grows_more_than_allowed_is_not_flat(
    fitted: float, difference: float, *, flat: bool
) -> None:
    assert Flatness("threads", fitted, difference, 1).is_flat is flat


def test_the_exit_status_is_one_after_any_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert conclude([RIGHT], [FLAT]) == 0
    assert conclude([RIGHT, Verdict(1, "text", "'2', not '1'")], [FLAT]) == 1
    assert conclude([RIGHT], [Flatness("threads", 5, 5, 1)]) == 1
    assert "session 1, text: '2', not '1'" in capsys.readouterr().out


@pytest.mark.parametrize("program", HOSTILE_PROGRAMS)
def test_a_hostile_program_has_no_endless_loop(program: str) -> None:
    assert "while True" not in HOSTILE_PROGRAMS[program]


def test_a_short_soak_passes(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--sessions", "6", "--clients", "2", "--every", "6", "--seed", "11"])
    output = capsys.readouterr().out
    assert "results: 0 of 6 sessions wrong" in output, output
    assert status == 0
