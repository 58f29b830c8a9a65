"""A command whose reader goes away ends as other tools do: quietly, with the code of SIGPIPE.

What cannot be written for another reason is one line.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAILS_BY_A_PIPE_OF_ITS_OWN = """
import sys
from pyvision.cli import doctor, main

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
