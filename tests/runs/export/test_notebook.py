from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from markdown_it import MarkdownIt
from nbclient import NotebookClient

from pyvision.events import CellRun, Event, ImageDefined, ModelCall, RunStarted, ToolRun
from pyvision.runs.export import export
from pyvision.strategies.vdebugger.execution import call_cell, setup_cell
from pyvision.types import Observation, Reply, ToolRequest
from sandbox import CellError, CellResult, Figure, Region, Stream
from tests.doubles import picture
from tests.runs.runs import eventful_events, recorded, simple_events


def exported(folder: Path, events: tuple[Event, ...]) -> tuple[Path, Any]:
    path = export(recorded(folder / "run", events), "ipynb", folder / "out")
    return path.parent, nbformat.reads(path.read_text(), as_version=4)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    "events", [simple_events(), eventful_events(), simple_events()[:1]], ids=["simple", "eventful", "begun"]
)
def test_it_is_valid(tmp_path: Path, events: tuple[Event, ...]) -> None:
    _, notebook = exported(tmp_path, events)
    nbformat.validate(notebook, relax_add_props=False)


def test_it_is_valid_in_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"d\xff")
    folder.mkdir()
    _, notebook = exported(folder, simple_events())
    nbformat.validate(notebook, relax_add_props=False)


def test_it_runs_top_to_bottom_in_a_plain_kernel(tmp_path: Path) -> None:
    failing = CellRun("1 / 0", CellResult("error", (), CellError("ZeroDivisionError", "division by zero", 1)))
    later = CellRun(
        "print(image_clue_1.size, np.array(image_clue_0).shape)", CellResult("ok", (Stream("stdout", "x"),))
    )
    events = simple_events()
    folder, notebook = exported(tmp_path, (*events[:4], failing, later, *events[4:]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the event loops of nbclient and jupyter_client
        NotebookClient(
            notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        ).execute()
    texts = [
        output["text"] for cell in notebook.cells for output in cell.get("outputs", []) if "text" in output
    ]
    assert "(120, 90)\n" in texts
    assert "(40, 30) (90, 120, 3)\n" in texts


def test_cells_that_would_hang_or_end_the_kernel_do_not_run_again(tmp_path: Path) -> None:
    _, notebook = exported(tmp_path, eventful_events())
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    text = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert not any("os._exit" in source or "while True" in source for source in code)
    assert any("os._exit" in source and "died" in source for source in text)


def test_the_recorded_outputs_stand_in_it(tmp_path: Path) -> None:
    _, notebook = exported(tmp_path, simple_events())
    kinds = [
        [output.output_type for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"
    ]
    assert kinds == [[], ["stream", "display_data"], []]


@pytest.mark.parametrize(
    "text", ["```\n<script>alert(1)</script>", "# Title\n![x](https://evil.example/p.png)", "~~~\n````\n<b>"]
)
def test_what_a_model_wrote_cannot_leave_its_fence(tmp_path: Path, text: str) -> None:
    began, asked, *_ = simple_events()
    assert isinstance(asked, ModelCall)
    _, notebook = exported(tmp_path, (began, replace(asked, reply=Reply(text))))
    source = next(cell.source for cell in notebook.cells if cell.source.startswith("## Turn 1"))
    tokens = MarkdownIt().parse(source)
    assert [token.type for token in tokens] == ["heading_open", "inline", "heading_close", "fence"]
    assert tokens[-1].content == text + "\n"


each_invalid_name = pytest.mark.parametrize("name", ["../../escaped", "x; import os", "a/b", ""])


def exported_under(folder: Path, name: str) -> tuple[Path, Any]:
    """The notebook of a run whose figure has this name."""
    events = (
        replace(event, name=name) if isinstance(event, ImageDefined) else event for event in simple_events()
    )
    return exported(folder, tuple(events))


@each_invalid_name
def test_an_invalid_name_reaches_no_file(tmp_path: Path, name: str) -> None:
    folder, _ = exported_under(tmp_path, name)
    assert sorted(path.name for path in folder.rglob("*.png")) == ["image_clue_0.png"]
    assert not list(tmp_path.glob("*.png"))


@each_invalid_name
def test_an_invalid_name_reaches_no_code(tmp_path: Path, name: str) -> None:
    _, notebook = exported_under(tmp_path, name)
    assert sum(cell.cell_type == "code" for cell in notebook.cells) == 2


def test_its_helpers_run_in_a_plain_kernel(tmp_path: Path) -> None:
    code = "print(from_shown(image_clue_0, (5, 5)), to_original(image_clue_1, (1, 2)))"
    events = with_region(CellRun(code, CellResult("ok", (Stream("stdout", "x"),))))
    folder, notebook = exported(tmp_path, events)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the event loops of nbclient and jupyter_client
        NotebookClient(
            notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        ).execute()
    texts = [
        output["text"] for cell in notebook.cells for output in cell.get("outputs", []) if "text" in output
    ]
    assert "(10.0, 10.0) (11.0, 22.0)\n" in texts


def test_the_helpers_lie_beside_a_notebook_that_calls_them(tmp_path: Path) -> None:
    folder, _ = exported(tmp_path, with_region(CellRun("grid(image_clue_0)", CellResult("ok"))))
    assert (folder / "frames" / "helpers.py").is_file()


def test_no_helpers_lie_beside_a_notebook_without_their_calls(tmp_path: Path) -> None:
    folder, _ = exported(tmp_path, simple_events())
    assert not (folder / "frames").exists()


def with_region(later: CellRun) -> tuple[Event, ...]:
    """The simple run, sent at half the size, whose figure knows its place; and one more cell."""
    began, asked, ran, *rest = simple_events()
    assert isinstance(asked, ModelCall)
    assert isinstance(ran, CellRun)
    text, shown = ran.result.outputs
    assert isinstance(shown, Figure)
    region = Region("image_clue_0", (0, 0, 40, 30), (1, 0, 10, 0, 1, 20))
    result = replace(ran.result, outputs=(text, replace(shown, regions=(region,))))
    sent = tuple(replace(each, width=60, height=45, scale_x=0.5, scale_y=0.5) for each in asked.sent)
    return (began, replace(asked, sent=sent), replace(ran, result=result), *rest[:-1], later, rest[-1])


def test_a_visual_program_gets_the_recorded_results_in_a_plain_kernel(tmp_path: Path) -> None:
    api = setup_cell(0)
    program = "def execute_command(image):\n    return len(ImagePatch(image).find('cup'))"
    run = call_cell(program, "image_clue_0") + "\nprint(execute_command(image_clue_0))"
    request, box = ToolRequest("cup", picture(40, 30)), {"left": 1, "top": 2, "right": 9, "bottom": 8}
    used = ToolRun("detect", request, Observation(data={"boxes": [box]}), 0.1)
    began, *rest = simple_events()
    assert isinstance(began, RunStarted)
    events = (
        replace(began, strategy="vdebugger"),
        CellRun(api, CellResult("ok")),
        used,
        used,
        CellRun(run, CellResult("ok", (Stream("stdout", "1\n"),))),
        *rest,
    )
    folder, notebook = exported(tmp_path, events)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the event loops of nbclient and jupyter_client
        NotebookClient(
            notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert "1\n" in [output.get("text") for output in outputs]


def test_a_cell_that_calls_a_tool_gets_its_recorded_result(tmp_path: Path) -> None:
    used = ToolRun("vqa", ToolRequest("?", picture()), Observation("red", {"answer": "red"}), 0.1)
    began, *rest = simple_events()
    cell = CellRun("print(host.vqa(image_clue_0, '?'))", CellResult("ok"))
    _, notebook = exported(tmp_path, (began, used, cell, *rest))
    code = [each.source for each in notebook.cells if each.cell_type == "code"]
    assert "host = RecordedTools(recorded_tools[0])" in code
    assert '["vqa", {"answer": "red"}, ""]' in (tmp_path / "out" / "tools.json").read_text()


def test_a_run_without_tools_has_no_recorded_results(tmp_path: Path) -> None:
    folder, _ = exported(tmp_path, simple_events())
    assert not (folder / "tools.json").exists()
