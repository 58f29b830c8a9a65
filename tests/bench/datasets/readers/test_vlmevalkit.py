"""VLMEvalKit's TSV files: every form that a picture, an option and an index take in them."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyvision.bench.datasets.readers import open_samples
from pyvision.bench.datasets.vlmevalkit import COLUMNS, read_vlmevalkit
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, ImageError
from tests.bench.datasets.readers.files import PICTURE, PNG, complaint, write_pictures, write_table

ROW = {"index": "1", "question": "What colour?", "image": PICTURE, "A": "red", "B": "blue", "answer": "B"}


def read(folder: Path, *rows: dict[str, str]) -> list[Sample]:
    return list(open_samples(write_table(folder / "T.tsv", *rows)))


def test_a_row_becomes_a_sample(tmp_path: Path) -> None:
    more = {"hint": "Look.", "category": "colour", "l2-category": "perception", "source": "web"}
    (sample,) = read(tmp_path, ROW | more)
    assert sample.id == "1"
    assert (sample.text, sample.context) == ("What colour?", "Look.")
    assert sample.images == (PNG,)
    assert (sample.choices, sample.target) == (("red", "blue"), "B")
    assert sample.category == "perception/colour"
    assert sample.metadata == {"source": "web", "index": 1, "circular_base": 1}


@pytest.mark.parametrize("empty", ["", "nan", "NaN", " "])
def test_an_empty_option_is_no_choice(tmp_path: Path, empty: str) -> None:
    (sample,) = read(tmp_path, ROW | {"C": empty, "D": empty})
    assert sample.choices == ("red", "blue")


@pytest.mark.parametrize("empty", ["", "nan", "NaN", " "])
def test_an_empty_text_column_is_the_empty_text(tmp_path: Path, empty: str) -> None:
    (sample,) = read(tmp_path, ROW | {"hint": empty, "category": empty})
    assert (sample.context, sample.category) == ("", "")


@pytest.mark.parametrize("option", ["None", "NA", "null", "N/A"])
def test_an_option_that_pandas_takes_for_empty_stays_one(tmp_path: Path, option: str) -> None:
    (sample,) = read(tmp_path, ROW | {"A": option})
    assert sample.choices == (option, "blue")


def test_a_letter_behind_an_option_that_is_left_out_follows_its_option(tmp_path: Path) -> None:
    (sample,) = read(tmp_path, ROW | {"C": "", "D": "green", "answer": "D"})
    assert sample.choices == ("red", "blue", "green")
    assert sample.target == "C"


def test_a_table_may_have_fewer_than_two_options(tmp_path: Path) -> None:
    few = {name: value for name, value in ROW.items() if name not in "AB"} | {"answer": "red"}
    (none,) = read(tmp_path, few)
    (one,) = read(tmp_path, few | {"A": "red"})
    assert (none.choices, one.choices) == ((), ("red",))


def test_a_list_of_images_as_a_text_is_several(tmp_path: Path) -> None:
    (sample,) = read(tmp_path, ROW | {"image": f"['{PICTURE}', 'AAEC']"})
    assert sample.images == (PNG, b"\0\1\2")


def test_an_image_may_stand_in_an_earlier_or_a_later_row(tmp_path: Path) -> None:
    rows = [ROW | {"image": "3"}, ROW | {"index": "2", "question": "With a\nline end"}, ROW | {"index": "3"}]
    rows[1]["image"] = f"['{'AAEC' * 20}', '{PICTURE}']"
    rows.append(ROW | {"index": "4", "image": "2"})
    samples = read(tmp_path, *rows)
    assert samples[0].images == samples[2].images == (PNG,)
    assert samples[3].images == samples[1].images == (b"\0\1\2" * 20, PNG)


def test_an_image_of_a_row_of_another_split_can_be_referred_to(tmp_path: Path) -> None:
    rows = [ROW | {"split": "dev"}, ROW | {"index": "2", "image": "1", "split": "val"}]
    path = write_table(tmp_path / "T.tsv", *rows)
    (sample,) = read_vlmevalkit(path, replace(COLUMNS, where={"split": "val"}))
    assert (sample.id, sample.images) == ("2", (PNG,))


@pytest.mark.parametrize("name", ["9", "2"])
def test_a_reference_that_leads_to_no_image_is_reported(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ImageError, match=f"line 2: image '{name}' is neither an image nor the index of a row"
    ):
        read(tmp_path, ROW | {"image": name}, ROW | {"index": "2", "image": "1"})


def test_rotated_rows_of_circular_evaluation_are_samples_that_know_their_question(tmp_path: Path) -> None:
    samples = read(tmp_path, ROW | {"index": "241"}, ROW | {"index": "2000241", "image": "241"})
    assert [sample.id for sample in samples] == ["241", "2000241"]
    assert [sample.metadata["circular_base"] for sample in samples] == [241, 241]
    assert samples[1].metadata["index"] == 2000241
    assert samples[1].images == (PNG,)


def test_an_index_that_is_not_a_number_has_no_rotation(tmp_path: Path) -> None:
    (sample,) = read(tmp_path, ROW | {"index": "val_1"})
    assert sample.metadata == {}


def test_images_in_files_lie_beside_the_table_or_where_vlmevalkit_unpacks_them(tmp_path: Path) -> None:
    row = {name: value for name, value in ROW.items() if name != "image"} | {
        "image_path": "['a.png', 'b.png']"
    }
    write_pictures(tmp_path, ["a.png", "b.png"])
    (beside,) = read(tmp_path, row)
    assert beside.images == (tmp_path / "a.png", tmp_path / "b.png")
    assert "image_path" not in beside.metadata
    write_pictures(tmp_path / "images/T", ["a.png", "b.png"])
    (unpacked,) = read(tmp_path, row)
    assert unpacked.images == (tmp_path / "images/T/a.png", tmp_path / "images/T/b.png")


def test_a_path_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"line 2: image '\.\./a\.png': is outside of"):
        read(tmp_path, ROW | {"image": "", "image_path": "../a.png"})


def test_rows_without_an_image_are_passed_over_as_vlmevalkit_does(tmp_path: Path) -> None:
    samples = read(tmp_path, ROW | {"image": ""}, ROW | {"index": "2"})
    assert [sample.id for sample in samples] == ["2"]


def test_a_table_without_any_column_of_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no column 'image' or 'image_path'"):
        read(tmp_path, {name: value for name, value in ROW.items() if name != "image"})


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ((ROW, ROW), r"line 3: duplicate id '1', first used on line 2"),
        ((ROW | {"answer": ""},), r"line 2: field 'answer' is missing"),
        ((ROW | {"image": "!" * 80},), r"line 2: image: is not valid base64"),
        ((ROW | {"image": "[" + "x" * 80 + "]"},), r"line 2: field 'image' is .*; give a list"),
    ],
)
def test_the_error_about_a_broken_row_gives_its_line(
    tmp_path: Path, rows: tuple[dict[str, str], ...], what: str
) -> None:
    with pytest.raises(ConfigError, match=what):
        read(tmp_path, *rows)


def test_lines_are_counted_as_in_an_editor(tmp_path: Path) -> None:
    rows = [ROW | {"question": "one\ntwo\nthree"}, ROW | {"index": "2", "answer": ""}]
    with pytest.raises(ConfigError, match="line 5: field 'answer'"):
        read(tmp_path, *rows)


def test_an_unclosed_quotation_mark_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "T.tsv"
    path.write_text('index\tquestion\n1\t"open\n2\tx\n3\ty\n')
    with pytest.raises(ConfigError, match=r"T\.tsv: line 2: "):
        list(open_samples(path))


def test_a_field_longer_than_the_standard_limit_is_read(tmp_path: Path) -> None:
    (sample,) = read(tmp_path, ROW | {"image": "AAEC" * 100_000})
    assert sample.images == (b"\0\1\2" * 100_000,)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """4,000 rows: 40 pictures of 256 KB, small ones, and references to both from far before and far behind."""
    path = tmp_path / "T.tsv"
    with path.open("w") as file:
        file.write("index\tquestion\timage\tanswer\n")
        for index in range(4_000):
            file.write(f"{index}\tWhat is it?\t{_cell_of(index)}\tblue\n")
    tracemalloc.start()
    try:
        count = sum(1 for _ in open_samples(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 4_000
    assert peak < path.stat().st_size / 2


def _cell_of(index: int) -> str:
    if index % 100 == 50:
        return "A" * 2**18
    if index in (3, 3_999):
        return "2050"
    return "2000" if index % 20 == 1 else PICTURE


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.lists(st.lists(st.text(alphabet="\t\n\"'[],A1\r\x00é", max_size=6), max_size=6), max_size=4))
def test_any_table_is_samples_or_one_clear_line(tmp_path: Path, rows: list[list[str]]) -> None:
    path = tmp_path / "T.tsv"
    path.write_text(
        "index\tquestion\timage\tanswer\n" + "\n".join("\t".join(row) for row in rows), newline=""
    )
    assert re.match(rf"{re.escape(str(path))}: line |$", complaint(path))


cells = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(st.lists(cells.filter(lambda text: text.strip() not in ("", "nan", "NaN")), min_size=1, max_size=5))
def test_what_was_written_is_read_again(tmp_path: Path, questions: list[str]) -> None:
    rows = [ROW | {"index": str(number), "question": text} for number, text in enumerate(questions)]
    assert [sample.text for sample in read(tmp_path, *rows)] == questions
