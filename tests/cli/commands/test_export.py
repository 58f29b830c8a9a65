"""`pyvision export`, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.runs.runs import simple_events, written


def test_a_format_has_a_folder_of_its_own_in_that_of_the_run(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    done = command("export", "run", "--to", "ipynb")
    assert (done.returncode, done.stdout, done.stderr) == (0, "run/exports/ipynb/notebook.ipynb\n", "")
    assert sorted(path.name for path in (tmp_path / "run/exports/ipynb/images").iterdir()) == [
        "image_clue_0.png",
        "image_clue_1.png",
    ]


def test_out_names_another_folder(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    assert command("export", "run", "--to", "swift", "--out", "data").stdout == "data/swift.jsonl\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("run", "--to", "nothing"),
            "known formats are ipynb, messages, pyvision, sharegpt, swift, verl, atif",
        ),
        (("run",), "--to"),
        (
            ("run", "--to", "ipynb", "--out", "look.ipynb"),
            "'look.ipynb' names a file; give a folder: --out look",
        ),
        (("nowhere", "--to", "atif"), "no run matches 'nowhere'"),
    ],
)
def test_wrong_usage_is_one_line(
    tmp_path: Path, command: Command, arguments: tuple[str, ...], why: str
) -> None:
    written(tmp_path / "run", simple_events())
    done = command("export", *arguments)
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stderr.count("\n") == 1
