from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.cli import main
from pyvision.experiments.avis_study.log import Line, Log
from tests.experiments.avis_study.doubles import a_data_set, closed, opened, used


def a_log(path: Path, *lines: Line) -> Path:
    with Log(path) as log:
        for line in lines or (opened(), used("vqa"), used("search"), closed()):
            log.add(line)
    return path


def failed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a command ends with."""
    assert main(["avis", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_induce_prints_the_graph_and_what_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["avis", "induce", str(a_log(tmp_path / "log.jsonl"))]) == 0
    told = capsys.readouterr().out
    assert "  START -> vqa 1" in told
    assert "START: - object_select (never seen)  - identical_image_search (never seen)" in told
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


def test_induce_writes_what_the_strategy_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = a_log(tmp_path / "log.jsonl")
    assert main(["avis", "induce", str(log), "--out", str(tmp_path / "out")]) == 0
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json*")} - {"log.jsonl"}
    assert written == {
        "out/graph.json",
        "out/counts.json",
        "out/examples/vqa.jsonl",
        "out/examples/web_search.jsonl",
    }
    assert f"written: {tmp_path / 'out' / 'graph.json'}" in capsys.readouterr().out


def test_half_a_line_at_the_end_of_a_log_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = a_log(tmp_path / "log.jsonl")
    log.write_bytes(log.read_bytes() + b'{"half')
    assert main(["avis", "induce", str(log)]) == 0
    assert "cut short" in capsys.readouterr().err


def test_a_bad_log_is_one_line_with_its_file_and_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = a_log(tmp_path / "log.jsonl", opened(), used("dance"))
    assert "log.jsonl', line 3: unknown deed 'dance'" in failed(capsys, "induce", str(log))
    assert "name the log of a study page" in failed(capsys, "induce", str(tmp_path / "none.jsonl"))


def test_a_log_of_failures_alone_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = a_log(tmp_path / "log.jsonl", opened(), used("vqa"), closed(is_found=False))
    assert "--failures" in failed(capsys, "induce", str(log))
    assert main(["avis", "induce", str(log), "--failures"]) == 0


def test_analyse_prints_tables_and_names_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = a_log(tmp_path / "log.jsonl"), tmp_path / "out"
    assert main(["avis", "analyse", str(log), "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "START -> vqa 1.00 (1)" in told
    assert f"plot: {out / 'transitions.svg'}" in told


def test_a_study_of_nothing_is_refused_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_set, log = str(a_data_set(tmp_path, "When?")), str(tmp_path / "log.jsonl")
    assert "none.jsonl" in failed(capsys, "study", str(tmp_path / "none.jsonl"))
    assert "unknown tool 'dance'" in failed(capsys, "study", data_set, "--log", log, "--tool", "dance=model")
    assert "is not KEY=VALUE" in failed(capsys, "study", data_set, "--log", log, "--tool", "detect")
    assert not Path(log).exists()
