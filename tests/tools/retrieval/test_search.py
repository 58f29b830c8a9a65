from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError, ToolError
from pyvision.tools.retrieval import query_plan, text_search
from pyvision.tools.retrieval.database import index_path, reading
from pyvision.tools.retrieval.search import Index
from tests.tools.retrieval.collection import drawing, flag, indexed, picture, write_records

RECORDS = (
    {"title": "Orland", "text": "A country whose rivers are the Ahn and the Bree."},
    {"title": "Bree", "text": "A river of Orland, slow and brown."},
    {"title": "Vessa", "text": "The capital of Orland, on the Ahn."},
    {"title": "東京", "text": "日本の首都"},
)

ALIKE = query_plan.MAX_RARE + 10


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("collection")
    write_records(folder / "facts.jsonl", *RECORDS)
    for number in range(6):
        drawing(number).save(folder / f"drawing {number}.png")
    path = folder / "index.sqlite"
    indexed(path, folder)
    return Index(path)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("What is the capital of Orland?", "Vessa"),
        ("bree", "Bree"),
        ("BRÉE", "Bree"),
        ("brown river", "Bree"),
        ("首都", "東京"),
        ("drawing 3", "drawing 3"),
    ],
)
def test_the_passage_that_fits_best_comes_first(index: Index, query: str, first: str) -> None:
    assert index.documents(query)[0].title == first


def test_scores_fall_and_keep_between_none_and_one(index: Index) -> None:
    scores = [hit.score for hit in index.documents("river Orland Bree")]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_only_so_many_hits_come_back(index: Index) -> None:
    assert len(index.documents("Orland", 2)) == 2
    assert len(index.similar(picture(drawing(0)), 3)) == 3


@pytest.mark.parametrize("query", ["", "?!", "zebra", '"', "x NEAR (q", "title:x*", "\0", "x" * 100_000])
def test_a_query_without_a_known_word_finds_nothing(index: Index, query: str) -> None:
    assert index.documents(query) == ()


@given(query=st.text(max_size=80))
def test_no_query_is_taken_for_a_command(index: Index, query: str) -> None:
    assert all(hit.title for hit in index.documents(query))


def test_common_words_give_way_to_rare_ones(index: Index) -> None:
    with reading(index.path) as database:
        statistics = text_search.Statistics(0, 100_000, {"the": 90_000, "bree": 2, "orland": 15_000})
        found = text_search.find_passages(database, statistics, "the Bree of Orland", 9)
    assert found[0].title == "Bree"
    assert "東京" not in [hit.title for hit in found]


def test_a_copy_is_told_from_what_is_only_similar(index: Index) -> None:
    copy = picture(drawing(2).resize((200, 150)), "JPEG")
    assert [(hit.title, hit.is_same) for hit in index.identical(copy)] == [("drawing 2", True)]
    assert [hit.is_same for hit in index.similar(copy, 3)] == [True, False, False]


def test_pictures_that_are_alike_by_the_same_come_in_the_order_they_came_in(tmp_path: Path) -> None:
    for number in range(9):
        drawing(number % 2).save(tmp_path / f"{number}.png")
    indexed(tmp_path / "index.sqlite", tmp_path)
    found = Index(tmp_path / "index.sqlite").similar(picture(drawing(1)), 6)
    assert [hit.title for hit in found] == ["1", "3", "5", "7", "0", "2"]


def test_a_picture_that_is_not_there_has_no_copies(index: Index) -> None:
    assert index.identical(picture(flag("red", "blue"))) == ()


def test_threads_search_at_once(index: Index) -> None:
    with ThreadPoolExecutor(8) as pool:
        features = [pool.submit(index.identical, picture(drawing(number % 6))) for number in range(12)]
        words = [pool.submit(index.documents, "capital") for _ in range(12)]
        assert [look.result()[0].title for look in features] == [
            f"drawing {number % 6}" for number in range(12)
        ]
        assert {word.result()[0].title for word in words} == {"Vessa"}


def test_a_search_sees_what_was_added_since_the_last_one(tmp_path: Path) -> None:
    path, folder = tmp_path / "index.sqlite", tmp_path / "collection"
    folder.mkdir()
    (folder / "a.txt").write_text("Zebras graze.")
    indexed(path, folder)
    index = Index(path)
    assert index.identical(picture(drawing(0))) == index.documents("owls") == ()
    drawing(0).save(folder / "new.png")
    (folder / "b.txt").write_text("Owls hunt.")
    indexed(path, folder)
    assert [hit.title for hit in index.identical(picture(drawing(0)))] == ["new"]
    assert [hit.title for hit in index.documents("owls")] == ["b"]


def test_an_index_that_was_made_anew_is_not_taken_for_the_former_one(tmp_path: Path) -> None:
    path, index = tmp_path / "index.sqlite", Index(tmp_path / "index.sqlite")
    for number in (0, 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        drawing(number).save(folder / f"{number}.png")
        indexed(path, folder)
        assert [hit.title for hit in index.similar(picture(drawing(0)))] == [str(number)]
        for file in tmp_path.glob("index.sqlite*"):
            file.unlink()


def test_info_counts_what_there_is(index: Index) -> None:
    info = index.info()
    assert (info.files, info.passages, info.pictures, info.unfinished) == (
        {"picture": 6, "records": 1},
        10,
        6,
        0,
    )


def of_another_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")


def of_the_first_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 1")


def of_another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE mine (a)")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10_000])


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (Path.unlink, "there is none; `pyvision index add PATH"),
        (lambda path: path.write_bytes(b""), "is an empty file or another program's database"),
        (lambda path: path.write_bytes(b"no database at all" * 99), "is no SQLite database"),
        (cut, "is no SQLite database, or a damaged one; delete it and run `pyvision index add` again"),
        (of_another_version, "is of version 99, this release reads 2"),
        (
            of_the_first_version,
            "is of version 1, this release reads 2; delete it and run `pyvision index add`",
        ),
        (of_another_program, "is an empty file or another program's database"),
    ],
)
def test_a_file_that_is_no_index_is_told_in_one_line(
    tmp_path: Path, damage: Callable[[Path], None], why: str
) -> None:
    (tmp_path / "a.txt").write_text("Zebras graze.")
    path = tmp_path / "index.sqlite"
    indexed(path, tmp_path / "a.txt")
    damage(path)
    with pytest.raises(ConfigError) as caught:
        Index(path).documents("zebras")
    assert why in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_index_that_another_program_locks_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Zebras graze.")
    path = tmp_path / "index.sqlite"
    indexed(path, tmp_path / "a.txt")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with (
            pytest.raises(ToolError, match="another program keeps it locked"),
            reading(path, wait_s=0.05) as database,
        ):
            database.execute("SELECT * FROM passages")


def test_the_index_lies_where_it_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert index_path("", {}) == tmp_path / ".pyvision" / "index.sqlite"
    assert index_path(None, {"PYVISION_INDEX": "/kept/here"}) == Path("/kept/here")
    assert index_path("mine", {"PYVISION_INDEX": "/kept/here"}) == tmp_path / "mine"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """More passages with an owl than are looked at; the last ones say most of it."""
    folder = tmp_path_factory.mktemp("many")
    usual = [f"filling{number}" for number in range(12)]
    alike = ({"title": "t", "text": " ".join([*usual * 9, "owl", f"n{number}"])} for number in range(ALIKE))
    said = {"title": "twice", "text": " ".join([*usual * 9, "owl", "owl"])}
    both = {"title": "both", "text": " ".join([*usual * 9, "owl", "owl", "lake", "lake"])}
    titled = {"title": "Owl", "text": " ".join([*usual * 9, "owl"])}
    lakes = ({"title": "t", "text": " ".join([*usual * 9, "lake", f"n{number}"])} for number in range(ALIKE))
    others = ({"title": "t", "text": " ".join(usual * 9)} for _ in range(100))
    write_records(folder / "many.jsonl", *lakes, *others, *alike, said, both, titled)
    indexed(folder / "index.sqlite", folder / "many.jsonl")
    return Index(folder / "index.sqlite")


def test_a_word_in_more_passages_than_are_looked_at_is_found(many: Index) -> None:
    assert len(many.documents("owl", 20)) == 20


def test_the_weightiest_passages_with_a_common_word_come_first_wherever_they_stand(many: Index) -> None:
    assert [hit.title for hit in many.documents("owl", 3)] == ["Owl", "twice", "both"]


def test_passages_with_several_common_words_come_first(many: Index) -> None:
    assert many.documents("owl lake", 3)[0].title == "both"


@pytest.mark.parametrize("common", ["owl", "lake"])
def test_a_common_word_counts_in_passages_with_a_rare_one(many: Index, common: str) -> None:
    assert common in many.documents(f"n7 {common}", 1)[0].text.split()


def test_sixty_four_common_words_can_be_asked_for_at_once(many: Index) -> None:
    with reading(many.path) as database:
        frequencies = dict.fromkeys(["owl", "lake", *(f"filling{number}" for number in range(12))], 5_000)
        frequencies |= {f"{word}_{level}": 5 for word in list(frequencies) for level in range(1, 10)}
        frequencies |= {f"word{number}": 1_000 for number in range(50)}
        statistics = text_search.Statistics(0, 10**6, frequencies)
        assert text_search.find_passages(database, statistics, " ".join(frequencies), 3)
