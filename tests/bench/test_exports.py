"""An experiment in the formats of other programs."""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.exports import FORMATS, export
from pyvision.bench.runner import run
from pyvision.errors import ConfigError, MissingExtra
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, source_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    samples = (a_sample(0, metadata={"index": 1000003}), a_sample(1), a_sample(2, target=["C", 3]))
    model = Knowing({1: "\\boxed{=HYPERLINK('x')}", 2: "\\boxed{-3.5}"})
    run.run(a_plan(tmp_path / "run", source_of(*samples), model), Quiet())
    return tmp_path / "run"


def rows(path: Path, separator: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(csv.DictReader(file, delimiter=separator), key=lambda row: row["question"])


def lines(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return sorted(found, key=lambda row: str(row["sample_id"]))


def test_json_lines_contain_everything(folder: Path) -> None:
    path = export(folder, "jsonl")
    assert path == folder / "results.jsonl"
    first, second, third = lines(path)
    assert (first["sample_id"], first["answer"], first["target"], first["score"]) == (
        "sample 0",
        "A",
        "A",
        1.0,
    )
    assert second["answer"] == "=HYPERLINK('x')"
    assert third["target"] == ["C", 3]
    assert Path(first["images"][0]).is_file()


def test_a_csv_contains_no_formula_from_a_model(folder: Path) -> None:
    first, second, third = rows(export(folder, "csv"), ",")
    assert (first["answer"], second["answer"], third["answer"]) == ("A", "'=HYPERLINK('x')", "-3.5")
    assert json.loads(third["target"]) == ["C", 3]


@pytest.fixture
def vlmevalkit_rows(folder: Path) -> list[dict[str, str]]:
    return rows(export(folder, "vlmevalkit"), "\t")


def test_vlmevalkit_gets_its_own_index(vlmevalkit_rows: list[dict[str, str]]) -> None:
    assert vlmevalkit_rows[0]["index"] == "1000003"


def test_vlmevalkit_gets_the_answer_beside_the_prediction(vlmevalkit_rows: list[dict[str, str]]) -> None:
    assert (vlmevalkit_rows[0]["answer"], vlmevalkit_rows[0]["prediction"]) == ("A", "A")


def test_vlmevalkit_gets_a_column_for_each_option(vlmevalkit_rows: list[dict[str, str]]) -> None:
    assert [vlmevalkit_rows[0][letter] for letter in "ABC"] == ["one", "two", "three"]


def test_vlmevalkit_gets_a_prediction_that_looks_like_a_formula_unchanged(
    vlmevalkit_rows: list[dict[str, str]],
) -> None:
    assert vlmevalkit_rows[1]["prediction"] == "=HYPERLINK('x')"


def test_parquet_is_written_or_its_extra_is_named(folder: Path) -> None:
    if find_spec("pyarrow") is None:
        with pytest.raises(MissingExtra, match="pyarrow is not installed"):
            export(folder, "parquet")
    else:
        assert export(folder, "parquet").read_bytes().startswith(b"PAR1")


def test_an_export_that_fails_leaves_the_older_file(folder: Path) -> None:
    export(folder, "jsonl")
    with pytest.raises(ConfigError, match="no scores by 'none:such'"):
        export(folder, "jsonl", metric="none:such")
    assert len(lines(folder / "results.jsonl")) == 3


def test_an_unknown_format_names_the_known_ones(folder: Path) -> None:
    with pytest.raises(ConfigError, match=f"known formats are {', '.join(FORMATS)}"):
        export(folder, "xlsx")
