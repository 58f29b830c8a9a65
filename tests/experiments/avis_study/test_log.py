from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import RunFolderError
from pyvision.experiments.avis_study.log import Line, Log, list_answered, read_log
from tests.experiments.avis_study.doubles import make_closed, make_opened, make_used


def write_log(path: Path) -> Path:
    with Log(path) as log:
        for line in (make_opened(), make_used("vqa", "red"), make_closed()):
            log.add(line)
    return path


def test_a_written_log_is_read_back(tmp_path: Path) -> None:
    (attempt,) = read_log(write_log(tmp_path / "log.jsonl")).attempts
    assert (attempt.opened, attempt.used, attempt.closed) == (
        make_opened(),
        (make_used("vqa", "red"),),
        make_closed(),
    )


def test_a_line_is_on_disk_as_soon_as_it_was_added(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        log.add(make_opened())
        assert len(read_log(tmp_path / "log.jsonl").attempts) == 1


def test_a_partial_last_line_is_reported(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    record = read_log(path)
    assert record.attempts[0].closed is None
    assert record.note is not None
    assert "incomplete" in record.note


def test_a_log_with_a_partial_last_line_is_resumed(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    with Log(path) as log:
        log.add(make_closed(is_found=False))
    (attempt,) = read_log(path).attempts
    assert attempt.closed == make_closed(is_found=False)


def test_two_pages_cannot_write_one_log(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl"), pytest.raises(RunFolderError, match="another study page"):
        Log(tmp_path / "log.jsonl")


def test_a_file_that_is_not_a_log_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\nand more")
    with pytest.raises(RunFolderError, match="is not a study log"):
        Log(path)
    assert path.read_text() == "my notes\nand more"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="choose another --log"):
        Log(tmp_path / "file" / "log.jsonl")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no json", "not a line of a study log"),
        ('{"kind": "danced"}', "not a line of a study log"),
        ("[" * 100_000, "not a line of a study log"),
        (json.dumps({"kind": "opened", "attempt": 1}), "not a line of a study log"),
    ],
)
def test_a_broken_line_is_reported_with_its_file_with_number(tmp_path: Path, line: str, why: str) -> None:
    path = write_log(tmp_path / "log.jsonl")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(RunFolderError, match=rf"log\.jsonl', line 5: {why}") as error:
        read_log(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([make_used("vqa")], "line 2: attempt 'a' was never opened"),
        ([make_opened(), make_opened()], "line 3: attempt 'a' is opened twice"),
        ([make_opened(), make_closed(), make_used("vqa")], "line 4: attempt 'a' is already closed"),
        ([make_opened(), make_used("dance")], "line 3: unknown action 'dance'"),
    ],
)
def test_inconsistent_lines_are_refused(tmp_path: Path, lines: list[Line], why: str) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        for line in lines:
            log.add(line)
    with pytest.raises(RunFolderError, match=why):
        read_log(tmp_path / "log.jsonl")


@pytest.mark.parametrize("first", ["", "{}", '{"format": "pyvision-study", "version": 2}', "\x00\xff"])
def test_a_file_without_the_header_is_refused(tmp_path: Path, first: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f"{first}\n")
    with pytest.raises(RunFolderError, match=r"log\.jsonl', line 1"):
        read_log(path)


def test_a_question_that_was_given_up_counts_as_answered(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        for line in (
            make_opened("a", "q1"),
            make_closed("a", is_found=False),
            make_opened("b", "q2"),
            make_opened("c", "q3", user="p-2"),
            make_closed("c"),
        ):
            log.add(line)
    assert list_answered(read_log(tmp_path / "log.jsonl").attempts) == {("p-1", "q1"), ("p-2", "q3")}


def output_of(folder: Path, text: str) -> str:
    with Log(folder / "log.jsonl") as log:
        log.add(make_opened())
        log.add(make_used("vqa", text))
    (attempt,) = read_log(folder / "log.jsonl").attempts
    return attempt.used[0].output


@given(st.text())
def test_any_text_survives_write_log(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    assert output_of(tmp_path_factory.mktemp("log"), text) == text


def test_a_lone_surrogate_becomes_a_replacement_character(tmp_path: Path) -> None:
    assert output_of(tmp_path, "a\ud800b") == "a\ufffdb"


def read_error(path: Path) -> str:
    """The error of reading a log; empty for a valid one."""
    try:
        read_log(path)
    except RunFolderError as error:
        return str(error)
    return ""


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    path.write_bytes(b'{"format":"pyvision-study","version":1}\n' + data)
    assert "\n" not in read_error(path)
