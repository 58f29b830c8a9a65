"""The run folder holds every event once, in order, and gives it back as it was."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyvision.events import (
    CellRun,
    Event,
    ImageDefined,
    ModelCall,
    Note,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    Sent,
    TextDelta,
)
from pyvision.trajectory import TrajectoryWriter, picture_file, read_trajectory
from pyvision.types import (
    Message,
    Opaque,
    Outcome,
    Picture,
    Question,
    Reply,
    Text,
    TokenLogprob,
    ToolCall,
    Usage,
)
from sandbox.results import CellError, CellResult, Figure, Omitted, Stream

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(255, -1, -1)) * 4
PICTURE = Picture(PNG, "image/png", 16, 16)
PHOTO = Picture(JPEG, "image/jpeg", 32, 8)

USER = Message("user", (Text("<image_clue_0>"), PICTURE, Text("</image_clue_0>\nHow many?")))
RESULT = CellResult(
    "error",
    (
        Stream("stdout", "3\n"),
        Figure(PNG, "image/png", 16, 16),
        Omitted("9 characters"),
        Stream("result", "x"),
    ),
    CellError("KeyError", "'x'", 2, "Traceback …"),
    1.25,
    "lost",
)
EVENTS: tuple[Event, ...] = (
    RunStarted(Question("How many?", (PICTURE, PHOTO, PICTURE)), "code_loop", {"solver": "offline"}),
    ModelCall(
        "solver",
        "offline",
        (Message("system", (Text("Думай. 思考。"),)), USER),
        Reply("<code>", Usage(9, 2, 4), "stop", "Hm.", (TokenLogprob("<code>", -0.5, (("<", -1.5),)),)),
        0.5,
        (Sent("image_clue_0", "5f" * 32, 16, 16, 0.5, 0.25),),
    ),
    CellRun("print(3)", RESULT),
    CellRun("while True: pass", CellResult("timeout", seconds=inf)),
    ImageDefined("image_clue_1", PHOTO),
    Note("repair", {"why": "no code", "turns": [1, 2], "deep": {"nothing": None, "yes": True, "half": 0.5}}),
    RunEnded(Outcome(None, "turn_limit", "no answer in 20 turns"), Usage(100, 20), 20, 3, 61.5),
)


def write_run(folder: Path, events: tuple[Event, ...] = EVENTS) -> Path:
    with TrajectoryWriter(folder, {"strategy": "code_loop"}) as writer:
        for event in events:
            writer.write(event)
    return folder


def lines_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text("utf-8").splitlines()]


def messages(turns: int) -> tuple[Event, ...]:
    """A conversation in which every turn asks with all the turns before it."""
    messages: tuple[Message, ...] = (USER,)
    events: list[Event] = []
    for turn in range(turns):
        events.append(ModelCall("solver", "offline", messages, Reply(f"look {turn}"), 0.5))
        reply = Message("assistant", (Text(f"look {turn}" * 20),))
        messages = (*messages, reply, Message("user", (Text(f"saw {turn}" * 20), PHOTO)))
    return tuple(events)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_comes_back_as_it_was(tmp_path: Path, event: Event) -> None:
    read = read_trajectory(write_run(tmp_path / "run", (event,)))
    assert read.events == (event,)
    assert read.note is None


def test_events_come_back_in_their_order(tmp_path: Path) -> None:
    assert read_trajectory(write_run(tmp_path / "run")).events == EVENTS


def test_outputs_come_back_in_their_own_classes(tmp_path: Path) -> None:
    (event,) = read_trajectory(write_run(tmp_path / "run", (CellRun("x", RESULT),))).events
    assert isinstance(event, CellRun)
    assert [type(output) for output in event.result.outputs] == [Stream, Figure, Omitted, Stream]


def test_the_first_line_names_the_version_of_the_format(tmp_path: Path) -> None:
    assert lines_of(write_run(tmp_path / "run"))[0] == {"format": "pyvision-trajectory", "version": 2}


def test_every_line_is_an_object_with_its_kind(tmp_path: Path) -> None:
    kinds = [line["kind"] for line in lines_of(write_run(tmp_path / "run"))[1:]]
    assert kinds == ["began", "message", "message", "asked", "ran", "ran", "defined", "noted", "ended"]


def test_what_only_passes_by_is_not_written(tmp_path: Path) -> None:
    passing: tuple[Event, ...] = (TextDelta("solver", "secret"), ReplyRestarted("solver"))
    assert read_trajectory(write_run(tmp_path / "run", (*passing, EVENTS[0]))).events == (EVENTS[0],)


def test_a_run_of_an_earlier_release_is_read_with_what_it_knew(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    usage = {"input_tokens": 9, "output_tokens": 2}
    lines = [
        {"format": "pyvision-trajectory", "version": 2},
        {"kind": "message", "id": 0, "message": {"role": "user", "parts": [{"text": "?"}]}},
        {
            "kind": "asked",
            "role": "solver",
            "model": "m",
            "messages": [0],
            "reply": {"text": "7", "usage": usage, "finish": "stop"},
            "seconds": 0.5,
            "unheard_of": {"later": "releases"},
        },
        {
            "kind": "ended",
            "outcome": {"answer": "7", "end_reason": "answered", "error": None},
            "usage": usage,
            "turns": 1,
            "cells": 0,
            "seconds": 1.0,
        },
    ]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read_trajectory(folder).events == (
        ModelCall("solver", "m", (Message("user", (Text("?"),)),), Reply("7", Usage(9, 2), "stop"), 0.5),
        RunEnded(Outcome("7", "answered"), Usage(9, 2), 1, 0, 1.0),
    )


def test_a_picture_is_stored_once_under_its_hash(tmp_path: Path) -> None:
    files = sorted((write_run(tmp_path / "run") / "images").iterdir())
    assert sorted(file.suffix for file in files) == [".jpg", ".png"]
    assert {file.read_bytes() for file in files} == {PNG, JPEG}


def test_no_text_holds_a_picture_or_a_secret(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    secret = "sk-0123456789abcdef"
    with TrajectoryWriter(folder, {"model": {"name": "m", "note": secret}}, secrets=(secret, "")) as writer:
        for event in EVENTS:
            writer.write(event)
        writer.write(Note("failure", {"why": f"key {secret} is refused", "parts": (secret, PNG)}))
        writer.write(RunEnded(Outcome(None, "model_error", f"bad key {secret}"), Usage(), 1, 0, 0.1))
    texts = [path.read_text("utf-8") for path in folder.iterdir() if path.is_file()]
    assert len(texts) == 3
    for text in texts:
        assert secret not in text
        assert "[secret]" in text
        for data in (PNG, JPEG):
            assert base64.b64encode(data).decode()[:40] not in text
            assert base64.b64encode(data).decode()[-40:] not in text


def test_the_file_grows_linearly_with_the_conversation(tmp_path: Path) -> None:
    sizes = []
    for turns in (20, 40):
        folder = write_run(tmp_path / str(turns), messages(turns))
        sizes.append((folder / "events.jsonl").stat().st_size)
        assert read_trajectory(folder).events == messages(turns)
    assert sizes[1] < 2.3 * sizes[0]
    assert sum(line.get("kind") == "message" for line in lines_of(tmp_path / "20")) == 39


def test_a_line_is_on_the_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    with TrajectoryWriter(tmp_path / "run", {}) as writer:
        writer.write(EVENTS[2])
        assert read_trajectory(tmp_path / "run").events == (EVENTS[2],)


def test_the_configuration_is_a_file_of_its_own(tmp_path: Path) -> None:
    config = {"strategy": "direct", "limits": {"turns": 3}, "images": ["四.png"]}
    TrajectoryWriter(tmp_path / "run", config).close()
    assert json.loads((tmp_path / "run/config.json").read_text("utf-8")) == config


def test_the_end_of_a_run_is_summed_up_in_a_file(tmp_path: Path) -> None:
    with TrajectoryWriter(tmp_path / "run", {}) as writer:
        writer.write(EVENTS[0])
        assert not (tmp_path / "run/summary.json").exists()
        found = Outcome("四", "answered", findings={"sources": ["四"]})
        writer.write(RunEnded(found, Usage(100, 20, 60), 2, 1, 61.50049, 0.25))
        summary = writer.summary()
    assert json.loads((tmp_path / "run/summary.json").read_text("utf-8")) == summary
    assert summary == {
        "answer": "四",
        "end_reason": "answered",
        "error": None,
        "is_last_resort": False,
        "evidence": [],
        "findings": {"sources": ["四"]},
        "strategy": "code_loop",
        "model": "offline",
        "turns": 2,
        "cells": 1,
        "seconds": 61.5,
        "usage": {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 60},
        "cost": 0.25,
        "run_dir": str(tmp_path / "run"),
    }


def test_what_a_strategy_found_is_read_back(tmp_path: Path) -> None:
    ended = RunEnded(Outcome("B", "answered", findings={"graphs": [{"nodes": []}]}), Usage(), 1, 0, 1.0)
    with TrajectoryWriter(tmp_path / "run", {}) as writer:
        writer.write(ended)
    assert read_trajectory(tmp_path / "run").events == (ended,)


def test_an_outcome_of_an_older_record_has_no_findings(tmp_path: Path) -> None:
    with TrajectoryWriter(tmp_path / "run", {}) as writer:
        writer.write(RunEnded(Outcome("B", "answered"), Usage(), 1, 0, 1.0))
    events = tmp_path / "run/events.jsonl"
    events.write_text(events.read_text("utf-8").replace(',"findings":{}', ""), "utf-8")
    (ended,) = read_trajectory(tmp_path / "run").events
    assert isinstance(ended, RunEnded)
    assert ended.outcome.findings == {}


def test_an_unfinished_run_has_no_summary(tmp_path: Path) -> None:
    with TrajectoryWriter(tmp_path / "run", {}) as writer, pytest.raises(ValueError, match="not ended yet"):
        writer.summary()


def test_no_half_written_file_is_left(tmp_path: Path) -> None:
    assert not list(write_run(tmp_path / "run").rglob("*.part"))


def test_the_file_of_a_picture_is_known_without_the_folder(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    assert (folder / picture_file(PICTURE)).read_bytes() == PNG
    assert (folder / picture_file(PHOTO)).read_bytes() == JPEG


@settings(deadline=None, derandomize=True, max_examples=30)
@given(texts=st.lists(st.text(st.characters(codec="utf-8")), max_size=5))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("any") / "run"
    events = tuple(
        ModelCall("solver", "m", (Message("user", (Text(text),)),), Reply(text), 0.0) for text in texts
    )
    assert read_trajectory(write_run(folder, events)).events == events


def test_the_name_of_the_file_of_a_picture_comes_back(tmp_path: Path) -> None:
    named = replace(PHOTO, file_name="lake.jpg")
    folder = write_run(tmp_path / "run", (RunStarted(Question("?", (named,)), "code_loop", {}),))
    (began,) = read_trajectory(folder).events
    assert isinstance(began, RunStarted)
    assert began.question.images[0].file_name == "lake.jpg"


def test_a_picture_without_a_file_has_no_name_in_the_record(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", (RunStarted(Question("?", (PHOTO,)), "code_loop", {}),))
    assert "file_name" not in (folder / "events.jsonl").read_text("utf-8")


SEALED = Opaque("anthropic:m", '[{"type": "thinking", "signature": "s3cret-s3cret-value"}]')


def _recorded(folder: Path, *secrets: str) -> ModelCall:
    call = ToolCall("c1", "run_python", '{"code": "print(1)"}')
    result = Message("tool", (Text("1"), PICTURE), "c1", is_error=True)
    asked = ModelCall(
        "solver",
        "m",
        (Message("assistant", (call,), opaque=SEALED), result),
        Reply("", calls=(call,), opaque=SEALED),
        0.1,
    )
    with TrajectoryWriter(folder, {}, secrets=secrets) as writer:
        writer.write(asked)
    (found,) = read_trajectory(folder).events
    assert isinstance(found, ModelCall)
    return found


def test_calls_come_back_with_their_results(tmp_path: Path) -> None:
    found = _recorded(tmp_path / "run")
    assert found.reply.calls[0].arguments == '{"code": "print(1)"}'
    assert (found.messages[1].call_id, found.messages[1].is_error) == ("c1", True)


def test_opaque_content_is_recorded_to_the_byte(tmp_path: Path) -> None:
    found = _recorded(tmp_path / "run", "another-secret-1")
    assert (found.reply.opaque, found.messages[0].opaque) == (SEALED, SEALED)


def test_opaque_content_with_a_key_in_it_is_left_out_whole(tmp_path: Path) -> None:
    found = _recorded(tmp_path / "run", "s3cret-s3cret-value")
    assert (found.reply.opaque, found.messages[0].opaque) == (None, None)
    assert "s3cret" not in (tmp_path / "run" / "events.jsonl").read_text(encoding="utf-8")
