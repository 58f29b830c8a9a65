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
from pyvision.tools.retrieval import search
from pyvision.tools.retrieval.database import index_path, open_reader
from pyvision.tools.retrieval.passages import query_terms
from pyvision.tools.retrieval.search import MAX_CANDIDATES, Index, split_terms
from tests.tools.retrieval.collection import add_quietly, drawing, flag, picture, write_records

RECORDS = (
    {"title": "Orland", "text": "A country whose rivers are the Ahn and the Bree."},
    {"title": "Bree", "text": "A river of Orland, slow and brown."},
    {"title": "Vessa", "text": "The capital of Orland, on the Ahn."},
    {"title": "東京", "text": "日本の首都"},
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("collection")
    write_records(folder / "facts.jsonl", *RECORDS)
    for number in range(6):
        drawing(number).save(folder / f"drawing {number}.png")
    path = folder / "index.sqlite"
    add_quietly(path, folder)
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


def scores_of_several(index: Index) -> list[float]:
    scores = [hit.score for hit in index.documents("river Orland Bree")]
    assert len(scores) > 1
    return scores


def test_a_score_is_within_zero_to_one(index: Index) -> None:
    assert all(0 < score <= 1 for score in scores_of_several(index))


def test_hits_come_by_falling_score(index: Index) -> None:
    scores = scores_of_several(index)
    assert scores == sorted(scores, reverse=True)


def test_only_so_many_hits_come_back(index: Index) -> None:
    assert len(index.documents("Orland", 2)) == 2
    assert len(index.similar(picture(drawing(0)), 3)) == 3


@pytest.mark.parametrize("query", ["", "?!", "zebra", '"', "x NEAR (q", "title:x*", "\0", "x" * 100_000])
def test_a_query_without_a_known_word_finds_nothing(index: Index, query: str) -> None:
    assert index.documents(query) == ()


@given(query=st.text(max_size=80))
def test_no_query_is_interpreted_as_fts5_syntax(index: Index, query: str) -> None:
    assert all(hit.title for hit in index.documents(query))


def test_the_order_is_that_of_bm25(index: Index) -> None:
    question = "A country, rivers of Orland, the Ahn"
    match = " OR ".join(query_terms(question, 9))
    with open_reader(index.path) as database:
        query = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 2.0, 1.0), rowid"
        best = [row[0] for row in database.execute(query, (match,))]
    assert [hit.id for hit in index.documents(question, 9)] == best


def test_a_passage_needs_one_of_the_rare_words(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_CANDIDATES", 2)
    titles = [hit.title for hit in index.documents("Bree of Orland", 9)]
    assert set(titles) == {"Bree", "Orland"}


def test_a_common_word_counts_in_passages_with_a_rare_one(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = index.documents("slow river", 1)
    monkeypatch.setattr(search, "MAX_CANDIDATES", 1)
    assert index.documents("slow river", 1) == expected


def test_rare_words_are_taken_until_they_have_enough_candidates() -> None:
    frequencies = {"lake": 30_000, "heron": 900, "the": 90_000, "owl": 3_000}
    assert split_terms(frequencies, 100_000) == (["heron", "owl"], ["lake"])


def test_a_word_of_most_passages_is_found_by_itself() -> None:
    assert split_terms({"the": 90_000}, 100_000) == (["the"], [])


@given(st.dictionaries(st.sampled_from([f"w{n}" for n in range(64)]), st.integers(1, 10**6)))
def test_the_number_of_candidates_has_a_limit(frequencies: dict[str, int]) -> None:
    rare, _ = split_terms(frequencies, 10**6)
    assert len(rare) <= 1 or sum(frequencies[term] for term in rare) <= MAX_CANDIDATES


@given(st.dictionaries(st.sampled_from([f"w{n}" for n in range(64)]), st.integers(1, 10**6), min_size=1))
def test_some_word_is_always_searched_for(frequencies: dict[str, int]) -> None:
    rare, _ = split_terms(frequencies, 10**6)
    assert rare


def test_a_copy_is_distinguished_from_a_similar_image(index: Index) -> None:
    copy = picture(drawing(2).resize((200, 150)), "JPEG")
    assert [(hit.title, hit.is_same) for hit in index.identical(copy)] == [("drawing 2", True)]
    assert [hit.is_same for hit in index.similar(copy, 3)] == [True, False, False]


def test_equally_similar_images_come_in_the_order_of_indexing(tmp_path: Path) -> None:
    for number in range(9):
        drawing(number % 2).save(tmp_path / f"{number}.png")
    add_quietly(tmp_path / "index.sqlite", tmp_path)
    found = Index(tmp_path / "index.sqlite").similar(picture(drawing(1)), 6)
    assert [hit.title for hit in found] == ["1", "3", "5", "7", "0", "2"]


def test_an_image_that_is_not_indexed_has_no_copies(index: Index) -> None:
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
    add_quietly(path, folder)
    index = Index(path)
    assert index.identical(picture(drawing(0))) == index.documents("owls") == ()
    drawing(0).save(folder / "new.png")
    (folder / "b.txt").write_text("Owls hunt.")
    add_quietly(path, folder)
    assert [hit.title for hit in index.identical(picture(drawing(0)))] == ["new"]
    assert [hit.title for hit in index.documents("owls")] == ["b"]


def test_a_replaced_index_is_noticed(tmp_path: Path) -> None:
    path, index = tmp_path / "index.sqlite", Index(tmp_path / "index.sqlite")
    for number in (0, 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        drawing(number).save(folder / f"{number}.png")
        add_quietly(path, folder)
        assert [hit.title for hit in index.similar(picture(drawing(0)))] == [str(number)]
        for file in tmp_path.glob("index.sqlite*"):
            file.unlink()


def test_info_counts_files(index: Index) -> None:
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


def of_version_2(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 2")


def of_another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE mine (a)")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10_000])


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (Path.unlink, "no such file; create it with `pyvision index add PATH"),
        (lambda path: path.write_bytes(b""), "an empty file or another program's database"),
        (lambda path: path.write_bytes(b"not a database" * 99), "not an SQLite database"),
        (
            cut,
            "not an SQLite database, or a damaged one; delete it and build it again with `pyvision index add PATH`",
        ),
        (of_another_version, "has version 99, but this release reads version 3"),
        (
            of_version_2,
            "has version 2, but this release reads version 3; delete it and build it again with `pyvision",
        ),
        (of_another_program, "an empty file or another program's database"),
    ],
)
def test_a_file_that_is_not_an_index_is_reported_in_one_line(
    tmp_path: Path, damage: Callable[[Path], None], why: str
) -> None:
    (tmp_path / "a.txt").write_text("Zebras graze.")
    path = tmp_path / "index.sqlite"
    add_quietly(path, tmp_path / "a.txt")
    damage(path)
    with pytest.raises(ConfigError) as caught:
        Index(path).documents("zebras")
    assert why in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_index_that_another_program_locks_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Zebras graze.")
    path = tmp_path / "index.sqlite"
    add_quietly(path, tmp_path / "a.txt")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with (
            pytest.raises(ToolError, match="locked by another program"),
            open_reader(path, timeout_s=0.05) as database,
        ):
            database.execute("SELECT * FROM passages")


def test_the_path_is_given_or_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert index_path("", {}) == tmp_path / ".pyvision" / "index.sqlite"
    assert index_path(None, {"PYVISION_INDEX": "/my/index"}) == Path("/my/index")
    assert index_path("mine", {"PYVISION_INDEX": "/my/index"}) == tmp_path / "mine"
