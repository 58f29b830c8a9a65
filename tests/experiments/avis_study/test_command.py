from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pyvision.cli import main
from pyvision.experiments.avis_study.log import Line, Log
from tests.experiments.avis_study.doubles import make_closed, make_dataset, make_opened, make_used


def write_log(path: Path, *lines: Line) -> Path:
    with Log(path) as log:
        for line in lines or (make_opened(), make_used("vqa"), make_used("search"), make_closed()):
            log.add(line)
    return path


def run_failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a failing command prints."""
    assert main(["avis", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_port_that_is_taken_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        dataset, log = str(make_dataset(tmp_path, "How many?")), str(tmp_path / "study.jsonl")
        assert f"cannot listen on 127.0.0.1:{port}" in run_failing(
            capsys, "study", dataset, "--log", log, "--port", port
        )


def test_induce_prints_the_graph_with_its_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["avis", "induce", str(write_log(tmp_path / "log.jsonl"))]) == 0
    output = capsys.readouterr().out
    assert "  START -> vqa 1" in output
    assert "START: - object_select (never seen)  - identical_image_search (never seen)" in output
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


def test_induce_writes_the_files_of_the_strategy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_log(tmp_path / "log.jsonl")
    assert main(["avis", "induce", str(log), "--out", str(tmp_path / "out")]) == 0
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json*")} - {"log.jsonl"}
    assert written == {
        "out/graph.json",
        "out/counts.json",
        "out/examples/vqa.jsonl",
        "out/examples/web_search.jsonl",
    }
    assert f"written: {tmp_path / 'out' / 'graph.json'}" in capsys.readouterr().out


def test_a_partial_last_line_of_a_log_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_log(tmp_path / "log.jsonl")
    log.write_bytes(log.read_bytes() + b'{"half')
    assert main(["avis", "induce", str(log)]) == 0
    assert "incomplete" in capsys.readouterr().err


def test_an_invalid_log_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_log(tmp_path / "log.jsonl", make_opened(), make_used("dance"))
    assert "log.jsonl', line 3: unknown action 'dance'" in run_failing(capsys, "induce", str(log))
    assert "give the log of a study page" in run_failing(capsys, "induce", str(tmp_path / "none.jsonl"))


def test_a_log_of_failures_alone_needs_a_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_log(tmp_path / "log.jsonl", make_opened(), make_used("vqa"), make_closed(is_found=False))
    assert "--failures" in run_failing(capsys, "induce", str(log))
    assert main(["avis", "induce", str(log), "--failures"]) == 0


def test_analyse_prints_the_paths_of_its_plots_after_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = write_log(tmp_path / "log.jsonl"), tmp_path / "out"
    assert main(["avis", "analyse", str(log), "--out", str(out)]) == 0
    output = capsys.readouterr().out
    assert "START -> vqa 1.00 (1)" in output
    assert f"plot: {out / 'transitions.svg'}" in output


def test_invalid_study_arguments_are_refused_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_set, log = str(make_dataset(tmp_path, "When?")), str(tmp_path / "log.jsonl")
    assert "none.jsonl" in run_failing(capsys, "study", str(tmp_path / "none.jsonl"))
    assert "unknown tool 'dance'" in run_failing(
        capsys, "study", data_set, "--log", log, "--tool", "dance=model"
    )
    assert "is not KEY=VALUE" in run_failing(capsys, "study", data_set, "--log", log, "--tool", "detect")
    assert not Path(log).exists()
