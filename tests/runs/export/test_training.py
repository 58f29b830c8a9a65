"""What LLaMA-Factory, ms-swift and verl say of their data, as rules of our own.

LLaMA-Factory: data/README.md, src/llamafactory/data/converter.py (SharegptDatasetConverter).
ms-swift: docs/source_en/Customization/Custom-dataset.md. verl: verl/utils/dataset/multiturn_sft_dataset.py.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyvision.errors import MissingExtra
from pyvision.events import Event, ModelCall
from pyvision.runs.export import export
from pyvision.runs.export.training import verl_rows
from pyvision.types import Text
from tests.runs.runs import eventful_events, recorded, simple_events, user

RUNS = pytest.mark.parametrize("events", [simple_events(), eventful_events()], ids=["simple", "eventful"])


def sharegpt(folder: Path, events: tuple[Event, ...]) -> tuple[Path, list[dict[str, Any]]]:
    path = export(recorded(folder / "run", events), "sharegpt", folder / "out")
    return path.parent, json.loads(path.read_text())


def swift(folder: Path, events: tuple[Event, ...]) -> list[dict[str, Any]]:
    path = export(recorded(folder / "run", events), "swift", folder / "out")
    return [json.loads(line) for line in path.read_text().splitlines()]


@RUNS
def test_sharegpt_rows_are_what_llama_factory_takes(tmp_path: Path, events: tuple[Event, ...]) -> None:
    folder, rows = sharegpt(tmp_path, events)
    info = json.loads((folder / "dataset_info.json").read_text())["pyvision"]
    assert (folder / info["file_name"]).is_file()
    columns, tags = info["columns"], info["tags"]
    for row in rows:
        turns = row[columns["messages"]]
        assert len(turns) % 2 == 0
        assert [turn[tags["role_tag"]] for turn in turns] == [tags["user_tag"], tags["assistant_tag"]] * (
            len(turns) // 2
        )
        images = row[columns["images"]]
        assert sum(turn[tags["content_tag"]].count("<image>") for turn in turns) == len(images)
        assert all((folder / image).is_file() for image in images)
        assert isinstance(row[columns["system"]], str)


def test_sharegpt_names_the_turns_of_the_interpreter(tmp_path: Path) -> None:
    _, (row,) = sharegpt(tmp_path, simple_events())
    kinds = [turn["what"] for turn in row["conversations"]]
    assert kinds == ["user", "assistant", "interpreter", "assistant"]


def test_sharegpt_trains_on_the_turns_of_the_assistant_alone(tmp_path: Path) -> None:
    _, (row,) = sharegpt(tmp_path, simple_events())
    assert [turn["train"] for turn in row["conversations"]] == [False, True, False, True]


def test_sharegpt_says_how_the_run_ended(tmp_path: Path) -> None:
    _, (row,) = sharegpt(tmp_path, simple_events())
    assert row["metadata"]["end_reason"] == "answered"


@RUNS
def test_swift_rows_are_what_ms_swift_takes(tmp_path: Path, events: tuple[Event, ...]) -> None:
    for row in swift(tmp_path, events):
        assert {message["role"] for message in row["messages"]} <= {"system", "user", "assistant"}
        assert all(isinstance(message["content"], str) and message["content"] for message in row["messages"])
        assert sum(message["content"].count("<image>") for message in row["messages"]) == len(row["images"])
        assert all(Path(image).is_absolute() and Path(image).is_file() for image in row["images"])


def test_swift_takes_a_cut_reply_out_of_the_loss(tmp_path: Path) -> None:
    losses = [
        [m["loss"] for m in row["messages"] if m["role"] == "assistant"]
        for row in swift(tmp_path, eventful_events())
    ]
    assert losses[0] == [True]
    assert losses[-1] == [False]


@RUNS
def test_verl_rows_are_what_its_dataset_takes(tmp_path: Path, events: tuple[Event, ...]) -> None:
    for row in verl_rows(recorded(tmp_path, events)):
        assert all(isinstance(message["content"], str) for message in row["messages"])
        assert sum(message["content"].count("<image>") for message in row["messages"]) == len(row["images"])
        assert all(image["bytes"].startswith(b"\x89PNG") for image in row["images"])
        trained = [message["role"] for message in row["messages"] if message["trainable"]]
        assert set(trained) <= {"assistant"}
        assert json.loads(row["extra_info"])["end_reason"] in ("answered", "turn_limit")


def test_verl_writes_a_parquet_file_that_reads_back(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow comes with pyvision-agent[parquet]")
    run = recorded(tmp_path / "run", simple_events())
    path = export(run, "verl", tmp_path / "out")
    assert parquet.read_table(path).to_pylist() == verl_rows(run)


def test_verl_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'pyvision-agent\[parquet\]'"):
        export(recorded(tmp_path / "run", simple_events()), "verl", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_placeholder_in_written_text_is_no_image(tmp_path: Path) -> None:
    began, asked, *_ = simple_events()
    assert isinstance(asked, ModelCall)
    hostile = replace(asked, messages=(user(Text("What does <image> mean, or <video>?")),))
    (row,) = swift(tmp_path, (began, hostile))
    assert row["images"] == []
    assert row["messages"][0]["content"] == "What does ‹image› mean, or ‹video›?"
