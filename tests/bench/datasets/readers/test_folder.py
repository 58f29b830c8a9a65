"""A CSV with pictures beside it, and how the reader of a source is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.bench.datasets.readers import open_samples
from pyvision.bench.datasets.rows import guess_columns
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, ImageError
from tests.bench.datasets.readers.files import PICTURE, PNG, write_lines, write_pictures, write_table

ROW = {"image": "p/1.png", "question": "How many?", "answer": "6"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pictures(tmp_path, ["p/1.png", "p/2.png"])
    return tmp_path


def test_three_columns_are_enough(folder: Path) -> None:
    write_table(folder / "s.csv", ROW, ROW | {"answer": "7"})
    samples = list(open_samples(folder))
    assert [sample.id for sample in samples] == ["0", "1"]
    assert [sample.target for sample in samples] == ["6", "7"]
    assert samples[0].images == (folder / "p/1.png",)
    assert samples[0].metadata == {}


@pytest.fixture
def sample_with_more_columns(folder: Path) -> Sample:
    more = {"id": "x", "category": "counting", "A": "six", "B": "ten", "C": "", "note": "easy"}
    (sample,) = open_samples(write_table(folder / "s.csv", ROW | more))
    return sample


def test_optional_columns_become_fields(sample_with_more_columns: Sample) -> None:
    sample = sample_with_more_columns
    assert (sample.id, sample.category, sample.choices) == ("x", "counting", ("six", "ten"))


def test_unknown_columns_become_metadata(sample_with_more_columns: Sample) -> None:
    assert sample_with_more_columns.metadata == {"note": "easy"}


def test_several_images_have_semicolons_between_them(folder: Path) -> None:
    row = {"images": "p/1.png; p/2.png", "question": "Same?", "answer": "yes"}
    (sample,) = open_samples(write_table(folder / "s.csv", row))
    assert sample.images == (folder / "p/1.png", folder / "p/2.png")


def test_a_data_url_in_a_cell_is_one_image(folder: Path) -> None:
    (sample,) = open_samples(
        write_table(folder / "s.csv", ROW | {"image": f"data:image/png;base64,{PICTURE}"})
    )
    assert sample.images == (PNG,)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('["a, b", "c"]', ("a, b", "c")),
        ("['a', \"it's\"]", ("a", "it's")),
        ("['a' 'b'\n 'c']", ("a", "b", "c")),  # numpy
        ("[1, 2.5]", ("1", "2.5")),
        (r"['\frac{1}{2}', '$\sqrt{2}$']", ("\x0crac{1}{2}", r"$\sqrt{2}$")),  # as Python reads it
        ("[]", ()),
        ("nan", ()),
    ],
)
def test_options_in_one_column_are_a_list_as_json_python_or_numpy_writes_it(
    folder: Path, text: str, options: tuple[str, ...]
) -> None:
    (sample,) = open_samples(write_table(folder / "s.csv", ROW | {"choices": text}))
    assert sample.choices == options


def test_options_that_are_no_list_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"s.csv: line 2: field 'choices' is 'a, b'; give a list"):
        list(open_samples(write_table(folder / "s.csv", ROW | {"choices": "a, b"})))


def test_the_error_about_a_missing_image_gives_its_line(folder: Path) -> None:
    with pytest.raises(ImageError, match=r"s.csv: line 3: image 'p/3.png': there is no such file"):
        list(open_samples(write_table(folder / "s.csv", ROW, ROW | {"image": "p/3.png"})))


def test_a_table_without_question_or_answer_says_what_to_call_them(folder: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"no column for the question among image, answer; name it question or"
    ):
        list(open_samples(write_table(folder / "s.csv", {"image": "p/1.png", "answer": "6"})))


def test_columns_of_mmmu_are_guessed() -> None:
    names = ("id", "question", "options", "explanation", "image_1", "image_2", "answer", "subfield")
    found = guess_columns(names, "hub")
    assert (found.id, found.images, found.choices) == ("id", ("image_1", "image_2"), ("options",))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty; its first line must name the columns"),
        (b"image,question,image\n", "line 1: column 'image' occurs twice"),
        (b"image,question,answer\np/1.png,x\n", "line 2: has 2 fields where the header has 3"),
        (b"image,question,answer\np/1.png,x,y,z\n", "line 2: has 4 fields"),
        (b"image,question,answer\np/1.png,x,\xe9\n", "line 2: invalid UTF-8 at byte 10"),
    ],
)
def test_the_error_about_a_broken_table_gives_its_line(folder: Path, content: bytes, what: str) -> None:
    path = folder / "s.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=what):
        list(open_samples(path))


def test_a_byte_order_mark_as_excel_writes_it_does_no_harm(folder: Path) -> None:
    path = folder / "s.csv"
    path.write_bytes(b"\xef\xbb\xbfimage,question,answer\r\np/1.png,How many?,6\r\n")
    (sample,) = open_samples(path)
    assert sample.target == "6"


def test_a_folder_may_hold_json_lines_instead(folder: Path) -> None:
    write_lines(folder / "s.jsonl", {"id": "a", "question": "x", "images": ["p/1.png"], "target": 1})
    assert [sample.id for sample in open_samples(folder)] == ["a"]


def test_a_folder_with_two_tables_is_refused_naming_them(folder: Path) -> None:
    write_table(folder / "a.csv", ROW)
    write_table(folder / "b.tsv", ROW)
    with pytest.raises(ConfigError, match=r"a folder must contain exactly one table, found a.csv, b.tsv"):
        open_samples(folder)


@pytest.mark.parametrize("name", ["none.csv", "p", "p/1.png"])
def test_an_invalid_source_is_refused_at_once(folder: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"give a .csv, .jsonl, .tsv file"):
        open_samples(folder / name)
