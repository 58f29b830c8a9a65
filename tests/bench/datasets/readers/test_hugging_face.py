"""Datasets of the hub: how they are named, pinned, and what their rows become."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.datasets.hugging_face import Remote, parse_remote, samples_in, stream
from pyvision.bench.datasets.readers import open_samples
from pyvision.bench.datasets.rows import Columns
from pyvision.errors import ConfigError, ImageError, MissingExtra
from tests.bench.datasets.readers.files import PNG, write_lines

COMMIT = "0123456789abcdef" * 2 + "01234567"
ROW: dict[str, Any] = {"id": "a", "question": "Which?", "image": {"bytes": PNG, "path": None}, "answer": "B"}


each_source = pytest.mark.parametrize(
    ("source", "remote"),
    [
        (f"hf:owner/name@{COMMIT}", Remote("owner/name", COMMIT)),
        (f"hf:owner/name@{COMMIT}:test", Remote("owner/name", COMMIT, split="test")),
        (f"hf:o-1/n.2/en@{COMMIT}:dev", Remote("o-1/n.2", COMMIT, "en", "dev")),
    ],
)


@each_source
def test_a_source_is_parsed_into_its_parts(source: str, remote: Remote) -> None:
    assert parse_remote(source) == remote


@each_source
def test_a_parsed_source_is_written_as_it_was_read(source: str, remote: Remote) -> None:
    assert str(remote) == source


@pytest.mark.parametrize(
    "source", ["hf:owner/name", "hf:owner/name:test", "hf:owner/name@", "hf:owner/name@main"]
)
def test_the_error_for_a_source_without_a_commit_says_how_to_find_one(source: str) -> None:
    with pytest.raises(
        ConfigError, match=r"`git ls-remote https://huggingface.co/datasets/owner/name HEAD` prints"
    ):
        open_samples(source)


@pytest.mark.parametrize(
    "source", ["hf:", "hf:name", "hf:a/b/c/d@x", "hf:../x@y", "hf:a/b@x:y:z", "hf:a/b c@x"]
)
def test_a_source_that_names_nothing_is_refused(source: str) -> None:
    with pytest.raises(ConfigError, match="is not a dataset; write hf:owner/name"):
        open_samples(source)


@given(st.text(alphabet="abf0:/@.-_ \n", max_size=60))
def test_any_text_is_a_dataset_or_a_configuration_error(text: str) -> None:
    with suppress(ConfigError):
        found = parse_remote(f"hf:{text}")
        assert parse_remote(str(found)) == found


@given(
    st.from_regex(r"[a-z][a-z0-9._-]{0,8}/[a-z][a-z0-9._-]{0,8}", fullmatch=True),
    st.from_regex(r"[0-9a-f]{40}", fullmatch=True),
    st.none() | st.from_regex(r"[a-z0-9_.-]{1,8}", fullmatch=True),
    st.none() | st.from_regex(r"[a-z0-9_.-]{1,8}", fullmatch=True),
)
def test_a_source_that_is_written_out_is_read_again(
    repository: str, revision: str, config: str | None, split: str | None
) -> None:
    remote = Remote(repository, revision, config, split)
    assert parse_remote(str(remote)) == remote


@pytest.mark.skipif(find_spec("datasets") is not None, reason="the extra `data` is installed")
def test_without_the_extra_one_line_says_how_to_get_it() -> None:
    with pytest.raises(MissingExtra, match=re.escape("install it: pip install 'pyvision-agent[data]'")):
        open_samples(f"hf:owner/name@{COMMIT}")


def test_a_row_becomes_a_sample_with_the_bytes_of_its_image() -> None:
    (sample,) = samples_in([ROW | {"options": ["x", "y"], "level": 2}], "hub")
    assert (sample.id, sample.target, sample.choices) == ("a", "B", ("x", "y"))
    assert sample.images == (PNG,)
    assert sample.metadata == {"level": 2}


def test_an_image_in_another_column_is_not_kept_in_the_metadata() -> None:
    (sample,) = samples_in([ROW | {"thumbnail": ROW["image"], "raw": b"x", "level": 2}], "hub")
    assert sample.metadata == {"level": 2}


def test_a_list_in_an_image_column_gives_several_images() -> None:
    columns = Columns(images=("image",), target="answer", choices=())
    (sample,) = samples_in([ROW | {"image": [ROW["image"], ROW["image"]]}], "hub", columns)
    assert sample.images == (PNG, PNG)


def test_an_empty_image_column_gives_no_image() -> None:
    columns = Columns(images=("image", "image_2"), target="answer", choices=())
    (sample,) = samples_in([ROW | {"image_2": None}], "hub", columns)
    assert sample.images == (PNG,)


def test_a_column_that_lists_phrases_makes_a_sample_of_each() -> None:
    columns = Columns(
        id="", question="answer", images=("image",), target="bbox", target_form="box_by_size", choices=(),
        each="answer", wording="Find: {question}",
    )  # fmt: skip
    rows = [
        {"image": ROW["image"], "answer": phrases, "bbox": [1, 2, 10, 20.5]}
        for phrases in (["a", "b"], ["c"])
    ]
    samples = list(samples_in(rows, "hub", columns))
    assert [sample.id for sample in samples] == ["0", "1", "2"]
    assert [sample.text for sample in samples] == ["Find: a", "Find: b", "Find: c"]
    assert samples[0].target == [1, 2, 11, 22.5]


def test_a_question_is_cut_where_its_options_are_repeated() -> None:
    columns = Columns(images=("image",), target="answer", cut_at="\nChoices:")
    row = ROW | {"question": "Hint: choose.\nQuestion: Which?\nChoices:\n(A) x\n(B) y", "choices": ["x", "y"]}
    (sample,) = samples_in([row], "hub", columns)
    assert sample.text == "Hint: choose.\nQuestion: Which?"


@pytest.mark.parametrize(
    ("row", "error", "what"),
    [
        (ROW | {"image": {"bytes": None, "path": "/home/author/1.png"}}, ImageError, "hub: row 1: image"),
        (ROW | {"image": 5}, ImageError, "hub: row 1: image '5': is a int"),
        (ROW | {"id": "a"}, ConfigError, "duplicate id 'a', first used on"),
        (ROW | {"question": None}, ConfigError, "hub: row 1: field 'question' is missing"),
    ],
)
def test_an_unusable_row_is_reported(row: dict[str, Any], error: type[ConfigError], what: str) -> None:
    with pytest.raises(error, match=what):
        list(samples_in([ROW, {"id": "b"} | row if row["id"] != "a" else row], "hub"))


@pytest.mark.skipif(
    find_spec("datasets") is None, reason="needs the extra `data`: pip install 'pyvision-agent[data]'"
)
def test_a_dataset_on_disk_is_streamed(tmp_path: Path) -> None:
    write_lines(tmp_path / "test.jsonl", {"id": "a", "question": "Which?", "answer": "B"})
    (sample,) = samples_in(stream(Remote(str(tmp_path), "", split="test")), "disk")
    assert (sample.id, sample.text, sample.target) == ("a", "Which?", "B")
