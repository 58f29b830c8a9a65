from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pyvision.bench.datasets.registry import load_datasets
from pyvision.bench.datasets.sources import SampleSource, find_source, local_identity
from pyvision.errors import ConfigError
from tests.bench.runs import a_sample
from tests.doubles import png


def find(dataset: str) -> SampleSource:
    return find_source(dataset, count=3, seed=7, difficulty=0.5)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "photo.png").write_bytes(png())
    row = {"question": "?", "images": ["photo.png"], "target": "A"}
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"id": f"s{i}", **row}) + "\n" for i in range(3)), encoding="utf-8")
    return path


def test_a_file_is_known_by_its_content_not_by_where_it_lies(data: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "data.jsonl").write_bytes(data.read_bytes())
    assert local_identity(data) == local_identity(elsewhere / "data.jsonl")
    (elsewhere / "data.jsonl").write_bytes(data.read_bytes() + b"\n")
    assert local_identity(data) != local_identity(elsewhere / "data.jsonl")


def test_the_identity_of_a_folder_changes_with_its_table(data: Path) -> None:
    before = local_identity(data.parent)
    data.write_bytes(data.read_bytes().replace(b"s1", b"t1"))
    assert local_identity(data.parent) != before


def test_the_samples_of_a_file_are_counted_up_to_a_limit(data: Path) -> None:
    source = find(str(data))
    assert (source.count_samples(), source.count_samples(2)) == (3, 2)


def test_a_file_can_be_read_twice(data: Path) -> None:
    source = find(str(data))
    assert [sample.id for sample in source.samples()] == ["s0", "s1", "s2"]
    assert [sample.id for sample in source.samples(1)] == ["s0"]


@pytest.mark.parametrize("path", ["no/such/data", "data.jsonl", "./data", "data.parquet", "no/such/data.csv"])
def test_a_path_that_does_not_exist_is_reported_as_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        find(path)
    assert str(caught.value).startswith(f"{path}: there is no such file or folder; give a .csv")
    assert "unknown dataset" not in str(caught.value)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """It can be read once, and a dataset is read several times."""
    os.mkfifo(tmp_path / "rows.jsonl")
    with pytest.raises(ConfigError, match=r"rows\.jsonl: is not a regular file"):
        find(str(tmp_path / "rows.jsonl"))


def test_an_unknown_dataset_is_reported_by_its_name() -> None:
    with pytest.raises(ConfigError, match="unknown dataset 'zzz'"):
        find("zzz@main/1.0")


def test_no_name_of_a_dataset_looks_like_a_path() -> None:
    assert [name for name in load_datasets() if "/" in name or "." in name] == []


def test_a_generated_set_is_known_by_its_parameters() -> None:
    source = find("synthetic/lines")
    assert source.identity == {
        "kind": "synthetic",
        "source": "lines",
        "count": 3,
        "seed": 7,
        "difficulty": 0.5,
    }
    assert source.count_samples(2) == 2
    assert len(list(source.samples())) == 3


def test_an_unknown_generated_set_names_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match=r"unknown set 'synthetic/nonsense'; known sets are .*synthetic/lines"
    ):
        find("synthetic/nonsense")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="'nowhere'"):
        find("nowhere")


def test_a_dataset_whose_data_is_not_here_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in ("HOME", "PYVISION_DATA", "LMUData"):
        monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(ConfigError, match="vstar: its data is not on this machine; "):
        find("vstar")


def test_an_id_that_no_file_can_hold_is_refused() -> None:
    source = SampleSource("made", {}, lambda: [a_sample(0, id="a\ud800")])
    with pytest.raises(ConfigError, match="cannot be encoded as UTF-8"):
        list(source.samples())


def test_a_file_without_a_sample_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"empty\.jsonl: holds no sample"):
        find(str(tmp_path / "empty.jsonl")).count_samples()
