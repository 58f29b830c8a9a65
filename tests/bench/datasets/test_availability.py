"""What `bench list` says of a dataset: whether it is here, and what it takes to get it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from pyvision.bench.datasets.registry import EXTRAS, availability_of, find_dataset, has_extra, load_datasets
from pyvision.cli import main


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No data anywhere but in this folder."""
    for name in ("LMUData", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))
    monkeypatch.setenv("PYVISION_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "state", "extra"),
    [
        ("vstar", "fetch or extra data", "data"),
        ("gqa", "fetch", None),
        ("refcoco", "extra data", "data"),
        ("infoseek", "make", None),
    ],
)
def test_a_row_says_what_it_takes(nowhere: Path, name: str, state: str, extra: str | None) -> None:
    found = availability_of(find_dataset(name))
    assert (found.file, found.state, found.extra) == (None, state, extra)
    assert found.ways


def test_a_file_that_is_here_needs_no_way(nowhere: Path) -> None:
    (nowhere / "VStarBench.tsv").write_text("", encoding="utf-8")
    found = availability_of(find_dataset("vstar"))
    assert (found.file, found.state, found.ways) == (nowhere / "VStarBench.tsv", "here", ())


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_is_there_when_its_package_can_be_found(extra: str) -> None:
    assert has_extra(extra) == (find_spec(EXTRAS[extra]) is not None)


def test_every_row_says_where_it_is_or_how_to_get_it(
    nowhere: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (nowhere / "VStarBench.tsv").write_text("", encoding="utf-8")
    assert main(["bench", "list", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["datasets"]
    assert rows.keys() == load_datasets().keys()
    assert [name for name, row in rows.items() if row["file"]] == ["vstar"]
    assert all(bool(row["file"]) != bool(row["how to get it"]) for row in rows.values())


def test_the_overview_fits_a_terminal(nowhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if " vstar " in line).endswith(" 191  fetch or extra data")


def test_one_dataset_is_described_in_full(nowhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "vstar"]) == 0
    message = capfd.readouterr().out
    assert "curl -L" in message
    assert "75.9: PyVision, GPT-4.1 (PyVision, arXiv 2507.07998, Table 2)" in message


def test_an_unknown_dataset_is_one_line_with_what_is_near(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "vstarr"]) == 2
    assert "did you mean vstar" in capfd.readouterr().err
