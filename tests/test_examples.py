"""Every program in examples/ runs offline and prints what its docstring promises."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"

PRINTS = {  # program -> its last line
    "answer": "7",
    "own_metric": "squares: 0 (5, and the target is 9)",
    "own_strategy": "4",
    "own_tool": "12 apples",
    "sandbox_alone": "5",
    "stream": "(6, 4)",
}


SLOW = ("own_metric", "own_strategy", "stream")  # the others ask, call a tool and run a cell in the same way


@pytest.mark.parametrize(
    "program", [pytest.param(each, marks=pytest.mark.slow if each in SLOW else ()) for each in PRINTS]
)
def test_an_example_runs_without_a_key(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYVISION_MODEL", "offline")
    monkeypatch.setattr("sys.argv", [program])

    runpy.run_path(str(EXAMPLES / f"{program}.py"), run_name="__main__")

    assert capsys.readouterr().out.splitlines()[-1].startswith(PRINTS[program])


def test_every_example_is_tested() -> None:
    programs = {file.stem for file in EXAMPLES.glob("*.py")} - {"draw"}  # `draw` makes the images

    assert programs == set(PRINTS)
