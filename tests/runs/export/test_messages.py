"""OpenAI's chat format, checked by the types of OpenAI's own library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from pyvision.errors import RunFolderError
from pyvision.events import Event
from pyvision.runs.export import export
from pyvision.runs.export.messages import read_messages
from tests.runs.runs import eventful_events, recorded, simple_events

KEYS = (
    "format",
    "events",
    "messages",
    "pictures",
    "kind",
    "content",
    "type",
    "image_url",
    "url",
    "sha256",
    "role",
)


def exported(folder: Path, events: tuple[Event, ...]) -> Path:
    export(recorded(folder / "run", events), "messages", folder / "out")
    return folder / "out"


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("events", [simple_events(), eventful_events()], ids=["simple", "eventful"])
def test_every_message_is_one_of_openais(tmp_path: Path, events: tuple[Event, ...]) -> None:
    known: TypeAdapter[ChatCompletionMessageParam] = TypeAdapter(ChatCompletionMessageParam)
    for row in rows(exported(tmp_path, events)):
        messages = row["messages"]
        assert isinstance(messages, list)
        for message in messages:
            content = known.validate_python({key: value for key, value in message.items() if key != "weight"})
            assert set(message) - {"weight"} == set(content)


@pytest.mark.parametrize(
    "events", [simple_events(), eventful_events(), simple_events()[:2]], ids=["simple", "eventful", "cut"]
)
def test_the_same_events_come_back(tmp_path: Path, events: tuple[Event, ...]) -> None:
    assert read_messages(exported(tmp_path, events)) == recorded(tmp_path / "again", events).events == events


def test_images_stand_in_one_of_the_two_files_only(tmp_path: Path) -> None:
    folder = exported(tmp_path, simple_events())
    assert json.loads((folder / "record.json").read_text())["pictures"] == {}


def test_metadata_is_what_the_endpoint_takes(tmp_path: Path) -> None:
    (row,) = rows(exported(tmp_path, simple_events()))
    metadata = row["metadata"]
    assert isinstance(metadata, dict)
    assert len(metadata) <= 16
    assert all(isinstance(value, str) and len(value) <= 512 for value in metadata.values())
    assert (metadata["end_reason"], metadata["fault"]) == ("answered", "nobody")


def test_a_reply_that_was_cut_has_no_weight(tmp_path: Path) -> None:
    critic = rows(exported(tmp_path, eventful_events()))[-1]
    messages = critic["messages"]
    assert isinstance(messages, list)
    assert [message.get("weight") for message in messages if message["role"] == "assistant"] == [0]


@pytest.mark.parametrize(
    "text", ["", "{}", '{"format": "other"}', '{"format": "pyvision-messages-record", "events": [{}]}']
)
def test_the_error_about_an_invalid_record_names_it(tmp_path: Path, text: str) -> None:
    folder = exported(tmp_path, simple_events())
    (folder / "record.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"record\.json"):
        read_messages(folder)


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=8),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(row=JSON, record=JSON)
def test_any_other_json_is_refused_in_one_line(tmp_path: Path, row: object, record: object) -> None:
    (tmp_path / "messages.jsonl").write_text(json.dumps(row))
    (tmp_path / "record.json").write_text(json.dumps(record))
    with pytest.raises(RunFolderError, match=r"\A[^\n]*\Z"):
        read_messages(tmp_path)


def test_a_folder_without_an_export_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="No such file"):
        read_messages(tmp_path)
