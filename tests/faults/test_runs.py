"""Whole runs against an endpoint that fails: each ends with a name, none is lost, and none leaves a key behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyvision
from pyvision.events import Event, ModelCall, ReplyRestarted, RunEnded, RunStarted
from pyvision.trajectory import read_trajectory
from tests.doubles import png
from tests.servers.capabilities import Capabilities
from tests.servers.faults import FAULTS, Plan
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, address_of

KEY = "sk-very-secret-0123456789"
ANSWERED = ("usage of 2^63", "negative usage", "repeated chunks")
CELL = "I look.\n<code>\n```python\nprint(image_clue_0.size)\n```\n</code>\n"
ANSWER = "<answer>\\boxed{40}</answer>"

SPOILT = [
    ("completions", fault) for fault in FAULTS if fault not in ("trickle", "trickling headers", *ANSWERED)
]  # the other wires differ in errors alone
SPOILT += [
    (wire, fault)
    for wire in ("responses", "messages", "gemini")
    for fault in ("401", "context overflow", "cut")
]


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png())
    return path


def write_file(folder: Path, wire: str, server: ModelServer, **settings: object) -> Path:
    """A configuration file that leads to the server."""
    known = {
        "wire": WIRES[wire],
        "model": "m",
        "base_url": address_of(wire, server),
        "api_key": KEY,
        "timeout_s": 0.4,
        "retry_s": 0.01,
    }
    path = folder / "model.json"
    path.write_text(json.dumps(known | settings))
    return path


@pytest.mark.parametrize(("wire", "fault"), SPOILT)
def test_a_run_that_an_endpoint_spoils_is_recorded_to_its_end(
    wire: str, fault: str, tmp_path: Path, photo: Path
) -> None:
    with ModelServer([], weather=Plan([], after=fault)) as server:
        config = write_file(tmp_path, wire, server)
        outcome = pyvision.answer("?", [photo], strategy="direct", config=config, out=tmp_path / "run")
    assert outcome.answer is None
    assert outcome.end_reason == ("context_overflow" if fault == "context overflow" else "model_error")
    events = read_trajectory(tmp_path / "run").events
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome == outcome.outcome
    assert KEY not in everything_in(tmp_path / "run")


def test_a_fault_between_two_cells_loses_no_turn(tmp_path: Path, photo: Path) -> None:
    weather = Plan(["503", None, "cut", "200 broken json", None, "reset", None])
    events: list[Event] = []
    with ModelServer([CELL, CELL, ANSWER], weather=weather) as server:
        config = write_file(tmp_path, "completions", server, retry_s=30.0)
        events += pyvision.stream("How wide?", [photo], config=config)
        assert len(server.requests) == 7
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert (ended.outcome.answer, ended.turns, ended.cells) == ("40", 3, 2)
    replies = [event.reply.text for event in events if isinstance(event, ModelCall)]
    assert [text.count("I look.") for text in replies] == [1, 1, 0]


def test_a_retry_is_an_event_that_names_the_fault(tmp_path: Path, photo: Path) -> None:
    with ModelServer([ANSWER], weather=Plan(["503", None])) as server:
        config = write_file(tmp_path, "completions", server, retry_s=30.0)
        events = list(pyvision.stream("?", [photo], strategy="direct", config=config))
    (restarted,) = (event for event in events if isinstance(event, ReplyRestarted))
    assert (restarted.why.split(":")[0], restarted.attempt) == ("503 from 127.0.0.1", 2)


@pytest.mark.parametrize(
    "wire",
    [
        "completions",
        *(pytest.param(wire, marks=pytest.mark.slow) for wire in ("responses", "messages", "gemini")),
    ],
)
def test_a_failing_run_leaves_no_key_behind(wire: str, tmp_path: Path, photo: Path) -> None:
    """The endpoint repeats the key in its complaint; everything on disk and on both streams is searched."""
    with ModelServer([], can=Capabilities(keys=frozenset({"another"}))) as server:
        config = write_file(tmp_path, wire, server)
        home = tmp_path / "home"
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "ignore", "-m", "pyvision", "run", "--image", str(photo),
             "--question", "?", "--config", str(config), "--out", str(tmp_path / "run")],
            cwd=Path.cwd(),
            env={"PATH": os.environ["PATH"], "HOME": str(home), "PYVISION_DEBUG": "1", "OPENAI_LOG": "debug",
                 "ANTHROPIC_LOG": "debug"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )  # fmt: skip
        assert server.requests[0].key == KEY
    assert done.returncode == 4
    left = done.stdout + done.stderr + everything_in(tmp_path / "run") + everything_in(home)
    assert "401" in left
    assert KEY not in left


def everything_in(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode("utf-8", "replace") + str(path) for path in files)
