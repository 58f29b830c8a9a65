"""Recorded cells, run again in a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.events import CellRun, Event, ImageDefined
from pyvision.runs.replay import rerun
from pyvision.runs.replay.rerun import rerun_cells
from sandbox import CellResult, Figure, Stream
from tests.doubles import CannedSandbox
from tests.runs.runs import figure, noise, picture, recorded, simple_events

pytestmark = pytest.mark.usefixtures("needs_isolation")


def with_output(*outputs: Stream | Figure) -> tuple[Event, ...]:
    """The simple run with other outputs of its cell."""
    return tuple(
        CellRun(event.code, CellResult("ok", outputs)) if isinstance(event, CellRun) else event
        for event in simple_events()
    )


def test_the_same_cells_do_the_same_again(tmp_path: Path) -> None:
    (again,) = rerun(recorded(tmp_path, simple_events()))
    assert (again.turn, again.cell, again.difference) == (1, 1, None)


def test_the_first_difference_of_a_cell_is_named(tmp_path: Path) -> None:
    (again,) = rerun(recorded(tmp_path, with_output(Stream("stdout", "(9, 9)\n"), figure(noise(40, 30)))))
    assert str(again.difference) == "stdout, line 1: recorded '(9, 9)', now '(120, 90)'"


def test_another_figure_is_a_difference_of_pixels(tmp_path: Path) -> None:
    (again,) = rerun(
        recorded(tmp_path, with_output(Stream("stdout", "(120, 90)\n"), figure(noise(40, 30, 77))))
    )
    assert "pixels" in str(again.difference)


def test_a_later_cell_finds_the_figures_of_earlier_ones_under_their_names(tmp_path: Path) -> None:
    later = CellRun("print(image_clue_1.size)", CellResult("ok", (Stream("stdout", "(40, 30)\n"),)))
    events = simple_events()
    again = list(rerun(recorded(tmp_path, (*events[:5], later, events[5]))))
    assert [(each.turn, each.difference) for each in again] == [(1, None), (2, None)]


def test_a_helper_finds_the_place_of_an_earlier_figure_again(tmp_path: Path) -> None:
    code = "print(to_original(image_clue_1, (1, 2)))"
    later = CellRun(code, CellResult("ok", (Stream("stdout", "(11.0, 22.0)\n"),)))
    events = simple_events()
    again = list(rerun(recorded(tmp_path, (*events[:5], later, events[5]))))
    assert [(each.turn, each.difference) for each in again] == [(1, None), (2, None)]


def test_cells_before_a_turn_alone_can_be_run(tmp_path: Path) -> None:
    session = CannedSandbox([CellResult("ok")])
    run = recorded(tmp_path, simple_events())
    assert list(rerun_cells(run, session, before_turn=1)) == []
    assert session.cells == []


def test_a_figure_that_is_not_an_image_gets_no_name(tmp_path: Path) -> None:
    session = CannedSandbox([CellResult("ok", (Figure(b"no", "image/png", 40, 30),))])
    (again,) = rerun_cells(recorded(tmp_path, simple_events()), session)
    assert again.difference is not None
    assert session.images == {}


def test_a_new_figure_gets_the_name_of_the_recorded_one(tmp_path: Path) -> None:
    drawn = figure(noise(40, 30, 5))
    session = CannedSandbox([CellResult("ok", (drawn,))])
    list(rerun_cells(recorded(tmp_path, simple_events()), session))
    assert session.images == {"image_clue_1": drawn.data}
    assert ImageDefined("image_clue_1", picture(noise())).picture.data != drawn.data
