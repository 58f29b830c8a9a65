"""A command whose reader goes away ends as other tools do: quietly, with the code of SIGPIPE.

What cannot be written for another reason is one line.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ANSWER, run_arguments, scripted

FAILS_BY_A_PIPE_OF_ITS_OWN = """
import sys
from pyvision.cli import main
from pyvision.cli.commands import doctor

def failing(options):
    raise BrokenPipeError(32, "a pipe of our own")

doctor.run_doctor = failing
sys.exit(main(["doctor"]))
"""


def with_a_closed_pipe(*command: str) -> subprocess.CompletedProcess[str]:
    """Standard output is a pipe whose reader is gone before the command begins."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, *command],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)


@pytest.mark.parametrize(
    "arguments",
    [("bench", "list"), ("bench", "list", "--json"), ("--version",)],
)
def test_a_closed_output_pipe_ends_with_the_exit_code_of_sigpipe(arguments: tuple[str, ...]) -> None:
    done = with_a_closed_pipe("-m", "pyvision", *arguments)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("arguments", [("--help",), ("bench", "run", "--help")])
def test_help_into_a_closed_pipe_ends_quietly(arguments: tuple[str, ...]) -> None:
    done = with_a_closed_pipe("-m", "pyvision", *arguments)
    assert done.stderr == ""
    assert done.returncode in (0, 141)  # where output is not buffered, argparse itself passes over the error


def test_another_broken_pipe_is_reported_as_a_bug() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAILS_BY_A_PIPE_OF_ITS_OWN],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "a bug in pyvision: BrokenPipeError" in done.stderr


@pytest.mark.parametrize("is_buffered", [True, False])
@pytest.mark.parametrize("arguments", [("bench", "list"), ("--version",)])
def test_a_full_disk_is_one_line(arguments: tuple[str, ...], is_buffered: bool) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pyvision", *arguments],
            env=os.environ | {"PYTHONUNBUFFERED": "" if is_buffered else "1"},
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    line = "pyvision: cannot write (No space left on device); free some space, or write elsewhere\n"
    assert (done.returncode, done.stderr) == (2, line)


def test_characters_that_the_terminal_lacks_are_escaped() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pyvision", "--help"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "IMAGE \\u2026" in done.stdout


def test_wrong_usage_is_reported_although_standard_output_is_closed() -> None:
    done = with_a_closed_pipe("-m", "pyvision", "bench", "nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_an_answer_without_a_reader_ends_with_the_exit_code_of_sigpipe(photo: Path, tmp_path: Path) -> None:
    arguments = run_arguments(photo, scripted(tmp_path, ANSWER))
    done = with_a_closed_pipe("-m", "pyvision", *arguments, "--out", str(tmp_path / "run"))
    assert done.returncode == 141


def test_progress_into_the_same_pipe_ends_with_that_exit_code_too(photo: Path, tmp_path: Path) -> None:
    words = (sys.executable, "-m", "pyvision", *run_arguments(photo, scripted(tmp_path, ANSWER)))
    script = f"{shlex.join(words)} --out run 2>&1 | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 141


@pytest.mark.parametrize(
    "closed",
    ["<&- >&- 2>&-", *(pytest.param(each, marks=pytest.mark.slow) for each in ("<&-", ">&-", "2>&-"))],
)
def test_a_closed_standard_stream_changes_no_record(closed: str, photo: Path, tmp_path: Path) -> None:
    words = (sys.executable, "-m", "pyvision", *run_arguments(photo, scripted(tmp_path, ANSWER)))
    script = f"{shlex.join(words)} --out run {closed}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    events = (tmp_path / "run/events.jsonl").read_text().splitlines()
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert all(isinstance(json.loads(line), dict) for line in events)
