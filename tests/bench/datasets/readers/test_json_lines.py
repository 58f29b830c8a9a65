"""JSON lines: what a line becomes, and the one clear line for each way in which it can be broken."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyvision.bench.datasets.readers import open_samples
from pyvision.bench.datasets.rows import Columns
from pyvision.bench.datasets.tables import read_json_lines
from pyvision.errors import ConfigError, ImageError
from tests.bench.datasets.readers.files import complaint, write_lines, write_pictures

ROW: dict[str, Any] = {"id": "a", "question": "How many?", "images": ["p/1.png"], "target": "6"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pictures(tmp_path, ["p/1.png", "p/2.png"])
    return tmp_path


def test_a_line_becomes_a_sample(folder: Path) -> None:
    row = ROW | {"choices": ["red", "blue"], "category": "counting", "context": "Look."}
    (sample,) = open_samples(write_lines(folder / "s.jsonl", row))
    assert sample.id == "a"
    assert sample.text == "How many?"
    assert sample.images == (folder / "p/1.png",)
    assert (sample.target, sample.choices) == ("6", ("red", "blue"))
    assert (sample.category, sample.context) == ("counting", "Look.")
    assert sample.metadata == {}


def test_an_unknown_key_becomes_metadata(folder: Path) -> None:
    (sample,) = open_samples(write_lines(folder / "s.jsonl", ROW | {"scene": [1, {"x": 2}]}))
    assert sample.metadata == {"scene": [1, {"x": 2}]}


def test_a_target_keeps_its_type(folder: Path) -> None:
    targets: list[Any] = ["6", 6, 0, 2.5, ["a", "b"], [1, 2, 3, 4], False]
    rows = [ROW | {"id": str(number), "target": target} for number, target in enumerate(targets)]
    read = [sample.target for sample in open_samples(write_lines(folder / "s.jsonl", *rows))]
    assert [(type(each), each) for each in read] == [(type(each), each) for each in targets]


def test_an_id_may_be_a_whole_number(folder: Path) -> None:
    (sample,) = open_samples(write_lines(folder / "s.jsonl", ROW | {"id": 7}))
    assert sample.id == "7"


def test_empty_lines_are_skipped(folder: Path) -> None:
    path = folder / "s.jsonl"
    path.write_bytes(json.dumps(ROW).encode() + b"\r\n\r\n")
    assert [sample.id for sample in open_samples(path)] == ["a"]


def test_a_byte_order_mark_is_skipped(folder: Path) -> None:
    path = folder / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode())
    assert [sample.id for sample in open_samples(path)] == ["a"]


def test_a_question_may_say_that_it_has_no_image(folder: Path) -> None:
    (sample,) = open_samples(write_lines(folder / "s.jsonl", ROW | {"images": []}))
    assert sample.images == ()


def test_an_image_in_a_data_url_is_read_from_it(folder: Path) -> None:
    row = ROW | {"images": "data:image/png;base64,AAEC"}
    (sample,) = open_samples(write_lines(folder / "s.jsonl", row))
    assert sample.images == (b"\0\1\2",)


def test_other_columns_can_be_named(folder: Path) -> None:
    row = {"text": "Which?", "image": "p/2.png", "label": 1, "split": "test"}
    columns = Columns(
        id="", question="text", images=("image",), target="label", target_form="letter_of_index",
        where={"split": "test"},
    )  # fmt: skip
    path = write_lines(folder / "s.jsonl", row | {"split": "val"}, row)
    (sample,) = read_json_lines(path, columns)
    assert (sample.id, sample.text, sample.target) == ("1", "Which?", "B")


@pytest.mark.parametrize("name", ["id", "question", "images", "target"])
def test_a_missing_field_is_named_with_its_line(folder: Path, name: str) -> None:
    broken = {key: value for key, value in ROW.items() if key != name}
    message = complaint(write_lines(folder / "s.jsonl", ROW | {"id": "first"}, broken))
    assert "s.jsonl: line 2: " in message
    assert f"{name!r} is missing" in message


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"id": "b", ', "invalid JSON at column"),
        (b"[1, 2]", "holds a list; expected an object"),
        (b'{"id": "\xff"}', "invalid UTF-8 at byte 8"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b'{"id": ' + b"1" * 5000 + b"}", "cannot be read as JSON"),
        (b'{"id": true, "question": "x", "images": [], "target": 1}', "'id' is True; expected a text"),
        (b'{"id": "b", "question": 5, "images": [], "target": 1}', "'question' is 5; expected a text"),
        (b'{"id": "b", "question": "x", "images": [5], "target": 1}', "is a int; expected a path"),
        (
            b'{"id": "b", "question": "x", "images": [], "target": 1, "choices": 3}',
            "'choices' is 3; give a list",
        ),
        (b'{"id": "b", "question": "x", "images": [], "target": 1, "category": []}', "'category' is []"),
    ],
)
def test_the_error_about_a_broken_line_gives_its_number(folder: Path, line: bytes, what: str) -> None:
    path = folder / "s.jsonl"
    path.write_bytes(json.dumps(ROW).encode() + b"\n\n" + line + b"\n")
    message = complaint(path)
    assert message.startswith(f"{path}: line 3: ")
    assert what in message


def test_the_error_about_a_repeated_id_names_both_lines(folder: Path) -> None:
    message = complaint(write_lines(folder / "s.jsonl", ROW, ROW | {"id": "b"}, ROW))
    assert message.endswith("line 3: duplicate id 'a', first used on line 1; make ids unique")


@pytest.mark.parametrize(
    ("image", "what"),
    [
        ("p/none.png", "there is no such file"),
        ("p", "there is no such file"),
        ("../s.png", "is outside of"),
        ("p/../../s.png", "is outside of"),
        ("/etc/passwd", "is outside of"),
        ("a\0b", "there is no such file"),
        ("x" * 5000, "there is no such file"),
        ("https://example.org/1.png", "URLs are not fetched"),
        ("data:image/png;base64,A", "is not valid base64"),
    ],
)
def test_an_unusable_image_is_reported_before_any_question(folder: Path, image: str, what: str) -> None:
    with pytest.raises(ImageError) as caught:
        list(open_samples(write_lines(folder / "s.jsonl", ROW | {"images": [image]})))
    assert f"{folder / 's.jsonl'}: line 1: image" in str(caught.value)
    assert what in str(caught.value)


def test_a_file_named_from_the_folder_it_is_in_keeps_to_that_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (sample,) = open_samples(write_lines(Path("s.jsonl"), ROW))
    assert sample.images == (folder / "p/1.png",)
    write_pictures(folder.parent, ["outside.png"])
    with pytest.raises(ImageError, match="is outside of"):
        list(open_samples(write_lines(Path("s.jsonl"), ROW | {"images": ["../outside.png"]})))


def test_lines_before_a_broken_one_are_read(folder: Path) -> None:
    path = write_lines(folder / "s.jsonl", ROW)
    path.write_text(path.read_text() + "{")
    samples = open_samples(path)
    assert next(samples).id == "a"
    with pytest.raises(ConfigError):
        next(samples)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys([*ROW, "choices", "category", "context"], JSON)))
def test_any_object_is_a_sample_or_one_clear_line(tmp_path: Path, row: dict[str, Any]) -> None:
    path = write_lines(tmp_path / "s.jsonl", row)
    assert re.match(rf"{re.escape(str(path))}: line 1: |$", complaint(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_samples_or_one_clear_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    assert re.match(rf"{re.escape(str(path))}: line |$", complaint(path))
