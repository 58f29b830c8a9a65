from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import RunFolderError
from pyvision.experiments.avis_study.log import Line, Log, answered_questions, read_log
from tests.experiments.avis_study.doubles import closed, opened, used


def a_log(path: Path) -> Path:
    with Log(path) as log:
        for line in (opened(), used("vqa", "red"), closed()):
            log.add(line)
    return path


def test_what_was_done_is_read_back(tmp_path: Path) -> None:
    (attempt,) = read_log(a_log(tmp_path / "log.jsonl")).attempts
    assert (attempt.opened, attempt.used, attempt.closed) == (opened(), (used("vqa", "red"),), closed())


def test_every_line_is_in_the_file_before_the_next_thing_happens(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        log.add(opened())
        assert len(read_log(tmp_path / "log.jsonl").attempts) == 1


def test_half_a_line_of_a_page_that_was_killed_is_left_out_and_said_so(tmp_path: Path) -> None:
    path = a_log(tmp_path / "log.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    record = read_log(path)
    assert record.attempts[0].closed is None
    assert record.note is not None
    assert "cut short" in record.note


def test_a_log_that_was_cut_short_is_gone_on_with(tmp_path: Path) -> None:
    path = a_log(tmp_path / "log.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    with Log(path) as log:
        log.add(closed(is_found=False))
    (attempt,) = read_log(path).attempts
    assert attempt.closed == closed(is_found=False)


def test_two_pages_cannot_write_one_log(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl"), pytest.raises(RunFolderError, match="another study page"):
        Log(tmp_path / "log.jsonl")


def test_a_file_that_is_no_log_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\nand more")
    with pytest.raises(RunFolderError, match="is no log of a study"):
        Log(path)
    assert path.read_text() == "my notes\nand more"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="choose another --log"):
        Log(tmp_path / "file" / "log.jsonl")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no json", "no line of a study"),
        ('{"kind": "danced"}', "no line of a study"),
        ("[" * 100_000, "no line of a study"),
        (json.dumps({"kind": "opened", "attempt": 1}), "no line of a study"),
    ],
)
def test_a_broken_line_is_told_with_its_file_and_number(tmp_path: Path, line: str, why: str) -> None:
    path = a_log(tmp_path / "log.jsonl")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(RunFolderError, match=rf"log\.jsonl', line 5: {why}") as error:
        read_log(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([used("vqa")], "line 2: attempt 'a' was never opened"),
        ([opened(), opened()], "line 3: attempt 'a' is opened a second time"),
        ([opened(), closed(), used("vqa")], "line 4: attempt 'a' is closed already"),
        ([opened(), used("dance")], "line 3: unknown deed 'dance'"),
    ],
)
def test_lines_that_do_not_follow_from_each_other_are_refused(
    tmp_path: Path, lines: list[Line], why: str
) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        for line in lines:
            log.add(line)
    with pytest.raises(RunFolderError, match=why):
        read_log(tmp_path / "log.jsonl")


@pytest.mark.parametrize("first", ["", "{}", '{"format": "pyvision-study", "version": 2}', "\x00\xff"])
def test_what_does_not_begin_as_a_log_is_refused(tmp_path: Path, first: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f"{first}\n")
    with pytest.raises(RunFolderError, match=r"log\.jsonl', line 1"):
        read_log(path)


def test_a_question_counts_as_answered_whichever_end_it_had(tmp_path: Path) -> None:
    with Log(tmp_path / "log.jsonl") as log:
        for line in (
            opened("a", "q1"),
            closed("a", is_found=False),
            opened("b", "q2"),
            opened("c", "q3", user="p-2"),
            closed("c"),
        ):
            log.add(line)
    assert answered_questions(read_log(tmp_path / "log.jsonl").attempts) == {("p-1", "q1"), ("p-2", "q3")}


def output_of(folder: Path, text: str) -> str:
    with Log(folder / "log.jsonl") as log:
        log.add(opened())
        log.add(used("vqa", text))
    (attempt,) = read_log(folder / "log.jsonl").attempts
    return attempt.used[0].output


@given(st.text())
def test_any_text_goes_through_a_log_in_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    assert output_of(tmp_path_factory.mktemp("log"), text) == text


def test_half_a_character_becomes_a_mark_of_its_own(tmp_path: Path) -> None:
    assert output_of(tmp_path, "a\ud800b") == "a\ufffdb"


def complaint_about(path: Path) -> str:
    """What reading a log says; nothing for one that is sound."""
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
    assert "\n" not in complaint_about(path)
