from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.simulated.__main__ import find_lost, play, summarise
from benchmarks.simulated.habits import Aim, Manner, write_look
from benchmarks.simulated.player import SimulatedModel, figures_of
from benchmarks.simulated.questions import first, make_tasks
from pyvision.events import ModelCall
from pyvision.text.replies import find_code
from pyvision.types import Message, Picture, Reply, Sampling, Text
from sandbox import Policy, Sandbox
from tests.doubles import picture

SYSTEM = Message("system", (Text("zoom(image, box)"),))


def output(text: str, *figures: Picture) -> Message:
    parts: list[Text | Picture] = [Text("<interpreter>\n" + text)]
    for number, figure in enumerate(figures, start=1):
        parts += [Text(f"<image_clue_{number}>\n"), figure, Text(f"\n</image_clue_{number}>\n")]
    return Message("user", (*parts, Text("\n</interpreter>")))


def test_the_model_counts_what_was_printed() -> None:
    task = first("count", 1, 0)[0]
    rows = "\n".join(" ".join(map(str, box)) for box in task.boxes[1:])
    question = Message("user", (Text("image_clue_0: 960 x 720 pixels"),))
    reply = SimulatedModel(task).complete(
        (SYSTEM, question, Message("assistant", ()), output(rows)), Sampling()
    )
    assert str(len(task.boxes) - 1) in reply.text


def test_a_figure_that_does_not_show_the_needle_is_no_look() -> None:
    model = SimulatedModel(first("needle", 1, 0)[0])
    assert not model.is_useful(output("", picture(400, 300, "white")))


def test_a_complaint_about_a_reply_is_a_lost_turn() -> None:
    task = first("chart", 1, 0)[0]
    complaint = Message("user", (Text("That reply could not be used"),))
    calls = [ModelCall("solver", "m", (SYSTEM, turn), Reply("?"), 0.1) for turn in (complaint, complaint)]
    assert [why for why, _ in find_lost(calls, SimulatedModel(task))] == ["repair"]


def test_figures_are_found_with_their_names() -> None:
    assert [name for name, _ in figures_of(output("", picture(), picture()))] == [
        "image_clue_1",
        "image_clue_2",
    ]


@pytest.mark.parametrize(
    ("units", "box"),
    [
        ("original", (100, 50, 300, 150)),
        ("shown", (50, 25, 150, 75)),
        ("1000", (250, 250, 750, 750)),
        ("1", (0.25, 0.25, 0.75, 0.75)),
    ],
)
def test_a_box_is_written_in_each_convention(units: str, box: tuple[float, ...]) -> None:
    assert Aim("image_clue_0", (100, 50, 300, 150), (400, 200), (200, 100)).in_units(units) == box


@pytest.mark.parametrize("seed", range(40))
def test_every_manner_of_writing_a_look_is_understood(seed: int) -> None:
    aim = Aim("image_clue_0", (100, 50, 300, 150), (400, 200), (200, 100))
    reply = write_look(Manner(random.Random(seed)), aim)
    assert find_code(reply, {"image_clue_0": (200, 100, 0.5, 0.5)}) is not None


@pytest.mark.slow  # real kernels
def test_no_turn_is_lost_to_the_harness(tmp_path: Path) -> None:
    with Sandbox(Policy(cell_timeout_s=120.0)) as sandbox:
        played = [play(task, sandbox, tmp_path, seed=3) for task in make_tasks(9, seed=3)]
    measured = summarise(played)
    assert [each.lost for each in played] == [()] * 9
    assert measured["accuracy"] == 1.0
