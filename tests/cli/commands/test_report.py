"""`pyvision report`, from the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command
from tests.runs.runs import simple_events, written


def test_the_path_of_the_page_in_the_folder_of_the_run_is_printed(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    done = command("report", "run")
    assert (done.returncode, done.stdout, done.stderr) == (0, "run/report.html\n", "")
    assert (tmp_path / "run/report.html").read_text().startswith("<!doctype html>")


def test_out_names_another_file(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    assert command("report", "run", "--out", "deep/down/page.html").returncode == 0
    assert (tmp_path / "deep/down/page.html").is_file()
    assert not list((tmp_path / "deep/down").glob(".*"))


def test_what_is_no_run_is_one_line(tmp_path: Path, command: Command) -> None:
    done = command("report", "nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith("pyvision: no run matches 'nowhere' in 'runs'")
    assert done.stderr.count("\n") == 1


def test_a_folder_as_the_page_is_one_line(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    for folder in (".", "run"):
        done = command("report", "run", "--out", folder)
        assert (done.returncode, done.stderr) == (
            2,
            f"pyvision: {folder!r}: Is a directory; choose another place with --out\n",
        )


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, command: Command) -> None:
    written(tmp_path / "run", simple_events())
    (tmp_path / "file").write_text("")
    done = command("report", "run", "--out", "file/page.html")
    assert done.returncode == 2
    assert "choose another place with --out" in done.stderr
