"""What the ablations of an audit change in what a strategy sees, and what they do not change."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pyvision.agent.episode import Sandbox, find_libraries
from pyvision.bench.ablations import ABLATIONS, Ablation, FiguresToSwap, blank, figures_of_next_sample
from pyvision.bench.datasets.sources import SampleSource
from pyvision.bench.runner.answering import Job, answer_job
from pyvision.bench.runner.plan import Plan
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from pyvision.events import CellRun, ImageDefined
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from pyvision.strategies.code_loop import CodeLoop
from sandbox import CellError, CellResult, Figure, Stream
from tests.bench.analysis.experiments import write_experiment
from tests.doubles import CannedSandbox, EpisodeHarness, figure, picture, png

SAMPLE = Sample("s2", "How many?", (), "4", metadata={"box": [5, 6, 25, 16]})
FIGURES: FiguresToSwap = {"s1": [figure(9, 9, "blue")], "s2": [figure(8, 8)], "s3": [figure(7, 7, "green")]}
SHOWING = CellResult("ok", (Stream("stdout", "12\n"), figure(30, 20, "red"), figure(10, 10, "black")))


def ablation(name: str) -> Ablation:
    return next(each for each in ABLATIONS if each.name == name)


def under(name: str, sandbox: CannedSandbox) -> Sandbox:
    return ablation(name).around(sandbox, SAMPLE, FIGURES)


def only_colour(found: Figure) -> object:
    image = Image.open(io.BytesIO(found.data)).convert("RGB")
    assert image.size == (found.width, found.height)
    colours = image.getcolors(maxcolors=9)
    assert colours is not None
    assert len(colours) == 1
    return colours[0][1]


def test_without_execution_every_cell_is_silent() -> None:
    session = under("not_run", CannedSandbox([SHOWING])).open({"image_clue_0": png()})
    assert session.run("print(12)") == CellResult("ok")


def test_without_execution_no_kernel_opens() -> None:
    inner = CannedSandbox([SHOWING])
    session = under("not_run", inner).open({"image_clue_0": png()})
    session.run("print(12)")
    session.define({})
    session.close()
    assert (inner.opened, inner.cells) == (0, [])


def run_blank() -> CellResult:
    return under("blank", CannedSandbox([SHOWING])).open({}).run("show()")


def test_blank_figures_are_grey() -> None:
    assert {only_colour(each) for each in run_blank().figures} == {(128, 128, 128)}


def test_blank_figures_keep_their_size() -> None:
    assert [(each.width, each.height) for each in run_blank().figures] == [(30, 20), (10, 10)]


def test_the_text_beside_blank_figures_stays() -> None:
    assert run_blank().text == "12\n"


def test_swapped_figures_are_another_samples() -> None:
    session = under("swapped", CannedSandbox([SHOWING])).open({})
    assert [each.data for each in session.run("show()").figures] == [FIGURES["s3"][0].data] * 2


def test_a_sample_never_gets_its_own_figures() -> None:
    ids = {figures_of_next_sample(Sample(key, "", (), ""), FIGURES)[0].data for key in ("s1", "s2", "s3")}
    assert len(ids) == 3
    assert figures_of_next_sample(Sample("s3", "", (), ""), FIGURES) == FIGURES["s1"]


def test_a_swap_without_another_figure_is_an_error() -> None:
    with pytest.raises(ConfigError, match="'s2': no other sample displayed a figure"):
        ablation("swapped").around(CannedSandbox(), SAMPLE, {"s2": [figure()], "s4": []})


def test_an_oracle_crop_is_made_in_the_kernel_before_the_first_cell() -> None:
    crop = CellResult("ok", (figure(40, 30, "yellow"),))
    inner = CannedSandbox([crop, SHOWING])
    session = under("oracle", inner).open({"image_clue_0": png()})
    assert re.search(r"\(5\.0, 6\.0, 25\.0, 16\.0\), 0\.25", inner.cells[0])
    assert [only_colour(each) for each in session.run("show()").figures] == [(255, 255, 0)] * 2


def test_the_crop_is_the_box_with_its_margin_within_the_image() -> None:
    inner = CannedSandbox([CellResult("ok")])
    under("oracle", inner).open({})
    displayed: list[Image.Image] = []
    names = {"display": displayed.append, "image_clue_0": Image.new("RGB", (28, 200))}
    exec(inner.cells[0], names)  # our own cell, as the kernel runs it
    assert displayed[0].size == (28 - 0, round(16 + 2.5) - round(6 - 2.5))
    assert "_show_box" not in names


def test_the_oracle_cannot_answer_a_sample_without_a_box() -> None:
    without = Sample("s9", "", (), "", metadata={"box": [1, 2]})
    assert not ablation("oracle").can_answer(without)
    assert ablation("blank").can_answer(without)
    with pytest.raises(ConfigError, match="'s9': no metadata"):
        ablation("oracle").around(CannedSandbox(), without, {})


TRUE_FIGURES = [each.data for each in SHOWING.figures]


def solve_with_figures(name: str) -> tuple[EpisodeHarness, CannedSandbox]:
    """A solved run under the ablation `name` whose only cell shows the two true figures."""
    loop = EpisodeHarness(["<code>\n```python\nshow()\n```\n</code>", "\\boxed{4}"], [SHOWING])
    inner = loop.sandbox
    loop.episode._kernel.sandbox = under(name, inner)  # the double builds its own episode
    assert loop.solve(CodeLoop()).text == "4"
    return loop, inner


@pytest.mark.parametrize("name", ["blank", "swapped"])
def test_the_model_sees_only_replaced_figures(name: str) -> None:
    loop, _ = solve_with_figures(name)
    (ran,) = (event for event in loop.events if isinstance(event, CellRun))
    seen = [event.picture.data for event in loop.events if isinstance(event, ImageDefined)]
    assert [each.data for each in ran.result.figures] != TRUE_FIGURES
    assert set(seen).isdisjoint(TRUE_FIGURES)


@pytest.mark.parametrize("name", ["blank", "swapped"])
def test_the_kernel_holds_the_true_figures(name: str) -> None:
    _, inner = solve_with_figures(name)
    assert [inner.images[key] for key in ("image_clue_1", "image_clue_2")] == TRUE_FIGURES


def test_a_defined_figure_is_restored_from_the_latest_cell() -> None:
    inner = CannedSandbox([SHOWING, CellResult("ok", (figure(5, 5, "blue"),))])
    session = under("blank", inner).open({})
    session.run("show()")
    result = session.run("show()")
    session.define({"image_clue_1": result.figures[0].data})
    assert inner.images["image_clue_1"] == png(5, 5, "blue")


def test_an_image_that_no_cell_displayed_is_defined_unchanged() -> None:
    inner = CannedSandbox([CellResult("ok")])
    under("blank", inner).open({}).define({"image_clue_7": picture().data})
    assert inner.images["image_clue_7"] == picture().data


def test_closing_reaches_the_kernel() -> None:
    for name in ("blank", "swapped", "oracle"):
        inner = CannedSandbox([SHOWING])
        under(name, inner).open({}).close()
        assert inner.closed == 1


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_blank_figure_of_any_size_is_a_grey_image(width: int, height: int) -> None:
    assert only_colour(blank(Figure(b"", "image/png", width, height))) == (128, 128, 128)


def test_an_ablation_wraps_the_sandbox_of_one_sample() -> None:
    sample = Sample("s2", "How many?", (png(),), "4")
    replies = ["<code>\n```python\nshow()\n```\n</code>", "\\boxed{4}"]
    task = prepare("?", model=Scripted(replies), strategy="code_loop")
    inner = CannedSandbox([SHOWING])
    sandbox = ablation("swapped").around(inner, sample, FIGURES)
    finished = answer_job(task, lambda sample: sandbox, Job(sample, 0))
    assert (finished.record.answer, finished.record.cells, finished.record.figures) == ("4", 1, 2)
    (ran,) = (event for event in finished.events if isinstance(event, CellRun))
    assert ran.result.figures[0] == FIGURES["s3"][0]
    assert inner.images["image_clue_1"] == SHOWING.figures[0].data


@pytest.mark.parametrize("name", [each.name for each in ABLATIONS])
def test_an_ablation_has_the_libraries_of_its_sandbox(name: str) -> None:
    inner = CannedSandbox([SHOWING])
    inner.libraries = ("cv2",)
    assert find_libraries(under(name, inner)) == ("cv2",)


def test_a_withheld_result_shows_neither_output_nor_figures() -> None:
    inner = CannedSandbox([SHOWING])
    result = under("format_only", inner).open({}).run("show()")
    assert inner.cells == ["show()"]
    assert result.figures == ()
    assert result.text == "(the cell ran; what it returned is withheld)\n"


def test_an_error_is_a_result_that_is_withheld() -> None:
    failed = CellResult("error", error=CellError("ValueError", "twelve"))
    result = under("format_only", CannedSandbox([failed])).open({}).run("raise")
    assert (result.status, result.error) == ("ok", None)


def test_a_lost_kernel_is_reported_although_results_are_withheld() -> None:
    lost = CellResult("died", (Stream("stdout", "12"),), state="lost")
    result = under("format_only", CannedSandbox([lost])).open({}).run("exit()")
    assert (result.status, result.state) == ("died", "lost")
    assert "12" not in result.text


def asked_with_results(folder: Path, *samples: Sample) -> list[Sample]:
    return list(ablation("result_only").ask(iter(samples), folder))


def test_results_without_the_reasoning_are_outputs_in_order(tmp_path: Path) -> None:
    failed = CellResult("error", error=CellError("ValueError", "no circle"))
    cells = (CellRun("secret_code()", SHOWING), CellRun("more()", failed))
    write_experiment(tmp_path, [1], cells=cells)
    (found,) = asked_with_results(tmp_path, Sample("s0", "How many?", (png(),), "4", context="Look."))
    assert found.context.startswith("Look.\n\n")
    assert re.search(r"12\n.*image 2\).*image 3\).*ValueError: no circle", found.context, re.DOTALL)
    assert "secret_code" not in found.context
    assert found.images == (png(), *(each.data for each in SHOWING.figures))
    assert (found.text, found.target) == ("How many?", "4")


def test_a_sample_in_which_no_cell_ran_is_asked_unchanged(tmp_path: Path) -> None:
    write_experiment(tmp_path, [1], cells=())
    sample = Sample("s0", "How many?", (png(),), "4")
    assert asked_with_results(tmp_path, sample) == [sample]


def test_a_sample_without_results_to_show_is_named(tmp_path: Path) -> None:
    write_experiment(tmp_path, [1])
    with pytest.raises(ConfigError, match=r"'s7': not in .*run the ablation 'tools'"):
        asked_with_results(tmp_path, Sample("s7", "How many?", (), "4"))


def test_an_ablation_that_shows_another_run_needs_it() -> None:
    with pytest.raises(ConfigError, match=r"'result_only' shows .* --swap-from DIR"):
        Plan(SampleSource("made", {}, tuple), ablation="result_only").find_ablation()
