"""`python -m sandbox check`, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_a_topic_is_reported_in_a_table() -> None:
    done = run("sandbox", "check", "--topic", "environment")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "environment" in lines
    assert any(line.startswith("  Find a secret in its own environment ") for line in lines)
    assert any(line.startswith("  session memory ") for line in lines)
    assert lines[-1].startswith("all ")
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in done.stdout


def test_json_is_one_object() -> None:
    done = run("sandbox", "check", "--topic", "memory", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["escaped"] == []
    assert report["contained"] == len(report["attacks"]) > 5
    assert {each["topic"] for each in report["attacks"]} == {"memory"}
    assert {each["name"] for each in report["layers"]} >= {
        "namespaces",
        "system calls",
        "user",
        "session memory",
    }
    assert report["start_ms"] > 0


def test_a_machine_without_isolation_is_reported_in_one_line() -> None:
    done = run("sandbox", "check", "--isolation", "bwrap", PATH="/nowhere")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.count("\n") == 1
    assert "bubblewrap" in done.stderr


def test_an_unknown_topic_is_answered_with_the_known_ones() -> None:
    done = run("sandbox", "check", "--topic", "weather")
    assert done.returncode == 2
    assert done.stderr.startswith("sandbox check: there is no topic 'weather'; there are ")


def test_an_unknown_command_is_reported_in_one_line() -> None:
    done = run("sandbox", "destroy")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
