from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pyvision.errors import ConfigError
from pyvision.tools.retrieval.building import remove
from pyvision.tools.retrieval.database import reading, writing
from pyvision.tools.retrieval.entries import Counts
from pyvision.tools.retrieval.search import Index
from tests.pictures import png
from tests.tools.retrieval.collection import drawing, indexed, picture, write_records


def paths_of(index: Path, query: str) -> set[str]:
    return {Path(hit.path).name for hit in Index(index).documents(query, 50)}


def complaints(index: Path, *roots: Path) -> list[str]:
    told = list[str]()
    indexed(index, *roots, tell=told.append)
    return told


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "index.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "collection"
    made.mkdir()
    (made / "orland.md").write_text("# Orland\n\nA country on the Ahn.\n\n## Food\n\nBread.")
    (made / "notes.txt").write_text("Bread is baked at night.")
    drawing(1).save(made / "one.png")
    drawing(2).save(made / "two.jpg")
    return made


def test_a_folder_is_indexed_with_all_kinds_in_it(index: Path, folder: Path) -> None:
    write_records(folder / "facts.jsonl", {"title": "Vessa", "text": "The capital.", "url": "http://v/"})
    counts = indexed(index, folder)
    assert counts.by_kind == {"markdown": 1, "text": 1, "picture": 2, "records": 1}
    assert (counts.added, counts.passages, counts.skipped) == (5, 6, 0)


def test_what_is_unchanged_is_not_read_again(index: Path, folder: Path) -> None:
    indexed(index, folder)
    assert indexed(index, folder) == Counts(unchanged=4)


def test_a_file_with_the_same_content_and_another_time_is_unchanged(index: Path, folder: Path) -> None:
    indexed(index, folder)
    os.utime(folder / "notes.txt", (1, 1))
    assert indexed(index, folder).unchanged == 4


def test_a_changed_text_is_found_by_its_new_words_alone(index: Path, folder: Path) -> None:
    indexed(index, folder)
    (folder / "notes.txt").write_text("Cheese ripens in caves.")
    assert indexed(index, folder).changed == 1
    assert paths_of(index, "cheese") == {"notes.txt"}
    assert paths_of(index, "baked") == set()


def test_a_file_that_is_gone_is_forgotten(index: Path, folder: Path) -> None:
    indexed(index, folder)
    (folder / "notes.txt").unlink()
    (folder / "one.png").unlink()
    assert indexed(index, folder).removed == 2
    assert paths_of(index, "baked") == set()
    assert [Path(hit.path).name for hit in Index(index).similar(picture(drawing(1)))] == ["two.jpg"]


def test_what_lies_outside_of_the_given_folders_stays(index: Path, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "collection-2"
    other.mkdir()
    (other / "a.txt").write_text("Zebras graze.")
    indexed(index, other)
    indexed(index, folder)
    assert paths_of(index, "zebras") == {"a.txt"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_not_taken_for_an_empty_one(index: Path, folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "a.txt").write_text("Zebras graze.")
    indexed(index, folder)
    inner.chmod(0)
    indexed(index, folder)
    inner.chmod(0o700)
    assert paths_of(index, "zebras") == {"a.txt"}


def test_removing_a_folder_forgets_all_below_it(index: Path, folder: Path) -> None:
    indexed(index, folder)
    assert remove(index, folder) == 4
    assert Index(index).info().passages == 0


def test_no_word_and_no_mark_of_a_removed_file_is_left(index: Path, tmp_path: Path) -> None:
    said = write_records(tmp_path / "said.jsonl", {"title": "Owl", "text": "Owls hunt owls at night."})
    kept = write_records(tmp_path / "kept.jsonl", {"title": "Zebra", "text": "Zebras graze."})
    indexed(index, said, kept)
    remove(index, said)
    with reading(index) as database:
        terms = {row[0] for row in database.execute("SELECT term FROM vocabulary")}
    assert {term.partition("_")[0] for term in terms} == {"zebra", "graze"}


def test_removing_what_is_not_there_names_it(index: Path, folder: Path) -> None:
    indexed(index, folder)
    with pytest.raises(ConfigError, match="nowhere': nothing of it is in the index"):
        remove(index, "/nowhere")


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\ncut", "damaged or cut short"),
        ("b.png", b"", "the file is empty"),
        ("c.png", png(60_000, 60_000), "60000x60000 pixels, more than"),
        ("d.jpg", b"<svg></svg>", "it looks like an SVG drawing"),
        ("e.txt", b"caf\xe9", "is no UTF-8 text (byte 3)"),
        ("f.md", b"a\0b", "holds NUL characters"),
        ("g.jsonl", b'{"text": "x"}\n[1]\n{"image": "../../up.png"}\n', "2 lines, the first is line 2"),
    ],
)
def test_a_file_that_is_no_use_is_told_in_one_line_and_left_out(
    index: Path, folder: Path, name: str, data: bytes, why: str
) -> None:
    (folder / name).write_bytes(data)
    (line,) = complaints(index, folder)
    assert name in line
    assert why in line
    assert "\n" not in line
    assert paths_of(index, "baked") == {"notes.txt"}


def test_a_huge_file_is_left_out_unread(index: Path, folder: Path) -> None:
    indexed(index, folder)
    os.truncate(folder / "notes.txt", 2**40)  # of which the disk holds nothing
    (line,) = complaints(index, folder)
    assert "notes.txt': is larger than 33,554,432 bytes" in line
    assert paths_of(index, "baked") == set()


def test_links_in_a_ring_end(index: Path, folder: Path) -> None:
    (folder / "again").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    told = complaints(index, folder)
    assert sorted(line.split("': ")[1][:20] for line in told) == [
        "is a link that canno",
        "is a link to a folde",
    ]
    assert indexed(index, folder).unchanged == 4


def test_a_folder_keeps_its_own_name_when_a_link_to_it_comes_first(index: Path, folder: Path) -> None:
    (folder / "z").mkdir()
    (folder / "z" / "a.txt").write_text("Zebras graze.")
    (folder / "a").symlink_to(folder / "z")
    indexed(index, folder)
    assert [hit.path for hit in Index(index).documents("zebras")] == [str(folder / "z" / "a.txt")]


def test_hidden_files_and_other_kinds_are_passed_over(index: Path, folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "a.txt").write_text("Zebras graze.")
    (folder / "b.zip").write_bytes(b"PK")
    counts = indexed(index, folder)
    assert (counts.added, counts.other_kinds, counts.skipped) == (4, 1, 0)


def test_a_name_that_is_no_text_is_left_out(index: Path, folder: Path) -> None:
    (folder / os.fsdecode(b"\xff.txt")).write_text("Zebras.")
    assert "no UTF-8; rename it" in complaints(index, folder)[0]


def test_a_missing_path_is_refused_before_an_index_is_made(index: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file or folder"):
        indexed(index, Path("/nowhere"))
    assert not index.exists()


def test_a_second_writer_is_told_who_writes(index: Path, folder: Path) -> None:
    with writing(index), pytest.raises(ConfigError, match=rf"process {os.getpid()} is writing to it"):
        indexed(index, folder)


def test_readers_find_what_is_committed_while_another_writes(index: Path, folder: Path) -> None:
    indexed(index, folder)
    with writing(index) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("DELETE FROM passages")
        assert paths_of(index, "baked") == {"notes.txt"}


def test_a_killed_run_goes_on_where_its_last_batch_ended(index: Path, tmp_path: Path) -> None:
    records = [{"title": f"entry {number}", "text": f"word{number} common"} for number in range(20_000)]
    path = write_records(tmp_path / "many.jsonl", *records)
    child = subprocess.Popen(
        [sys.executable, "-m", "pyvision", "index", "add", str(path), "--index", str(index)]
    )
    while child.poll() is None and passages_in(index) < 500:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = passages_in(index)
    assert 500 <= before < 20_000
    assert Index(index).info().unfinished == 1
    assert indexed(index, path).passages == 20_000 - before
    assert passages_in(index) == 20_000
    assert [hit.title for hit in Index(index).documents(f"word{before}")] == [f"entry {before}"]
    assert Index(index).info().unfinished == 0


def passages_in(index: Path) -> int:
    """How many there are, as another program sees it; none while the tables are not made."""
    if not index.is_file():
        return 0
    with closing(sqlite3.connect(index, timeout=30)) as database:
        if not database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return 0
        return int(database.execute("SELECT count(*) FROM passages").fetchone()[0])
