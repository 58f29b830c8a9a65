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
from pyvision.tools.retrieval.building import IndexProgress, remove
from pyvision.tools.retrieval.database import open_reader, open_writer
from pyvision.tools.retrieval.search import Index
from tests.pictures import png
from tests.tools.retrieval.collection import add_quietly, drawing, picture, write_records


def paths_of(index: Path, query: str) -> set[str]:
    return {Path(hit.path).name for hit in Index(index).documents(query, 50)}


def lines_about_skipped(index: Path, *roots: Path) -> list[str]:
    lines = list[str]()
    add_quietly(index, *roots, report=lines.append)
    return lines


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "new" / "index.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "collection"
    made.mkdir()
    (made / "orland.md").write_text("# Orland\n\nA country on the Ahn.\n\n## Food\n\nBread.")
    (made / "notes.txt").write_text("Bread is baked at night.")
    drawing(1).save(made / "one.png")
    drawing(2).save(made / "two.jpg")
    return made


def test_a_path_that_is_not_utf_8_is_refused(tmp_path: Path, index: Path) -> None:
    image = tmp_path / os.fsdecode(b"d\xff.png")
    drawing(1).save(image)
    with pytest.raises(ConfigError, match="the path is not UTF-8; rename it"):
        add_quietly(index, image)


def test_a_folder_is_indexed_with_all_kinds_in_it(index: Path, folder: Path) -> None:
    write_records(folder / "facts.jsonl", {"title": "Vessa", "text": "The capital.", "url": "http://v/"})
    counts = add_quietly(index, folder)
    assert counts.by_kind == {"markdown": 1, "text": 1, "picture": 2, "records": 1}
    assert (counts.added, counts.passages, counts.skipped) == (5, 6, 0)


def test_what_is_unchanged_is_not_read_again(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    assert add_quietly(index, folder) == IndexProgress(unchanged=4)


def test_a_file_whose_time_alone_has_changed_is_unchanged(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    os.utime(folder / "notes.txt", (1, 1))
    assert add_quietly(index, folder).unchanged == 4


def test_a_changed_text_is_found_by_its_new_words_alone(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    (folder / "notes.txt").write_text("Cheese ripens in caves.")
    assert add_quietly(index, folder).changed == 1
    assert paths_of(index, "cheese") == {"notes.txt"}
    assert paths_of(index, "baked") == set()


def test_a_file_that_is_gone_is_forgotten(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    (folder / "notes.txt").unlink()
    (folder / "one.png").unlink()
    assert add_quietly(index, folder).removed == 2
    assert paths_of(index, "baked") == set()
    assert [Path(hit.path).name for hit in Index(index).similar(picture(drawing(1)))] == ["two.jpg"]


def test_files_outside_of_the_given_folders_stay(index: Path, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "collection-2"
    other.mkdir()
    (other / "a.txt").write_text("Zebras graze.")
    add_quietly(index, other)
    add_quietly(index, folder)
    assert paths_of(index, "zebras") == {"a.txt"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_not_taken_for_an_empty_one(index: Path, folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "a.txt").write_text("Zebras graze.")
    add_quietly(index, folder)
    inner.chmod(0)
    add_quietly(index, folder)
    inner.chmod(0o700)
    assert paths_of(index, "zebras") == {"a.txt"}


def test_removing_a_folder_removes_its_files(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    assert remove(index, folder) == 4
    assert Index(index).info().passages == 0


def test_no_word_of_a_removed_file_is_left(index: Path, tmp_path: Path) -> None:
    owls = write_records(tmp_path / "owls.jsonl", {"title": "Owl", "text": "Owls hunt owls at night."})
    zebras = write_records(tmp_path / "zebras.jsonl", {"title": "Zebra", "text": "Zebras graze."})
    add_quietly(index, owls, zebras)
    remove(index, owls)
    with open_reader(index) as database:
        terms = {row[0] for row in database.execute("SELECT term FROM vocabulary")}
    assert terms == {"zebra", "graze"}


def test_removing_a_path_that_is_not_indexed_is_refused(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    with pytest.raises(ConfigError, match="nowhere': not in the index"):
        remove(index, "/nowhere")


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\ncut", "damaged or cut short"),
        ("b.png", b"", "the file is empty"),
        ("c.png", png(60_000, 60_000), "60000x60000 pixels, more than"),
        ("d.jpg", b"<svg></svg>", "it looks like an SVG drawing"),
        ("e.txt", b"caf\xe9", "is not UTF-8 text (byte 3)"),
        ("f.md", b"a\0b", "contains NUL characters"),
        ("g.jsonl", b'{"text": "x"}\n[1]\n{"image": "../../up.png"}\n', "2 lines (the first is line 2)"),
    ],
)
def test_an_unusable_file_is_skipped_with_one_line(
    index: Path, folder: Path, name: str, data: bytes, why: str
) -> None:
    (folder / name).write_bytes(data)
    (line,) = lines_about_skipped(index, folder)
    assert name in line
    assert why in line
    assert "\n" not in line
    assert paths_of(index, "baked") == {"notes.txt"}


def test_a_huge_file_is_skipped_unread(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    os.truncate(folder / "notes.txt", 2**40)  # of which the disk holds nothing
    (line,) = lines_about_skipped(index, folder)
    assert "notes.txt': is larger than 33,554,432 bytes" in line
    assert paths_of(index, "baked") == set()


def test_cyclic_links_end(index: Path, folder: Path) -> None:
    (folder / "again").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    lines = lines_about_skipped(index, folder)
    assert sorted(line.split("': ")[1][:20] for line in lines) == [
        "is a link that canno",
        "is a link to a folde",
    ]
    assert add_quietly(index, folder).unchanged == 4


def test_a_folder_keeps_its_own_name_when_a_link_to_it_comes_first(index: Path, folder: Path) -> None:
    (folder / "z").mkdir()
    (folder / "z" / "a.txt").write_text("Zebras graze.")
    (folder / "a").symlink_to(folder / "z")
    add_quietly(index, folder)
    assert [hit.path for hit in Index(index).documents("zebras")] == [str(folder / "z" / "a.txt")]


def test_hidden_files_are_ignored(index: Path, folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "a.txt").write_text("Zebras graze.")
    counts = add_quietly(index, folder)
    assert (counts.added, counts.other_kinds, counts.skipped) == (4, 0, 0)


def test_files_of_other_kinds_are_counted_apart_from_skipped_ones(index: Path, folder: Path) -> None:
    (folder / "b.zip").write_bytes(b"PK")
    counts = add_quietly(index, folder)
    assert (counts.added, counts.other_kinds, counts.skipped) == (4, 1, 0)


def test_a_name_that_is_not_utf8_is_skipped(index: Path, folder: Path) -> None:
    (folder / os.fsdecode(b"\xff.txt")).write_text("Zebras.")
    assert "not UTF-8; rename it" in lines_about_skipped(index, folder)[0]


def test_a_missing_path_is_refused_before_an_index_is_made(index: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file or folder"):
        add_quietly(index, Path("/nowhere"))
    assert not index.exists()


def test_a_second_writer_learns_which_process_writes(index: Path, folder: Path) -> None:
    with open_writer(index), pytest.raises(ConfigError, match=rf"process {os.getpid()} is writing to it"):
        add_quietly(index, folder)


def test_readers_find_what_is_committed_while_another_writes(index: Path, folder: Path) -> None:
    add_quietly(index, folder)
    with open_writer(index) as writer:
        for entry in writer.entries().values():
            writer.delete(entry.id)
        assert paths_of(index, "baked") == {"notes.txt"}


def test_a_killed_run_continues_after_its_last_batch(index: Path, tmp_path: Path) -> None:
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
    assert add_quietly(index, path).passages == 20_000 - before
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
