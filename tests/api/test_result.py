from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pyvision
from pyvision.api.html import run_html
from pyvision.api.magic import see
from pyvision.errors import ConfigError, RunFolderError
from pyvision.events import CellRun, ImageDefined, ModelCall, RunEnded, RunStarted, ToolRun
from pyvision.models.scripted import Scripted
from pyvision.types import Observation, Outcome, Question, Reply, Source, ToolRequest, Usage
from sandbox import CellResult, Figure, Stream
from tests.doubles import figure, picture

HOSTILE = "<script>alert(1)</script>"
CODE = f"<code>\n```python\nprint('{HOSTILE}')\n```\n</code>"


def events_of(outcome: Outcome, shown: Figure) -> tuple[pyvision.Event, ...]:
    source = Source("An owl", "https://example.com")
    return (
        RunStarted(Question(f"Which owl? {HOSTILE}", (picture(),)), "code_loop", {"default": "scripted"}),
        ModelCall("solver", "scripted", (), Reply(f"I look {HOSTILE}\n{CODE}"), 1.0),
        CellRun("image_clue_0", CellResult("ok", (Stream("stdout", HOSTILE), shown))),
        ImageDefined("image_clue_1", picture(8, 6, "red")),
        ToolRun("web_search", ToolRequest("owl"), Observation("an owl", sources=(source, source)), 0.1),
        RunEnded(outcome, Usage(10, 5), 1, 1, 2.5, 0.01),
    )


@pytest.fixture
def result() -> pyvision.RunResult:
    return pyvision.RunResult(events_of(Outcome(f"a tawny owl {HOSTILE}", "answered"), figure()))


def test_a_result_names_its_costs(result: pyvision.RunResult) -> None:
    assert (result.usage.total, result.cost, result.seconds, result.turns) == (15, 0.01, 2.5, 1)


def test_a_result_gives_its_figures_as_pil_images(result: pyvision.RunResult) -> None:
    assert [image.getpixel((0, 0)) for image in result.figures] == [(255, 0, 0)]


def test_a_result_lists_each_source_once(result: pyvision.RunResult) -> None:
    assert result.sources == (Source("An owl", "https://example.com"),)


def test_the_repr_of_a_result_is_one_line(result: pyvision.RunResult) -> None:
    assert len(repr(result)) < 200


def test_html_shows_the_question_with_its_answer(result: pyvision.RunResult) -> None:
    html = result._repr_html_()
    assert "Which owl?" in html
    assert "a tawny owl" in html


def test_html_folds_the_steps_of_a_run_that_has_ended(result: pyvision.RunResult) -> None:
    assert "<details><summary>1 turn, 1 cell, 2.5 s</summary>" in result._repr_html_()


def test_html_of_a_run_that_is_going_on_is_open(result: pyvision.RunResult) -> None:
    assert "<details open>" in run_html(result.events[:-1], None)


def test_html_escapes_everything_that_others_wrote(result: pyvision.RunResult) -> None:
    assert "<script" not in result._repr_html_()


def test_html_says_why_there_is_no_answer() -> None:
    html = run_html(events_of(Outcome(None, "turn_limit", "20 turns are used"), figure()), None)
    assert "turn_limit: 20 turns are used" in html


def test_a_recorded_run_is_loaded_as_it_was(tmp_path: Path) -> None:
    model = Scripted(["<answer>\\boxed{7}</answer>"])
    result = pyvision.answer("?", model=model, strategy="direct", out=tmp_path / "run")
    assert pyvision.load(tmp_path / "run") == result


def test_loading_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="is this the folder of a run"):
        pyvision.load(tmp_path)


def test_a_displayed_stream_shows_each_step(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(
        "IPython.display.DisplayHandle.display", lambda self, result: shown.append(result._repr_html_())
    )
    monkeypatch.setattr(
        "IPython.display.DisplayHandle.update", lambda self, result: shown.append(result._repr_html_())
    )
    see("", "How many?", {})._ipython_display_()
    assert "working" in shown[1]
    assert "working" not in shown[-1]


def test_the_magic_takes_variables_as_images() -> None:
    events = see("photo --model offline", "How many circles?", {"photo": picture()})
    assert next(events).question.images == (picture(),)  # type: ignore[union-attr]
    events.close()


def test_the_magic_refuses_a_flag_without_a_value() -> None:
    with pytest.raises(ConfigError, match="-m needs a name"):
        see("photo.jpg -m", "?", {})


def test_the_extension_registers_the_magic() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    pyvision.load_ipython_extension(shell)
    assert shell.find_cell_magic("see") is not None


def test_html_counts_no_turn_before_the_first_reply() -> None:
    began, *rest = events_of(Outcome("owl", "answered"), figure())
    by_tool = ModelCall("caption", "scripted", (), Reply("an owl"), 0.1, for_tool=True)
    html = run_html((began, by_tool, *rest), None)
    assert "1 turn, 1 cell" in html
