"""A run with a key as short as local servers take them is a run like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.cli.main import main
from pyvision.trajectory import read_trajectory
from tests.cli.running import ANSWER, run_arguments
from tests.servers.chat import ChatServer

CELL = "I look at the text.\n<code>\n```python\nprint(image_clue_0.size, 'x text user')\n```\n"


@pytest.mark.parametrize(
    "key", ["text", *(pytest.param(key, marks=pytest.mark.slow) for key in ("x", "user"))]
)
def test_a_run_with_a_short_key_can_be_used_afterwards(
    tmp_path: Path,
    photo: Path,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "model.json"
    with ChatServer([CELL, ANSWER]) as server:
        settings = {"wire": "openai", "model": "m", "base_url": server.base_url, "api_key": key}
        config.write_text(json.dumps(settings | {"extra_body": {"min_tokens": 1}}))
        assert main([*run_arguments(photo, str(config)), "--out", "run"]) == 0
    assert capfd.readouterr().out == "64\n"
    assert "[secret]" not in Path("run/events.jsonl").read_text("utf-8")
    assert len(read_trajectory(Path("run")).events) == 5
    model = json.loads(Path("run/config.json").read_text("utf-8"))["model"]
    assert model["extra_body"] == {"min_tokens": 1}
    for command in (("report", "run"), ("replay", "run"), ("export", "run", "--to", "messages")):
        assert main(command) == 0, capfd.readouterr().err
