"""The form that `inference_engine/vis_inference_demo_gpt.py` of agents-x-project/PyVision builds."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from pyvision.events import Event
from pyvision.runs.export import export
from tests.runs.runs import eventful_events, recorded, simple_events


def exported(folder: Path, events: tuple[Event, ...]) -> list[dict[str, Any]]:
    path = export(recorded(folder / "run", events), "pyvision", folder / "out")
    assert path.name == "test_messages.json"
    loaded: list[dict[str, Any]] = json.loads(path.read_text())
    return loaded


each_run = pytest.mark.parametrize("events", [simple_events(), eventful_events()], ids=["simple", "eventful"])


@each_run
def test_user_turns_alternate_with_those_of_the_assistant(tmp_path: Path, events: tuple[Event, ...]) -> None:
    messages = exported(tmp_path, events)
    assert [message["role"] for message in messages] == ["user", "assistant"] * (len(messages) // 2)


@each_run
def test_messages_have_only_the_keys_of_upstream(tmp_path: Path, events: tuple[Event, ...]) -> None:
    for message in exported(tmp_path, events):
        assert set(message) == {"role", "content"}
        for part in message["content"]:
            assert part["type"] in ("text", "image_url")
            assert set(part) == {"type", part["type"]}


def test_an_image_is_a_data_url_between_its_tags(tmp_path: Path) -> None:
    content = exported(tmp_path, simple_events())[2]["content"]
    at = next(at for at, part in enumerate(content) if part["type"] == "image_url")
    url = content[at]["image_url"]
    assert isinstance(url, dict)
    head, data = url["url"].split(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert "<image_clue_1>" in str(content[at - 1]["text"])
    assert "</image_clue_1>" in str(content[at + 1]["text"])


def test_the_system_message_stands_at_the_head_of_the_first_user(tmp_path: Path) -> None:
    assert exported(tmp_path, simple_events())[0]["content"][0]["text"] == "You look at pictures."


def test_a_run_without_a_request_is_an_empty_list(tmp_path: Path) -> None:
    assert exported(tmp_path, simple_events()[:1]) == []
