"""What the ablations of an audit change of what a strategy sees, and what they leave alone."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pyvision.agent.episode import Sandbox
from pyvision.bench.ablations import ABLATIONS, Ablation, FiguresToSwap, blank, figures_of_next_sample
from pyvision.bench.runner.answering import Job, answer_job
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from pyvision.events import CellRun, ImageDefined
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from pyvision.strategies.code_loop import CodeLoop
from sandbox import CellResult, Figure, Stream
from tests.doubles import CannedSandbox, Rehearsal, figure, picture, png

SAMPLE = Sample("s2", "How many?", (), "4", metadata={"box": [5, 6, 25, 16]})
DONORS: FiguresToSwap = {"s1": [figure(9, 9, "blue")], "s2": [figure(8, 8)], "s3": [figure(7, 7, "green")]}
SHOWING = CellResult("ok", (Stream("stdout", "12\n"), figure(30, 20, "red"), figure(10, 10, "black")))


def ablation(name: str) -> Ablation:
    return next(each for each in ABLATIONS if each.name == name)


def in_arm(name: str, sandbox: CannedSandbox) -> Sandbox:
    return ablation(name).around(sandbox, SAMPLE, DONORS)


def only_colour(found: Figure) -> object:
    image = Image.open(io.BytesIO(found.data)).convert("RGB")
    assert image.size == (found.width, found.height)
    colours = image.getcolors(maxcolors=9)
    assert colours is not None
    assert len(colours) == 1
    return colours[0][1]


def test_without_execution_no_kernel_opens_and_every_cell_is_silent() -> None:
    inner = CannedSandbox([SHOWING])
    session = in_arm("not_run", inner).open({"image_clue_0": png()})
    assert session.run("print(12)") == CellResult("ok")
    session.define({})
    session.close()
    assert (inner.opened, inner.cells) == (0, [])


def test_blank_figures_are_grey_and_of_the_same_size_and_text_stays() -> None:
    session = in_arm("blank", CannedSandbox([SHOWING])).open({})
    result = session.run("show()")
    assert result.text == "12\n"
    assert [(each.width, each.height) for each in result.figures] == [(30, 20), (10, 10)]
    assert {only_colour(each) for each in result.figures} == {(128, 128, 128)}


def test_swapped_figures_are_another_samples() -> None:
    session = in_arm("swapped", CannedSandbox([SHOWING])).open({})
    assert [each.data for each in session.run("show()").figures] == [DONORS["s3"][0].data] * 2


def test_the_donor_is_never_the_sample_itself() -> None:
    ids = {figures_of_next_sample(Sample(key, "", (), ""), DONORS)[0].data for key in ("s1", "s2", "s3")}
    assert len(ids) == 3
    assert figures_of_next_sample(Sample("s3", "", (), ""), DONORS) == DONORS["s1"]


def test_a_swap_without_another_figure_is_refused() -> None:
    with pytest.raises(ConfigError, match="'s2': no other sample showed a figure"):
        ablation("swapped").around(CannedSandbox(), SAMPLE, {"s2": [figure()], "s4": []})


def test_an_oracle_crop_is_cut_in_the_kernel_before_the_first_cell() -> None:
    crop = CellResult("ok", (figure(40, 30, "yellow"),))
    inner = CannedSandbox([crop, SHOWING])
    session = in_arm("oracle", inner).open({"image_clue_0": png()})
    assert re.search(r"\(5\.0, 6\.0, 25\.0, 16\.0\), 0\.25", inner.cells[0])
    assert [only_colour(each) for each in session.run("show()").figures] == [(255, 255, 0)] * 2


def test_the_cut_out_is_the_box_with_its_margin_within_the_picture() -> None:
    inner = CannedSandbox([CellResult("ok")])
    in_arm("oracle", inner).open({})
    shown: list[Image.Image] = []
    names = {"display": shown.append, "image_clue_0": Image.new("RGB", (28, 200))}
    exec(inner.cells[0], names)  # our own cell, as the kernel runs it
    assert shown[0].size == (28 - 0, round(16 + 2.5) - round(6 - 2.5))
    assert "_show_box" not in names


def test_a_sample_without_a_box_is_not_for_the_oracle() -> None:
    without = Sample("s9", "", (), "", metadata={"box": [1, 2]})
    assert not ablation("oracle").can_answer(without)
    assert ablation("blank").can_answer(without)
    with pytest.raises(ConfigError, match="'s9': no metadata"):
        ablation("oracle").around(CannedSandbox(), without, {})


@pytest.mark.parametrize("name", ["blank", "swapped"])
def test_the_model_sees_the_replaced_figure_and_the_kernel_holds_the_true_one(name: str) -> None:
    rehearsal = Rehearsal(
        ["<code>\n```python\nshow()\n```\n</code>", "\\boxed{4}"],
        [SHOWING],
    )
    inner = rehearsal.sandbox
    rehearsal.episode._sandbox = in_arm(name, inner)  # the double builds its own episode
    assert rehearsal.solve(CodeLoop()).text == "4"
    ran = [event for event in rehearsal.events if isinstance(event, CellRun)]
    seen = [event.picture.data for event in rehearsal.events if isinstance(event, ImageDefined)]
    true = [each.data for each in SHOWING.figures]
    assert [each.data for each in ran[0].result.figures] != true
    assert [inner.images[key] for key in ("image_clue_1", "image_clue_2")] == true
    assert set(seen).isdisjoint(true)


def test_the_figures_of_one_cell_are_not_put_back_as_those_of_the_next() -> None:
    inner = CannedSandbox([SHOWING, CellResult("ok", (figure(5, 5, "blue"),))])
    session = in_arm("blank", inner).open({})
    session.run("show()")
    result = session.run("show()")
    session.define({"image_clue_1": result.figures[0].data})
    assert inner.images["image_clue_1"] == png(5, 5, "blue")


def test_an_image_that_no_cell_showed_is_defined_as_it_is() -> None:
    inner = CannedSandbox([CellResult("ok")])
    in_arm("blank", inner).open({}).define({"image_clue_7": picture().data})
    assert inner.images["image_clue_7"] == picture().data


def test_closing_reaches_the_kernel() -> None:
    for name in ("blank", "swapped", "oracle"):
        inner = CannedSandbox([SHOWING])
        in_arm(name, inner).open({}).close()
        assert inner.closed == 1


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_blank_figure_of_any_size_is_a_grey_picture(width: int, height: int) -> None:
    assert only_colour(blank(Figure(b"", "image/png", width, height))) == (128, 128, 128)


def test_an_arm_goes_around_the_sandbox_of_one_sample_and_its_record_is_as_usual() -> None:
    sample = Sample("s2", "How many?", (png(),), "4")
    replies = ["<code>\n```python\nshow()\n```\n</code>", "\\boxed{4}"]
    task = prepare("?", model=Scripted(replies), strategy="code_loop")
    inner = CannedSandbox([SHOWING])
    sandbox = ablation("swapped").around(inner, sample, DONORS)
    finished = answer_job(task, lambda sample: sandbox, Job(sample, 0))
    assert (finished.record.answer, finished.record.cells, finished.record.figures) == ("4", 1, 2)
    (ran,) = (event for event in finished.events if isinstance(event, CellRun))
    assert ran.result.figures[0] == DONORS["s3"][0]
    assert inner.images["image_clue_1"] == SHOWING.figures[0].data
