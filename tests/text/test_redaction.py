"""Secrets are removed from what is recorded, and nothing else is changed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyvision.config.model_config import ModelConfig
from pyvision.config.secret_fields import secrets, without_secrets
from pyvision.events import CellRun, Event, ModelCall, Note, RunEnded, RunStarted, Sent, ToolRun
from pyvision.text.redaction import REDACTED, Redactor, is_redactable
from pyvision.trajectory import TrajectoryWriter, read_trajectory
from pyvision.types import (
    Message,
    Observation,
    Outcome,
    Picture,
    Question,
    Reply,
    Source,
    Text,
    ToolRequest,
    Usage,
)
from sandbox.results import CellError, CellResult, Figure, Stream

PROPERTY = settings(database=None)
KEY = "sk-0123456789abcdef"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
DIGEST = "5f0c1d2e" * 8

SHORT_KEYS = [
    "x",
    "a",
    "1",
    "text",
    "user",
    "kind",
    "began",
    "images",
    "password",
    "file",
    "solver",
    "sha256",
]
WORDS_OF_THE_FORMAT = ["input_tokens", "context_overflow", "sandbox_error", "image_clue_0", DIGEST[:16]]
KEYS = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_./+= \"'\\", max_size=40).map(str.strip)
ANY_KEY = KEYS | st.sampled_from(SHORT_KEYS + WORDS_OF_THE_FORMAT)


def record(text: str) -> tuple[Event, ...]:
    """A run in which a text turns up wherever one can."""
    user = Message("user", (Text(text), Picture(PNG, "image/png", 16, 16)))
    result = CellResult(
        "error",
        (Stream("stdout", text), Figure(PNG, "image/png", 16, 16)),
        CellError("KeyError", text, 1, text),
        0.5,
    )
    observation = Observation(text, {"hits": [{"title": text, "rank": 1}]}, (Source(text, text),))
    return (
        RunStarted(
            Question(text, (Picture(PNG, "image/png", 16, 16),), (text,), text),
            "code_loop",
            {"solver": "m"},
        ),
        ModelCall(
            "solver", "m", (user,), Reply(text, Usage(1, 1), "stop", text), 0.5, (Sent("i", DIGEST, 1, 1),)
        ),
        ToolRun("search", ToolRequest(text, None, {"query": text, "count": 1}), observation, 0.5),
        CellRun(text, result),
        Note("malformed", {"why": text, "user": [text, 1, None, {"text": text}]}),
        RunEnded(Outcome(None, "context_overflow", text), Usage(1, 1), 1, 1, 0.5),
    )


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with every text in it changed, but for names, kinds and digests."""
    if is_dataclass(value) and not isinstance(value, type):
        rest = {"kind", "mime", "end_reason", "finish", "status", "state", "sha256"}
        rest |= {"role"} if isinstance(value, Message) else set()
        rest |= {"name"} if isinstance(value, Stream) else set()
        return type(value)(
            **{
                field.name: getattr(value, field.name)
                if field.name in rest
                else mapped(getattr(value, field.name), change)
                for field in fields(value)
            }
        )
    match value:
        case str():
            return change(value)
        case tuple() | list():
            return type(value)(mapped(item, change) for item in value)
        case dict():
            return {name: mapped(item, change) for name, item in value.items()}
        case _:
            return value


@PROPERTY
@given(ANY_KEY, st.text(st.characters(codec="utf-8"), max_size=20), st.text(max_size=5))
def test_a_record_comes_back_equal_apart_from_its_redactions(key: str, before: str, after: str) -> None:
    text = f"{before.strip()} {key} {after.strip()}".encode("utf-8", "replace").decode()
    with tempfile.TemporaryDirectory() as folder:
        with TrajectoryWriter(Path(folder), {"model": {"note": text}}, secrets=(key,)) as writer:
            for event in record(text):
                writer.write(event)
        read = read_trajectory(Path(folder)).events
    assert read == mapped(record(text), Redactor([key]).text)


@PROPERTY
@given(KEYS.filter(is_redactable), st.text(max_size=20), st.text(max_size=20))
def test_no_file_of_a_run_holds_a_long_key(key: str, before: str, after: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with TrajectoryWriter(Path(folder), {"note": before + key}, secrets=(key, "x")) as writer:
            for event in record(before + key + after):
                writer.write(event)
        written = b"".join(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())
        assert key.encode() not in written
        assert REDACTED.encode() in written
        texts = str(read_trajectory(Path(folder)).events)
    assert key not in texts


@PROPERTY
@given(KEYS.filter(lambda key: not is_redactable(key)), st.text())
def test_a_short_key_changes_no_text(key: str, text: str) -> None:
    assert Redactor([key]).text(text + key) == text + key


def test_names_of_fields_stay() -> None:
    assert Redactor([KEY]).value({KEY: KEY, "n": [1, 2.5, None]}) == {KEY: REDACTED, "n": [1, 2.5, None]}


def test_a_key_is_found_in_the_form_that_it_has_in_a_url() -> None:
    assert Redactor(["tvly+0123456789/ab"]).text("?key=tvly%2B0123456789%2Fab&q=1") == f"?key={REDACTED}&q=1"


def test_a_key_that_holds_another_one_is_removed_as_a_whole() -> None:
    assert Redactor([KEY, f"{KEY}-second"]).text(f"{KEY}-second, {KEY}") == f"{REDACTED}, {REDACTED}"


@pytest.mark.parametrize("key", ["hunter22", "abcdefghijkl", "0123456789ab", KEY])
def test_a_key_that_no_text_holds_by_accident_is_redacted(key: str) -> None:
    assert Redactor([key]).text(f"({key})") == f"({REDACTED})"


# --- which fields of a configuration hold secrets


def config(**extra_body: Any) -> ModelConfig:
    return ModelConfig("openai", "m", extra_body=extra_body)


@pytest.mark.parametrize(
    "name", ["min_tokens", "max_completion_tokens", "pad_token", "prompt_cache_key", "keyword"]
)
def test_a_field_that_only_sounds_like_a_secret_is_recorded(name: str) -> None:
    chosen = config(**{name: "abcdefghijkl"})
    assert secrets(chosen) == ()
    assert without_secrets(chosen)["extra_body"] == {name: "abcdefghijkl"}


@pytest.mark.parametrize(
    "name", ["api_key", "Authorization", "X-Api-Key", "password", "access_token", "client_secret"]
)
def test_a_secret_field_is_withheld(name: str) -> None:
    chosen = config(headers={name: KEY})
    assert secrets(chosen) == (KEY,)
    assert without_secrets(chosen)["extra_body"] == {"headers": {name: "(withheld)"}}


def test_a_schema_that_describes_a_key_is_recorded() -> None:
    schema = {"properties": {"key": {"enum": ["abcdefghijkl"]}}}
    assert secrets(config(guided_json=schema)) == ()
    assert without_secrets(config(guided_json=schema))["extra_body"] == {"guided_json": schema}


def test_the_key_of_an_authorisation_header_is_a_secret_without_its_scheme() -> None:
    assert secrets(config(headers={"Authorization": f"Bearer {KEY}"})) == (f"Bearer {KEY}", KEY)


def test_a_number_is_never_a_secret() -> None:
    assert secrets(config(min_tokens=1, password=12345678)) == ()
