"""The table of datasets: its rows are sound, found by name, and found on disk."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.datasets.registry import (
    Dataset,
    availability_of,
    find_dataset,
    load_datasets,
    open_dataset,
    read_datasets,
    where,
)
from pyvision.bench.metrics import find_metric
from pyvision.errors import ConfigError
from tests.bench.datasets.readers.files import PICTURE, PNG, write_lines, write_pictures, write_table

COMMIT = "ab" * 20
ROW: dict[str, Any] = {
    "title": "T", "split": "test", "places": [{"file": "t.jsonl", "how": "make it"}], "count": 1,
    "count_source": "counted", "verified": True, "prompt": "free", "metric": "text", "flavour": "plain",
    "licence": None,
}  # fmt: skip
EXPECTED = {
    "vstar", "mathvista", "mathvision-mini", "mmmu-val", "visualpuzzles", "blind", "blind-mini", "scienceqa",
    "mmbench-dev", "okvqa", "infoseek", "gqa", "tallyqa-complex", "nlvr2", "refcoco", "refcoco+", "refcocog", "rsvg",
    "covr", "hrbench-4k", "hrbench-8k", "tir-bench", "babyvision",
}  # fmt: skip

every_row = pytest.mark.parametrize("row", load_datasets().values(), ids=list(load_datasets()))


def table(folder: Path, **changes: Any) -> Path:
    path = folder / "table.json"
    path.write_text(json.dumps({"t": ROW | changes}))
    return path


def row_of(folder: Path, **changes: Any) -> Dataset:
    return read_datasets(table(folder, **changes))["t"]


def test_every_benchmark_of_the_papers_has_a_row() -> None:
    assert set(load_datasets()) == EXPECTED
    assert all(row.name == name for name, row in load_datasets().items())


@every_row
def test_a_row_is_graded_by_a_metric_that_there_is(row: Dataset) -> None:
    if row.metric:
        assert callable(find_metric(row.metric, row.flavour))
    else:
        assert row.flavour == ""


@every_row
def test_a_dataset_can_be_obtained_in_some_way(row: Dataset) -> None:
    assert availability_of(row, {}).ways


@every_row
def test_a_place_is_either_a_file_or_on_the_hub(row: Dataset) -> None:
    for place in row.places:
        assert (place.file is None) != (place.hub is None)


@every_row
def test_a_place_on_the_hub_is_named_like_a_repository(row: Dataset) -> None:
    for place in row.places:
        assert place.hub is None or re.fullmatch(r"[\w.-]+/[\w.-]+(/[\w.-]+)?", place.hub)


@every_row
def test_a_checksum_is_written_as_32_hexadecimal_digits(row: Dataset) -> None:
    for place in row.places:
        assert place.md5 is None or re.fullmatch("[0-9a-f]{32}", place.md5)


@every_row
def test_a_file_is_named_by_a_relative_path(row: Dataset) -> None:
    for place in row.places:
        assert place.file is None or not Path(place.file).is_absolute()


@every_row
def test_a_revision_is_never_invented(row: Dataset) -> None:
    assert all(place.revision is None for place in row.places)


@every_row
def test_published_numbers_are_percents_with_a_source(row: Dataset) -> None:
    for reference in row.references:
        assert 0 < reference.value < 100
        assert re.search(r"arXiv \d{4}\.\d{5}, ", reference.source)
    message = [(reference.model, reference.source) for reference in row.references]
    assert len(set(message)) == len(message)


@every_row
def test_an_unknown_count_is_not_called_verified(row: Dataset) -> None:
    assert row.count_source
    assert row.count is not None or not row.verified


def test_counts_that_no_one_counted_are_not_called_verified() -> None:
    for name in ("gqa", "tallyqa-complex", "visualpuzzles"):
        assert not load_datasets()[name].verified


@pytest.mark.parametrize(
    ("name", "model", "value"),
    [
        ("vstar", "PyVision, GPT-4.1", 75.9),
        ("blind-mini", "PyVision, Claude-4.0-Sonnet", 79.2),
        ("gqa", "VDebugger, 7B", 46.3),
        ("okvqa", "AVIS", 60.2),
        ("mmbench-dev", "BDoG, Gemini Pro Vision", 81.3),
        ("covr", "VDebugger generalist, 13B", 47.9),
    ],
)
def test_headline_numbers_of_the_papers_are_in_the_table(name: str, model: str, value: float) -> None:
    assert value in [
        reference.value for reference in load_datasets()[name].references if reference.model == model
    ]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"colour": "red"}, "t.colour: unexpected keyword argument"),
        ({"prompt": "lettered "}, "t.prompt: input should be 'inline'"),
        ({"count": "12"}, "t.count: input should be a valid integer"),
        ({"places": [{"file": "t.jsonl", "link": "x"}]}, "t.places.0.link: unexpected keyword argument"),
        (
            {"places": [{"file": "t.jsonl", "columns": {"answer": "x"}}]},
            "t.places.0.columns.answer: unexpected",
        ),
        ({"references": [{"model": "m", "value": 1}]}, "t.references.0.source: "),
    ],
)
def test_the_error_about_a_broken_row_names_its_key(
    tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(what)):
        read_datasets(table(tmp_path, **changes))


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(ConfigError, match=r"unknown dataset 'mathvison-mini'; did you mean mathvision-mini"):
        find_dataset("mathvison-mini")
    with pytest.raises(ConfigError, match=r"did you mean refcoco"):
        find_dataset("RefCOCO")


def test_an_unknown_name_lists_all_names() -> None:
    with pytest.raises(ConfigError, match=r"unknown dataset 'zzz'; known datasets are vstar, mathvista, "):
        find_dataset("zzz")


def test_a_revision_behind_the_name_pins_the_places_of_the_hub() -> None:
    row = find_dataset(f"okvqa@{COMMIT}")
    assert row.source == f"hf:lmms-lab-encoder/OK-VQA@{COMMIT}:val2014"
    assert load_datasets()["okvqa"].places[0].revision is None


def test_a_file_does_not_take_the_place_of_a_revision_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "VStarBench.tsv").touch()
    assert where(find_dataset("vstar"), tmp_path, {}) == tmp_path / "VStarBench.tsv"
    pinned = find_dataset(f"vstar@{COMMIT}")
    assert where(pinned, tmp_path, {}) is None
    assert pinned.source == f"hf:lmms-lab-encoder/vstar-bench@{COMMIT}:test"


@pytest.mark.parametrize("name", ["okvqa@main", "okvqa@", f"gqa@{COMMIT}"])
def test_a_revision_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name.split("@", maxsplit=1)[0]):
        find_dataset(name)


@pytest.mark.parametrize("variable", ["PYVISION_DATA", "LMUData", "HOME"])
def test_a_file_is_found_in_each_of_the_folders(
    tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".cache/pyvision/data" if variable == "HOME" else tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    row = row_of(tmp_path)
    environ = {variable: str(tmp_path)}
    assert where(row, environ=environ) is None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "t.jsonl").touch()
    assert where(row, environ=environ) == folder / "t.jsonl"


def test_an_empty_variable_counts_as_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.jsonl").touch()
    assert where(row_of(tmp_path), environ={"PYVISION_DATA": ""}) is None


def test_the_error_about_missing_data_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"vstar: its data is not on this machine; run `curl -L .*VStarBench.tsv"
    ) as caught:
        open_dataset(load_datasets()["vstar"], tmp_path, {"HOME": str(tmp_path)})
    assert "\n" not in str(caught.value)


def test_the_columns_of_a_place_are_read_by_its_names(tmp_path: Path) -> None:
    write_pictures(tmp_path / "vstar", ["direct/1.jpg"])
    line = {
        "image": "direct/1.jpg",
        "text": "What? (A) x (B) y",
        "category": "direct",
        "label": "A",
        "question_id": 0,
    }
    write_lines(tmp_path / "vstar/test_questions.jsonl", line)
    (sample,) = open_dataset(load_datasets()["vstar"], tmp_path, {})
    assert (sample.id, sample.text, sample.target) == ("0", "What? (A) x (B) y", "A")
    assert sample.category == "direct"
    assert find_metric("choice", "strict")("(A)", sample).value == 1


def test_a_table_of_vlmevalkit_is_read_by_the_row_of_its_dataset(tmp_path: Path) -> None:
    line = {
        "index": "1",
        "image": PICTURE,
        "prompt": "Do they touch?",
        "answers": "Yes",
        "task": "Touching Circles",
    }
    write_table(tmp_path / "VLMBlind.tsv", line | {"question": "Do they touch?"})
    (sample,) = open_dataset(load_datasets()["blind"], tmp_path, {})
    assert (sample.images, sample.target, sample.category) == ((PNG,), "Yes", "Touching Circles")
    assert find_metric("blind", "tasks")("Yes", sample).value == 1


def test_a_split_is_taken_out_of_a_table_that_holds_several(tmp_path: Path) -> None:
    lines = [
        {
            "index": str(number),
            "image": PICTURE,
            "question": "?",
            "A": "x",
            "B": "y",
            "answer": "A",
            "split": split,
        }
        for number, split in enumerate(["dev", "validation"])
    ]
    write_table(tmp_path / "MMMU_DEV_VAL.tsv", *lines)
    assert [sample.id for sample in open_dataset(load_datasets()["mmmu-val"], tmp_path, {})] == ["1"]


def test_the_first_so_many_of_each_category_are_taken(tmp_path: Path) -> None:
    lines = [
        {"id": f"{kind}{number}", "question": "?", "images": [], "target": 1, "category": kind}
        for number in range(3)
        for kind in "ab"
    ]
    write_lines(tmp_path / "t.jsonl", *lines)
    row = row_of(tmp_path, per_category=2)
    assert [sample.id for sample in open_dataset(row, tmp_path, {})] == ["a0", "b0", "a1", "b1"]
