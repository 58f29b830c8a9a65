"""`pyvision replay`, from the command line; cells run in a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.cli import main
from pyvision.events import CellRun, Event
from sandbox import CellResult, Stream
from tests.cli.conftest import Command
from tests.doubles import png
from tests.runs.runs import simple_events, written

pytestmark = pytest.mark.usefixtures("needs_isolation")


def make_changed_events() -> list[Event]:
    other = CellResult("ok", (Stream("stdout", "\x1b[31mother\n"),))
    return [CellRun(event.code, other) if isinstance(event, CellRun) else event for event in simple_events()]


def test_a_run_that_does_the_same_again_is_0(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    done = command("replay", "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("turn 1, cell 1: same (ok, ")
    assert done.stdout.endswith("1 cell, 0 different\n")


def test_the_difference_of_a_run_is_printed_without_escapes(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", make_changed_events())
    done = command("replay", "run")
    assert done.returncode == 3
    assert "turn 1, cell 1: stdout, line 1: recorded" in done.stdout
    assert "\x1b" not in done.stdout


def test_an_edited_cell_runs_in_place_of_the_recorded_one(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    (tmp_path / "cell.py").write_text("print('edited', image_clue_0.size)\n")
    done = command("replay", "run", "--from", "1", "--edit", "cell.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the edited cell: ok" in done.stdout
    assert done.stdout.endswith("edited (120, 90)\n")


def test_an_unknown_figure_leaves_no_folder(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    (tmp_path / "other.png").write_bytes(png(33, 44))
    flags = ("--from", "1", "--figure", "image_clue_9=other.png", "--model", "offline")
    done = command("replay", "run", *flags)
    assert (done.returncode, "image_clue_9: no such figure in this run" in done.stderr) == (2, True)
    assert not (tmp_path / "run-from-1").exists()


@pytest.mark.slow
def test_a_later_cell_finds_the_other_figure_under_its_name(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    (tmp_path / "cell.py").write_text("print(image_clue_1.size)\n")
    (tmp_path / "other.png").write_bytes(png(33, 44))
    flags = ("--from", "2", "--edit", "cell.py", "--figure", "image_clue_1=other.png")
    assert command("replay", "run", *flags).stdout.endswith("(33, 44)\n")


@pytest.mark.slow
def test_a_model_continues_in_a_new_run(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    (tmp_path / "cell.py").write_text("print('edited')\n")
    done = command("replay", "run", "--from", "1", "--edit", "cell.py", "--model", "offline")
    assert done.returncode in (0, 3)
    events = (tmp_path / "run-from-1/events.jsonl").read_text()
    assert "print('edited')" in events
    assert '"forked"' in (tmp_path / "run-from-1/config.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--edit", "cell.py"), "needs the turn to continue from: add --from K"),
        (("--from", "9", "--model", "offline"), "the run has turns 1 to 2"),
        (("--from", "1"), "--from K needs --edit FILE or --model NAME"),
        (("--from", "1", "--edit", "nowhere.py"), "cannot be read"),
        (("--from", "1", "--model", "offline", "--set", "x"), "is not KEY=VALUE"),
        (("--from", "1", "--model", "offline", "--role", "x"), "is not KEY=VALUE"),
        (("--from", "1", "--model", "offline", "--role", "critic=offline"), "unknown role 'critic'"),
        (("--from", "1", "--model", "offline", "--figure", "image_clue_1=nowhere.png"), "nowhere.png"),
        (
            ("--from", "1", "--model", "offline", "--figure", "image_clue_9=other.png"),
            "its figures are image_clue_1",
        ),
        (("--from", "1", "--model", "offline", "--tool", "x"), "is not KEY=VALUE"),
        (("--from", "1", "--model", "offline", "--tool", "radar=magic"), "unknown tool 'radar'"),
        (("--tool", "ocr=tesseract"), "needs the turn to continue from: add --from K"),
        (("--figure", "image_clue_1=other.png"), "needs the turn to continue from: add --from K"),
    ],
)
def test_wrong_usage_is_one_line(
    tmp_path: Path,
    arguments: tuple[str, ...],
    why: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "run", simple_events())
    (tmp_path / "other.png").write_bytes(png())
    assert main(["replay", "run", *arguments]) == 2
    message = capfd.readouterr().err
    assert why in message
    assert message.count("\n") == 1
