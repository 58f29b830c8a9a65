"""A picture to ask about, and the command line called in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pyvision.cli import main
from tests.doubles import png


@dataclass(frozen=True, slots=True)
class Done:
    """What a command returned and printed."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png(64, 48, "navy"))
    return path


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command with `tmp_path` as the working directory. A process of its own would take a second to start."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        capfd.readouterr()
        try:
            code = main(arguments)
        except SystemExit as ended:  # of argparse
            code = int(ended.code or 0)
        return Done(code, *capfd.readouterr())

    return run
