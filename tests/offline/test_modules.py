"""The package that cells of the offline model import is there wherever they run: in runs, replays and notebooks."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from pyvision import answer, prepare
from pyvision.models.scripted import Scripted
from pyvision.offline.plans import MODULES
from pyvision.runs.export import export
from pyvision.runs.replay import rerun
from pyvision.runs.run import Run, read_run
from sandbox import Policy

PICTURE = Path(__file__).parents[2] / "examples" / "circles.png"
QUESTION = "How many circles are in the image?"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One question that the offline model answers with two cells."""
    folder = tmp_path_factory.mktemp("run") / "out"
    assert answer(QUESTION, [PICTURE], model="offline", out=folder).answer == "7"
    return read_run(folder)


def test_the_cells_of_a_run_are_short(run: Run) -> None:
    assert [len(turn.cells[0].code.splitlines()) <= 12 for turn in run.turns if turn.cells] == [True, True]


def test_a_replay_finds_no_difference(run: Run) -> None:
    assert [each.difference for each in rerun(run)] == [None, None]


def test_an_exported_notebook_runs_beside_the_modules_that_come_with_it(run: Run, tmp_path: Path) -> None:
    path = export(run, "ipynb", tmp_path / "notebook")
    notebook = nbformat.reads(path.read_text(), as_version=4)  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the event loops of nbclient and jupyter_client
        NotebookClient(
            notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
        ).execute()
    texts = [
        output["text"] for cell in notebook.cells for output in cell.get("outputs", []) if "text" in output
    ]
    assert any('RESULT {"count": 7, "confident": true' in text for text in texts)


@pytest.mark.filterwarnings("ignore:cells run without isolation")
def test_it_answers_without_isolation() -> None:
    outcome = answer(QUESTION, [PICTURE], model="offline", policy=Policy(isolation="none"))
    assert outcome.answer == "7"


def test_the_modules_are_offered_to_the_cells_of_the_offline_model() -> None:
    with prepare(QUESTION, [PICTURE], model="offline") as task:
        assert task.policy.modules == (MODULES,)


def test_modules_of_the_caller_stay() -> None:
    with prepare(QUESTION, [PICTURE], model="offline", policy=Policy(modules=("/mine",))) as task:
        assert task.policy.modules == ("/mine", MODULES)


def test_cells_of_other_models_get_no_modules() -> None:
    with prepare(QUESTION, [PICTURE], model=Scripted(())) as task:
        assert task.policy.modules == ()


def test_the_record_of_a_run_does_not_contain_the_folder(run: Run) -> None:
    assert MODULES not in (run.folder / "config.json").read_text(encoding="utf-8")
