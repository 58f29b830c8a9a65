from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.agent.task import Task
from pyvision.errors import RunFolderError
from pyvision.events import CellRun, Event, Note, RunEnded
from pyvision.models.scripted import Scripted
from pyvision.runs.run import Names, pair_figures, read_run, turns_of
from pyvision.solve import solve
from pyvision.strategies.avis import Avis
from pyvision.tools.perception.model import vqa
from pyvision.types import Model, Question
from sandbox import CellResult
from tests.doubles import CannedSandbox
from tests.runs.runs import (
    eventful_events,
    figure,
    noise,
    picture,
    recorded,
    simple_events,
    tool_events,
    written,
)


def test_a_turn_is_a_reply_with_all_that_followed_it(tmp_path: Path) -> None:
    run = recorded(tmp_path, simple_events())
    assert [(turn.number, [event.kind for event in turn.events]) for turn in run.turns] == [
        (1, ["ran", "defined"]),
        (2, []),
    ]


def test_a_model_that_a_tool_asks_takes_no_turn(tmp_path: Path) -> None:
    run = recorded(tmp_path, tool_events())
    assert [(turn.number, [event.kind for event in turn.events]) for turn in run.turns] == [
        (1, ["asked", "ran", "defined"]),
        (2, []),
    ]


def test_turns_are_those_that_the_budget_counted(tmp_path: Path) -> None:
    roles: dict[str, Model] = {
        "decomposer": Scripted(["Visual: what colour?\nKnowledge: #"]),
        "planner": Scripted(["Action: vqa"]),
        "reasoner": Scripted(["Verdict: answerable\nAnswer: red"]),
        "vqa": Scripted(["red"]),
    }
    question = Question("What colour?", (picture(noise(9, 9)),))
    events: list[Event] = []
    task = Task(question, Avis(), {"default": Scripted([]), **roles}, tools={"vqa": vqa("")})
    solve(task, events.append, CannedSandbox())
    (ended,) = (event for event in events if isinstance(event, RunEnded))
    assert (ended.turns, sum(turn.asked is not None for turn in turns_of(events))) == (3, 3)


def test_what_happened_before_the_first_reply_is_turn_0(tmp_path: Path) -> None:
    began, *rest = simple_events()
    run = recorded(tmp_path, [began, Note("prepared", {}), *rest])
    assert [turn.number for turn in run.turns] == [0, 1, 2]
    assert run.turns[0].asked is None


def pair_refused_with_named() -> tuple[CellRun, CellRun, Names]:
    """A cell that showed a refused figure before a valid one; the cell and the names that they were paired with."""
    ran = CellRun("show()", CellResult("ok", (figure(noise(9, 9)), figure(noise(8, 8)))))
    given = simple_events()[3]
    ((cell, names),) = pair_figures([ran, Note("figure_refused", {}), given, Note("figure_refused", {})])
    return ran, cell, names


def test_figures_are_paired_with_their_cell() -> None:
    ran, cell, _ = pair_refused_with_named()
    assert cell is ran


def test_a_refused_figure_has_no_name() -> None:
    _, _, names = pair_refused_with_named()
    assert names[0] is None


def test_a_figure_is_paired_with_its_name() -> None:
    _, _, names = pair_refused_with_named()
    assert names[1] is not None
    assert names[1][0] == "image_clue_1"


def test_figures_without_a_name_are_paired_too() -> None:
    ran = CellRun("show()", CellResult("ok", (figure(noise(9, 9)),)))
    assert [names for _, names in pair_figures([ran])] == [(None,)]


def test_a_run_that_was_killed_can_be_read(tmp_path: Path) -> None:
    folder = written(tmp_path, eventful_events()[:5])
    with (folder / "events.jsonl").open("a") as lines:
        lines.write('{"kind": "as')
    run = read_run(folder)
    assert run.ended is None
    assert "cut short" in str(run.note)


def test_a_run_without_its_configuration_can_be_read(tmp_path: Path) -> None:
    folder = written(tmp_path, simple_events())
    (folder / "config.json").unlink()
    assert read_run(folder).config == {}


@pytest.mark.parametrize("text", ["[]", "{", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")])
def test_a_broken_configuration_is_named(tmp_path: Path, text: str) -> None:
    folder = written(tmp_path, simple_events())
    (folder / "config.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"config\.json"):
        read_run(folder)
