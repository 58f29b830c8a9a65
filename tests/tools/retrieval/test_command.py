from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.cli import main
from tests.tools.retrieval.collection import drawing, write_records


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYVISION_INDEX", str(tmp_path / "index.sqlite"))
    made = tmp_path / "collection"
    made.mkdir()
    write_records(made / "facts.jsonl", {"title": "Bree", "text": "A river.", "url": "http://b/"})
    drawing(0).save(made / "crest.png")
    return made


def test_what_was_added_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "add", str(folder)]) == 0
    output = capsys.readouterr().out
    assert output.startswith("files: 2 added (1 picture, 1 records) · 2 passages written")
    assert main(["index", "search", "rivers"]) == 0
    assert capsys.readouterr().out.split("\n")[0].endswith("Bree")


def test_an_image_is_searched_by_an_image(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", "add", str(folder)])
    capsys.readouterr()
    assert main(["index", "search", "--image", str(folder / "crest.png"), "--json"]) == 0
    hit = json.loads(capsys.readouterr().out)
    assert (hit["title"], hit["is_same"]) == ("crest", True)


@pytest.fixture
def folder_with_a_broken_file(folder: Path) -> Path:
    (folder / "broken.png").write_bytes(b"\x89PNG")
    return folder


def test_a_broken_file_gives_exit_code_3(folder_with_a_broken_file: Path) -> None:
    assert main(["index", "add", str(folder_with_a_broken_file)]) == 3


def test_a_broken_file_is_named_on_standard_error(
    folder_with_a_broken_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["index", "add", str(folder_with_a_broken_file)])
    assert capsys.readouterr().err.startswith("skipped: '")


def test_a_broken_file_is_counted_as_skipped(
    folder_with_a_broken_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["index", "add", str(folder_with_a_broken_file)])
    assert "1 skipped" in capsys.readouterr().out


def test_nothing_found_is_exit_code_3(folder: Path) -> None:
    main(["index", "add", str(folder)])
    assert main(["index", "search", "zebra"]) == 3


def test_nothing_found_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", "add", str(folder)])
    capsys.readouterr()
    main(["index", "search", "zebra"])
    found = capsys.readouterr()
    assert (found.out, found.err.startswith("nothing found in ")) == ("", True)


def test_info_counts_the_files_by_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", "add", str(folder)])
    capsys.readouterr()
    assert main(["index", "info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {"picture": 1, "records": 1}


def test_a_removed_file_is_no_longer_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["index", "add", str(folder)])
    assert main(["index", "remove", str(folder / "facts.jsonl")]) == 0
    capsys.readouterr()
    main(["index", "info", "--json"])
    assert json.loads(capsys.readouterr().out)["files"] == {"picture": 1}


@pytest.mark.parametrize("what", [["search", "x"], ["info"], ["remove", "x"]])
def test_without_an_index_one_line_says_how_to_make_one(
    folder: Path, capsys: pytest.CaptureFixture[str], what: list[str]
) -> None:
    assert main(["index", *what]) == 2
    assert "no such file" in capsys.readouterr().err
